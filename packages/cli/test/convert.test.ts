import { assert, describe, it } from "@effect/vitest"
import { Format } from "@effect-memory/formats"
import { Effect } from "effect"
import * as files from "./files.js"
import { json, lines, run } from "./run.js"

const { samplePath: sample } = files

describe("convert", () => {
  it.effect("to another format and back", () =>
    Effect.gen(function*() {
      const there = yield* run(["convert", files.unanswered, "--to", "native"])
      assert.strictEqual(there.code, 0)
      assert.deepStrictEqual(json(there.stdout).map(({ role }) => role), ["user", "assistant", "user"])
      assert.deepStrictEqual(lines(there.stderr), [`${files.unanswered}  openai-chat → native, 3 messages`])
      const back = yield* run(["convert", "-", "--to", "openai-chat"], { stdin: there.stdout })
      assert.deepStrictEqual(JSON.parse(back.stdout).messages, JSON.parse(files.read(files.unanswered)).messages)
    }))

  it.effect("tells what the format cannot carry", () =>
    Effect.gen(function*() {
      const output = files.at("converted.json")
      const args = ["convert", sample, "--to", "anthropic-messages", "--output", output]
      const { stdout } = yield* run(args)
      assert.deepStrictEqual(lines(stdout), [
        `${sample}  native → anthropic-messages, 116 messages`,
        "  lost  reasoning without a signature, 9 times"
      ])
      const [report] = json((yield* run([...args, "--json"])).stdout)
      assert.deepStrictEqual(report, {
        _tag: "Converted",
        conversation: 1,
        from: "native",
        to: "anthropic-messages",
        notes: [{ kind: "lost", what: "reasoning without a signature", count: 9 }],
        messages: 116
      })
    }))

  it.effect("all conversations of a file, or one", () =>
    Effect.gen(function*() {
      const all = yield* run(["convert", files.many, "--to", "gemini"])
      assert.lengthOf(json(all.stdout), 3)
      const one = yield* run(["convert", files.many, "--to", "native", "--conversation", "3"])
      assert.deepStrictEqual(json(one.stdout).map(({ content }) => JSON.stringify(content).includes("three")), [true])
    }))

  it.effect("replaces no file when it fails", () =>
    Effect.gen(function*() {
      const output = files.write("kept.jsonl", "kept")
      const { code } = yield* run(["convert", files.many, "--to", "native", "--output", output])
      assert.deepStrictEqual([code, files.read(output)], [1, "kept"])
    }))
})

describe("formats", () => {
  it.effect("lists the registry", () =>
    Effect.gen(function*() {
      const names = Format.all.map(({ id }) => id).sort()
      const { code, stdout } = yield* run(["formats"])
      assert.strictEqual(code, 0)
      assert.deepStrictEqual(lines(stdout).slice(1, -2).map((line) => line.split(" ")[0]), names)
      const rows = json((yield* run(["formats", "--json"])).stdout)
      assert.deepStrictEqual(rows.map(({ format }) => format), names)
      assert.deepInclude(rows, {
        _tag: "Format",
        format: "openai-chat",
        title: "OpenAI Chat Completions",
        many: true,
        rules: "openai"
      })
    }))
})
