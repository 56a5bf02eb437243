import { assert, describe, it } from "@effect/vitest"
import { Effect, FastCheck } from "effect"
import { ContextWindow, Message, TokenCounter, TrimStrategy } from "effect-memory"
import { entries } from "./generators.js"
import { assertMessages, makeMemory, numbers, runs, texts } from "./utilities.js"

describe("how many rounds are kept", () => {
  const kept = Effect.fnUntraced(function*(tokens: ReadonlyArray<number>, maxTokens: number, maxRounds?: number) {
    const memory = yield* makeMemory({ maxTokens, maxRounds, counter: numbers })
    yield* memory.recordAll(tokens.map((n) => Message.user(String(n))))
    return (yield* memory.context).length
  }, Effect.scoped)

  it.effect("by tokens", () =>
    Effect.gen(function*() {
      const expected = [1, 1, 1, 2, 2, 2, 3, 3, 3, 3, 4]
      for (const [limit, count] of expected.entries()) {
        assert.strictEqual(yield* kept([4, 3, 2, 1], limit), count, `limit ${limit}`)
      }
    }))

  it.effect("by tokens and rounds", () =>
    Effect.gen(function*() {
      const byTokens = [1, 1, 1, 2, 2, 2, 3, 3, 3, 3, 4]
      for (const [limit, count] of byTokens.entries()) {
        for (const maxRounds of [0, 1, 2, 3, 4]) {
          const expected = Math.min(count, Math.max(1, maxRounds))
          assert.strictEqual(
            yield* kept([4, 3, 2, 1], limit, maxRounds),
            expected,
            `limit ${limit}, ${maxRounds} rounds`
          )
        }
      }
    }))

  it.effect("older rounds without tokens", () =>
    Effect.gen(function*() {
      assert.strictEqual(yield* kept([0, 0, 5], 5), 3)
      assert.strictEqual(yield* kept([0, 0, 6], 5), 1)
    }))

  it.effect("no smaller round behind one that is too large", () =>
    Effect.gen(function*() {
      assert.strictEqual(yield* kept([1, 100, 1], 2), 1)
    }))
})

describe("the plain window", () => {
  const asked = TrimStrategy.cascade(TrimStrategy.windowDrop())

  it.effect("takes a round with what was said between a call and its result as one, whoever asks it", () =>
    Effect.gen(function*() {
      const messages = [
        Message.user("u0"),
        Message.assistant("a0"),
        Message.user("q1"),
        Message.assistant([Message.toolCall({ id: "c", name: "look", params: {} })]),
        Message.user("hurry"),
        Message.tool([Message.toolResult({ id: "c", name: "look", result: "found" })]),
        Message.assistant("a1"),
        Message.user("u3")
      ]
      const counter = TokenCounter.make({ id: "ones", count: () => Effect.succeed(0), messageOverhead: 1 })
      const two = ["q1", "tool-call", "found", "hurry", "a1", "u3"]
      const second = TrimStrategy.cascade(
        TrimStrategy.make(({ messages }) => Effect.succeed({ messages: messages.slice(2), replace: false })),
        TrimStrategy.windowDrop()
      )
      for (const strategy of [TrimStrategy.windowDrop(), asked, second]) {
        for (
          const [limits, expected] of [[{ maxRounds: 2 }, two], [{ maxTokens: 6 }, two], [{ maxTokens: 5 }, [
            "u3"
          ]]] as const
        ) {
          const memory = yield* makeMemory({ ...limits, strategy, counter })
          yield* memory.recordAll(messages)
          assert.deepStrictEqual(texts(yield* memory.context), expected)
        }
      }
      const window = yield* ContextWindow.make({ maxTokens: 5 }).pipe(
        Effect.provideService(TokenCounter.TokenCounter, counter),
        Effect.provideService(TrimStrategy.TrimStrategy, TrimStrategy.windowDrop())
      )
      assert.deepStrictEqual(texts(yield* window.fit(messages)), ["u3"])
    }).pipe(Effect.scoped))

  it.effect.prop("is the same on the view, as a strategy that is asked, and in a window", {
    entries,
    maxTokens: FastCheck.option(FastCheck.integer({ min: 0, max: 400 }), { nil: undefined }),
    maxRounds: FastCheck.option(FastCheck.integer({ min: 0, max: 6 }), { nil: undefined })
  }, ({ entries, maxRounds, maxTokens }) =>
    Effect.gen(function*() {
      const contexts = yield* Effect.forEach([TrimStrategy.windowDrop(), asked], (strategy) =>
        Effect.gen(function*() {
          const memory = yield* makeMemory({ maxTokens, maxRounds, strategy })
          for (const { message, protected: isProtected } of entries) {
            yield* isProtected ? memory.recordProtected(message) : memory.record(message)
          }
          return yield* memory.context
        }))
      assertMessages(contexts[1], contexts[0])
      if (maxTokens === undefined || maxRounds !== undefined || entries.some((entry) => entry.protected)) return
      const window = yield* ContextWindow.make({ maxTokens }).pipe(
        Effect.provideService(TokenCounter.TokenCounter, TokenCounter.characters),
        Effect.provideService(TrimStrategy.TrimStrategy, TrimStrategy.windowDrop())
      )
      assertMessages(yield* window.fit(entries.map(({ message }) => message)), contexts[0])
    }).pipe(Effect.scoped), runs(200))
})
