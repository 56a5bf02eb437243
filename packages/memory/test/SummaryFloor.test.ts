import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { MemoryError, Message, Summarizer, TokenCounter, TrimStrategy } from "effect-memory"
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

  it.scoped("stays where whole rounds are dropped because the strategy fails", () =>
    Effect.gen(function*() {
      let calls = 0
      const strategy = TrimStrategy.make(({ messages, newest }) =>
        calls++ === 0
          ? Effect.succeed({ messages: [system("sum"), ...messages.slice(newest)], replace: true })
          : Effect.fail(new MemoryError.TrimError({ reason: "down" }))
      )
      const memory = yield* makeMemory({ maxTokens: 4, strategy })
      yield* memory.recordAll(rounds(5))
      yield* memory.context
      yield* memory.recordAll(rounds(3, 6))
      assert.deepStrictEqual(texts(yield* memory.context), ["sum", "u8", "a8"])
    }))
})

describe.each(["system", "user", "assistant"] as const)("a summary of role %s", (role) => {
  it.scoped("stays where whole rounds are dropped", () =>
    Effect.gen(function*() {
      let calls = 0
      const strategy = TrimStrategy.make(({ messages, newest }) =>
        calls++ === 0
          ? Effect.succeed({ messages: [Message[role]("sum"), ...messages.slice(newest)], replace: true })
          : Effect.fail(new MemoryError.TrimError({ reason: "down" }))
      )
      const memory = yield* makeMemory({ maxTokens: 5, strategy })
      yield* memory.recordAll(rounds(5))
      assert.deepStrictEqual(texts(yield* memory.context), ["sum", "u5", "a5"])
      yield* memory.recordAll(rounds(3, 6))
      assert.deepStrictEqual(texts(yield* memory.context), ["sum", "u7", "a7", "u8", "a8"])
      assert.strictEqual((yield* memory.plan).floor.summary, 1)
    }))
})

describe("a strategy of one's own", () => {
  it.scoped("materializes nothing that is larger than what it stands for", () =>
    Effect.gen(function*() {
      const strategy = TrimStrategy.make(({ messages, newest }) =>
        Effect.succeed({ messages: [system("x".repeat(400)), ...messages.slice(newest)], replace: true })
      )
      const memory = yield* makeMemory({ maxTokens: 4, strategy })
      yield* memory.recordAll(rounds(5))
      assert.deepStrictEqual(texts(yield* memory.context), ["u4", "a4", "u5", "a5"])
      assert.strictEqual((yield* memory.usage).summarized, 0)
    }))

  it.scoped("is not asked again in the same round when its compaction has not helped", () =>
    Effect.gen(function*() {
      let calls = 0
      const strategy = TrimStrategy.make(({ messages, newest }) =>
        Effect.sync(() => {
          calls++
          return { messages: [system(`sum ${calls}`), ...messages.slice(newest)], replace: true }
        })
      )
      const memory = yield* makeMemory({ maxTokens: 4, strategy })
      yield* memory.recordAll([...rounds(5), user("z".repeat(80))])
      yield* memory.context
      yield* memory.record(assistant("a6"))
      yield* memory.context
      yield* memory.context
      assert.strictEqual(calls, 1)
      yield* memory.record(user("u7"))
      yield* memory.context
      assert.strictEqual(calls, 2, "a round began")
    }))
})
