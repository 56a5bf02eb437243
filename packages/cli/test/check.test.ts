import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as files from "./files.js"
import { json, lines, run } from "./run.js"

const { unanswered } = files

describe("check", () => {
  it.effect("says where and what to do, and fails", () =>
    Effect.gen(function*() {
      const { code, stderr, stdout } = yield* run(["check", unanswered])
      assert.strictEqual(code, 1)
      assert.deepStrictEqual(lines(stdout), [
        `${unanswered}  openai-chat, 3 messages`,
        "message  role       part  finding                 what to do",
        "      2  assistant     1  unanswered call         Close the call with a result that says that it failed.",
        "1 finding  (openai)"
      ])
      assert.deepStrictEqual(lines(stderr), [
        `${unanswered}: 1 finding, so that it cannot be sent as it is: repair it with --fix --output FILE`
      ])
    }))

  it.effect("says the same to programs", () =>
    Effect.gen(function*() {
      const { code, stdout } = yield* run(["check", "-", "--provider", "strict", "--json"], {
        stdin: files.read(unanswered)
      })
      assert.strictEqual(code, 1)
      assert.deepStrictEqual(json(stdout), [
        {
          _tag: "Finding",
          conversation: 1,
          message: 2,
          role: "assistant",
          part: 1,
          callId: "c1",
          finding: "UnansweredCall",
          rule: "pairing",
          remedy: "Close the call with a result that says that it failed.",
          open: false
        },
        { _tag: "Checked", conversation: 1, messages: 3, rules: "strict", findings: 1, open: 0 }
      ])
    }))

  it.effect("finds nothing in what it has fixed", () =>
    Effect.gen(function*() {
      const output = files.at("fixed.json")
      const fixed = yield* run(["check", unanswered, "--fix", "--output", output])
      assert.deepStrictEqual([fixed.code, fixed.stderr], [0, ""])
      assert.include(fixed.stdout, "1 finding repaired  (openai)")
      const again = yield* run(["check", output])
      assert.deepStrictEqual([again.code, again.stderr], [0, ""])
      assert.strictEqual(lines(again.stdout)[1], "nothing found  (openai)")
    }))

  it.effect("fixes to standard output, and tells on standard error", () =>
    Effect.gen(function*() {
      const { code, stderr, stdout } = yield* run(["check", unanswered, "--fix"])
      assert.strictEqual(code, 0)
      assert.lengthOf(JSON.parse(stdout).messages, 4)
      assert.include(stderr, "1 finding repaired")
    }))

  it.effect("lets calls be that are open at the end", () =>
    Effect.gen(function*() {
      const { messages } = JSON.parse(files.read(unanswered))
      const { code, stdout } = yield* run(["check", "-"], { stdin: JSON.stringify({ messages: messages.slice(0, 2) }) })
      assert.strictEqual(code, 0)
      assert.include(stdout, "open call")
      assert.include(stdout, "nothing found, 1 call still open at the end  (openai)")
    }))
})
