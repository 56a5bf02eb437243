import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as files from "./files.js"
import { run } from "./run.js"

const commands = ["replay", "fit", "count", "check", "convert", "formats"]

describe("help", () => {
  it.effect("lists the commands", () =>
    Effect.gen(function*() {
      for (const args of [["--help"], []]) {
        const { code, stderr, stdout } = yield* run(args)
        assert.deepStrictEqual([code, stderr], [0, ""])
        for (const command of commands) assert.match(stdout, new RegExp(`^ {2}- ${command} +\\w`, "m"))
        assert.notInclude(stdout, "COMMANDS")
      }
    }))

  for (const command of commands) {
    it.effect(`of ${command} shows examples`, () =>
      Effect.gen(function*() {
        const { code, stderr, stdout } = yield* run([command, "--help"])
        assert.deepStrictEqual([code, stderr], [0, ""])
        assert.include(stdout, `\n  - effect-memory ${command}`)
        assert.notInclude(stdout, "\u001b")
      }))
  }
})

describe("colours", () => {
  const replay = ["replay", files.samplePath, "--max-tokens", "8000"]

  it.effect("are for terminals", () =>
    Effect.gen(function*() {
      for (const args of [["--help"], replay, ["count", files.samplePath], ["formats"]]) {
        assert.include((yield* run(args, { terminal: true })).stdout, "\u001b[")
      }
    }))

  it.effect("are not for those who asked to be spared", () =>
    Effect.gen(function*() {
      for (const args of [["--help"], replay, ["count", files.samplePath], ["formats"]]) {
        assert.notInclude((yield* run(args, { terminal: true, env: { NO_COLOR: "1" } })).stdout, "\u001b[")
      }
    }))
})
