import { assert, describe, it } from "@effect/vitest"
import { Cause, Deferred, Effect, Exit, Fiber, Ref } from "effect"
import { make } from "../src/internal/lock.js"

/** Time for everything that can go on. */
const settle = Effect.repeatN(Effect.yieldNow(), 50)

describe("a lock", () => {
  it.effect("one at a time, in the order in which they asked", () =>
    Effect.gen(function*() {
      const lock = yield* make
      const inside = yield* Ref.make(0)
      const seen = yield* Ref.make<ReadonlyArray<number>>([])
      const enter = (n: number) =>
        lock((restore) =>
          Effect.gen(function*() {
            assert.strictEqual(yield* Ref.updateAndGet(inside, (count) => count + 1), 1)
            yield* restore(Effect.repeatN(Effect.yieldNow(), n % 5))
            yield* Ref.update(seen, (order) => [...order, n])
            yield* Ref.update(inside, (count) => count - 1)
          })
        )
      const fibers = Array.from({ length: 100 }, (_, n) => n)
      yield* Effect.forEach(fibers, enter, { concurrency: "unbounded" })
      assert.deepStrictEqual(yield* Ref.get(seen), fibers)
    }))

  it.effect("is free again after a failure, a defect and an interruption", () =>
    Effect.gen(function*() {
      const lock = yield* make
      assert.deepStrictEqual(yield* Effect.exit(lock(() => Effect.fail("no"))), Exit.fail("no"))
      assert.isTrue(Cause.isDie(yield* Effect.sandbox(lock(() => Effect.die("defect"))).pipe(Effect.flip)))
      const holder = yield* Effect.fork(lock((restore) => restore(Effect.never)))
      yield* settle
      yield* Fiber.interrupt(holder)
      assert.strictEqual(yield* lock(() => Effect.succeed(1)), 1)
    }))

  it.effect("what is not restored cannot be interrupted", () =>
    Effect.gen(function*() {
      const lock = yield* make
      const gate = yield* Deferred.make<void>()
      const done = yield* Ref.make(false)
      const holder = yield* Effect.fork(lock(() => Effect.zipRight(Deferred.await(gate), Ref.set(done, true))))
      yield* settle
      yield* Fiber.interruptFork(holder)
      yield* settle
      yield* Deferred.succeed(gate, undefined)
      yield* Fiber.await(holder)
      assert.isTrue(yield* Ref.get(done))
    }))

  it.effect("one that cannot be interrupted waits for its turn all the same", () =>
    Effect.gen(function*() {
      const lock = yield* make
      const gate = yield* Deferred.make<void>()
      yield* Effect.fork(lock(() => Deferred.await(gate)))
      yield* settle
      const waiter = yield* Effect.fork(Effect.uninterruptible(lock(() => Effect.succeed("mine"))))
      yield* settle
      yield* Fiber.interruptFork(waiter)
      yield* settle
      yield* Deferred.succeed(gate, undefined)
      yield* Fiber.await(waiter)
      assert.strictEqual(yield* lock(() => Effect.succeed("next")), "next")
    }))

  for (let steps = 0; steps < 12; steps++) {
    it.effect(`one that is interrupted ${steps} steps after the lock was given up takes no turn from the others`, () =>
      Effect.gen(function*() {
        const lock = yield* make
        const gate = yield* Deferred.make<void>()
        const order = yield* Ref.make<ReadonlyArray<string>>([])
        const enter = (name: string) => lock(() => Ref.update(order, (names) => [...names, name]))
        yield* Effect.fork(lock(() => Deferred.await(gate)))
        yield* settle
        const first = yield* Effect.fork(enter("first"))
        yield* settle
        const others = yield* Effect.fork(Effect.all([enter("second"), enter("third")], { concurrency: "unbounded" }))
        yield* settle
        yield* Deferred.succeed(gate, undefined)
        for (let i = 0; i < steps; i++) yield* Effect.yieldNow()
        yield* Fiber.interrupt(first)
        yield* Fiber.join(others)
        assert.strictEqual(yield* lock(() => Effect.succeed("free")), "free")
        assert.deepStrictEqual((yield* Ref.get(order)).filter((name) => name !== "first"), ["second", "third"])
      }))
  }
})
