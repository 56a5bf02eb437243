import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { Message } from "effect-memory"
import { makeMemory, numbers } from "./utilities.js"

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
