import { assert, describe, it } from "@effect/vitest"
import { Format } from "@effect-memory/formats"
import { Effect } from "effect"
import { choices } from "../src/internal/names.js"
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
        assert.match(stdout, new RegExp(`^effect-memory [^\\n]+\\n\\nUSAGE\\n\\n\\$ effect-memory ${command}[ \\n]`))
        assert.notMatch(stdout, /user-defined|true or false|setting is optional/)
      }))
  }
})

describe("formats by name", () => {
  it("are those of the registry", () => {
    assert.deepStrictEqual(choices.format.slice(), Format.all.map(({ id }) => id).sort())
  })

  it.effect("are listed by the help, beside the usage", () =>
    Effect.gen(function*() {
      const { stdout } = yield* run(["convert", "--help"])
      assert.include(stdout, "\n$ effect-memory convert --to format ")
      assert.match(
        stdout,
        /--to format\n\n {2}One of the following: anthropic-messages, .*, vercel-ui\n\n {2}The format to write\./
      )
    }))

  for (const shell of ["bash", "zsh", "fish"]) {
    it.effect(`complete in ${shell}`, () =>
      Effect.gen(function*() {
        const { stdout } = yield* run(["--completions", shell])
        assert.include(stdout, "tau-bench")
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
