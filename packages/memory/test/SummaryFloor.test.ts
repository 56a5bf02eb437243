import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { Message, Summarizer, TokenCounter, TrimStrategy } from "effect-memory"
import { makeMemory, rounds, texts } from "./utilities.js"

const { assistant, system, user } = Message

describe("the current summary", () => {
  it.scoped("is put back where a projection leaves it out", () =>
    Effect.gen(function*() {
      let calls = 0
      const strategy = TrimStrategy.make(({ messages, newest }) => {
        const kept = messages.slice(newest)
        return Effect.succeed(
          calls++ === 0 ? { messages: [system("sum"), ...kept], replace: true } : { messages: kept, replace: false }
        )
      })
      const memory = yield* makeMemory({ maxTokens: 4, strategy })
      yield* memory.recordAll(rounds(5))
      assert.deepStrictEqual(texts(yield* memory.context), ["sum", "u5", "a5"])
      yield* memory.recordAll(rounds(2, 6))
      assert.deepStrictEqual(texts(yield* memory.context), ["sum", "u7", "a7"])
      assert.strictEqual(calls, 2)
    }))

  it.effect("is never summarized by itself", () =>
    Effect.gen(function*() {
      let requests = 0
      const strategy = yield* Effect.provideService(
        TrimStrategy.summarize({ maxSummaryTokens: 10 }),
        Summarizer.Summarizer,
        {
          summarize: () => Effect.sync(() => ({ text: `s${++requests}`, usage: undefined }))
        }
      )
      const messages = [system("Summary of prior context:\n" + "x".repeat(80)), user("u1"), assistant("y".repeat(100))]
      const result = yield* strategy.trim({
        messages,
        counts: yield* Effect.forEach(messages, TokenCounter.characters.countMessage),
        budget: { maxTokens: 50, maxRounds: undefined },
        counter: TokenCounter.characters,
        standIns: [0],
        newest: 1
      })
      assert.strictEqual(requests, 0)
      assert.deepStrictEqual(result.messages, messages)
    }))
})
