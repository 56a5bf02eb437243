import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as files from "./files.js"
import { json, lines, run } from "./run.js"

const { samplePath: sample } = files

const rows = (args: ReadonlyArray<string>) =>
  Effect.map(run(["count", sample, "--json", ...args]), ({ code, stdout }) => {
    assert.strictEqual(code, 0)
    const objects = json(stdout)
    return { rows: objects.slice(0, -1), total: objects[objects.length - 1] }
  })

const sum = (rows: ReadonlyArray<Record<string, unknown>>, key: string): number =>
  rows.reduce((total, row) => total + (row[key] as number), 0)

describe("count", () => {
  it.effect("tells the whole", () =>
    Effect.gen(function*() {
      const { code, stderr, stdout } = yield* run(["count", sample])
      assert.deepStrictEqual([code, stderr], [0, ""])
      assert.deepStrictEqual(lines(stdout), [
        `${sample}  native, 116 messages`,
        "21,170 tokens in 116 messages, 21 rounds  (characters)"
      ])
    }))

  it.effect("tells several conversations, and all of them", () =>
    Effect.gen(function*() {
      const { stdout } = yield* run(["count", files.many])
      assert.lengthOf(lines(stdout), 7)
      assert.strictEqual(lines(stdout)[6], "4 tokens in 3 conversations")
      const second = yield* run(["count", files.many, "--conversation", "2", "--json"])
      assert.deepStrictEqual(json(second.stdout), [
        { _tag: "Total", conversation: 2, messages: 1, rounds: 1, tokens: 1, counter: "characters" }
      ])
    }))

  for (const by of ["message", "round", "role", "part"]) {
    for (const counter of ["characters", "tiktoken:gpt-4o"]) {
      it.effect(`by ${by} adds up with ${counter}`, () =>
        Effect.gen(function*() {
          const { rows: found, total } = yield* rows(["--by", by, "--counter", counter])
          assert.strictEqual(sum(found, "tokens"), total.tokens)
          if (by !== "part") {
            assert.strictEqual(sum(found.filter(({ key }) => key !== "overhead"), "items"), total.messages)
          }
        }))
    }
  }

  it.effect("shows rows with their share", () =>
    Effect.gen(function*() {
      const { stdout } = yield* run(["count", sample, "--by", "role"])
      assert.deepStrictEqual(lines(stdout).slice(1, 4), [
        "role          messages     tokens  share",
        "system               1        319     2%  ▏░░░░░░░░░░░░░░░",
        "user                22      1,729     8%  █▎░░░░░░░░░░░░░░"
      ])
    }))

  it.effect("tells framing and overhead apart from parts", () =>
    Effect.gen(function*() {
      const { rows: found } = yield* rows(["--by", "part", "--counter", "tiktoken:gpt-4o"])
      assert.deepStrictEqual(found.map(({ key }) => key), [
        "text",
        "reasoning",
        "tool-call",
        "tool-result",
        "framing",
        "overhead"
      ])
    }))

  it.effect("counts the preamble as no round", () =>
    Effect.gen(function*() {
      const { rows: found, total } = yield* rows(["--by", "round"])
      assert.deepStrictEqual(found.slice(0, 3).map(({ key }) => key), ["preamble", "1", "2"])
      assert.strictEqual(found.length - 1, total.rounds)
      const without = json((yield* run(["count", files.many, "--by", "round", "--json"])).stdout)
      assert.strictEqual(without[0].key, "1")
    }))
})
