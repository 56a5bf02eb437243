import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { Message, TrimStrategy } from "effect-memory"
import { makeMemory, rounds, texts } from "./utilities.js"

const { system } = Message

describe("a test strategy", () => {
  it.effect("does what it is told, and tells what it was given", () =>
    Effect.gen(function*() {
      const inputs = yield* Effect.gen(function*() {
        const strategy = yield* TrimStrategy.TrimStrategy
        const test = yield* TrimStrategy.TestInputs
        const memory = yield* makeMemory({ maxTokens: 4, strategy })
        yield* memory.recordAll(rounds(3))
        assert.deepStrictEqual(texts(yield* memory.context), ["told", "u3", "a3"])
        return yield* test.inputs
      }).pipe(
        Effect.provide(TrimStrategy.layerTest(({ messages, newest }) => ({
          messages: [system("told"), ...messages.slice(newest)],
          replace: true
        })))
      )
      assert.deepStrictEqual(inputs.map(({ messages }) => texts(messages)), [["u1", "a1", "u2", "a2", "u3", "a3"]])
    }).pipe(Effect.scoped))

  it.effect("keeps the newest round where it is told nothing, and has failed where it throws", () =>
    Effect.gen(function*() {
      const contextOf = Effect.gen(function*() {
        const memory = yield* makeMemory({ maxTokens: 3, strategy: yield* TrimStrategy.TrimStrategy })
        yield* memory.recordAll(rounds(3))
        return texts(yield* memory.context)
      })
      assert.deepStrictEqual(yield* Effect.provide(contextOf, TrimStrategy.layerTest()), ["u3", "a3"])
      const throwing = TrimStrategy.layerTest(() => {
        throw new Error("told to")
      })
      assert.deepStrictEqual(yield* Effect.provide(contextOf, throwing), ["u3", "a3"])
    }).pipe(Effect.scoped))
})
