import { assert, describe, it } from "@effect/vitest"
import { Data, Effect, Fiber, Ref } from "effect"
import * as tally from "../src/internal/tally.js"

class Down extends Data.TaggedError("Down") {
  override get message() {
    return "the service is down"
  }
}

const make = Effect.gen(function*() {
  const said = yield* Ref.make<ReadonlyArray<string>>([])
  const kept = yield* tally.make({
    use: "counter",
    name: "tgi",
    instead: "it goes on",
    say: (sentence) => Ref.update(said, (all) => [...all, sentence])
  })
  const figures = Effect.map(kept.asked, ({ failures, fallbacks, requests, retries }) => [
    requests,
    retries,
    failures,
    fallbacks
  ])
  return { ...kept, figures, said: Ref.get(said) }
})

const times = (n: number, sent: Effect.Effect<void>) => Effect.repeatN(sent, n - 1)

describe("tally", () => {
  it.effect("tells requests from retries", () =>
    Effect.gen(function*() {
      const { call, figures, said, sent } = yield* make
      yield* call(sent)
      yield* call(times(3, sent))
      // An answer that is known already.
      yield* call(Effect.void)
      assert.deepStrictEqual(yield* figures, [4, 2, 0, 0])
      assert.deepStrictEqual(yield* said, [])
    }))

  it.effect("tells failures from calls that were not even tried, and says the first one", () =>
    Effect.gen(function*() {
      const { call, figures, said, sent } = yield* make
      yield* Effect.flip(call(Effect.zipRight(times(2, sent), new Down())))
      yield* Effect.flip(call(new Down()))
      yield* call(sent)
      assert.deepStrictEqual(yield* figures, [3, 1, 1, 2])
      assert.deepStrictEqual(yield* said, ["the service is down; it goes on"])
    }))

  it.effect("counts a call that is given up as one that failed", () =>
    Effect.gen(function*() {
      const { call, figures, said, sent } = yield* make
      const fiber = yield* Effect.fork(call(Effect.zipRight(sent, Effect.never)))
      yield* Effect.yieldNow()
      yield* Fiber.interrupt(fiber)
      assert.deepStrictEqual(yield* figures, [1, 0, 1, 1])
      assert.deepStrictEqual(yield* said, [])
    }))
})
