import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { Message, TokenCounter } from "effect-memory"

describe("TokenCounter.characters", () => {
  const vectors: ReadonlyArray<readonly [text: string, tokens: number]> = [
    ["", 0],
    ["a", 1],
    ["abcd", 1],
    ["abcde", 2],
    ["hello", 2],
    ["morning", 2],
    ["setup", 2],
    ["calculate", 3],
    ["continue", 2],
    ["prior summary", 4],
    ["Question from round 1", 6],
    ["Answer from round 1", 5],
    ["你好", 2],
    ["你好abc", 3],
    ["こんにちは", 2],
    ["안녕하세요", 2],
    ["，。", 1],
    ["ＡＢＣ", 1],
    ["😀😀😀😀😀", 2],
    // The ends of the ideograph blocks, and what lies beside them.
    ["\u3400\u4dbf\u4e00\u9fff\uf900\ufaff\u{20000}\u{2fa1f}", 8],
    ["\u33ff\u4dc0\ua000\uf8ff\ufb00\u{1ffff}\u{2fa20}\u{30000}", 2]
  ]

  for (const [text, tokens] of vectors) {
    it.effect(`${JSON.stringify(text)} takes ${tokens}`, () =>
      Effect.gen(function*() {
        assert.strictEqual(yield* TokenCounter.characters.count(text), tokens)
      }))
  }

  it.effect("rounds each part up by itself", () =>
    Effect.gen(function*() {
      const message = Message.user([Message.text("a"), Message.text("b")])
      assert.strictEqual(yield* TokenCounter.characters.countMessage(message), 2)
    }))

  it.effect("counts every part, but no ids and no names of results", () =>
    Effect.gen(function*() {
      const count = TokenCounter.characters.countMessage
      const id = "an id of many characters"
      const call = Message.toolCall({ id, name: "load_skill", params: { name: "x" } })
      assert.strictEqual(yield* count(Message.assistant([call])), 6)
      const result = Message.toolResult({ id, name: "load_skill", result: "abcd" })
      assert.strictEqual(yield* count(Message.tool([result])), 1)
      const image = Message.file({ mediaType: "image/png", data: "QUJD".repeat(1000) })
      assert.strictEqual(yield* count(Message.user([image])), 1000)
      assert.strictEqual(yield* count(Message.assistant([Message.reasoning("abcde")])), 2)
    }))
})

describe("TokenCounter.make", () => {
  for (const answer of [NaN, Infinity, -1]) {
    it.effect(`refuses a count of ${answer}`, () =>
      Effect.gen(function*() {
        const counter = TokenCounter.make({ id: "broken", count: () => Effect.succeed(answer) })
        assert.strictEqual((yield* Effect.flip(counter.count("x")))._tag, "TokenCountError")
        assert.strictEqual((yield* Effect.flip(counter.countMessage(Message.user("x"))))._tag, "TokenCountError")
      }))
  }
})
