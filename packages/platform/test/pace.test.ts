import { HttpClient } from "@effect/platform"
import { assert, describe, it } from "@effect/vitest"
import { RemoteError, RemotePolicy } from "@effect-memory/platform"
import { Clock, Deferred, Effect, Exit, FastCheck as fc, Fiber, Ref, TestClock } from "effect"
import { Message } from "effect-memory"
import { counters } from "./counters.js"
import { client } from "./servers/server.js"

const endpoint = { service: "test", operation: "ask" }

/** Notes when it starts, then takes so many milliseconds. */
const noting = Effect.map(Ref.make<ReadonlyArray<number>>([]), (starts) => ({
  starts: Ref.get(starts),
  request: (millis: number): Effect.Effect<void, RemoteError.RemoteError> =>
    Effect.zipRight(
      Effect.flatMap(Clock.currentTimeMillis, (now) => Ref.update(starts, (all) => [...all, now])),
      Effect.sleep(millis)
    )
}))

describe("pace", () => {
  it.effect.prop("starts no more in any minute than it may", {
    limit: fc.integer({ min: 1, max: 5 }),
    concurrency: fc.integer({ min: 1, max: 4 }),
    calls: fc.array(fc.record({ after: fc.nat(30_000), takes: fc.nat(40_000), givesUp: fc.boolean() }), {
      minLength: 5,
      maxLength: 25
    })
  }, ({ calls, concurrency, limit }) =>
    Effect.scoped(Effect.gen(function*() {
      const policy = yield* RemotePolicy.make(endpoint, {
        concurrency,
        requestsPerMinute: limit,
        attemptTimeout: "1 hour",
        deadline: "1 hour"
      })
      const { request, starts } = yield* noting
      const fibers: Array<Fiber.RuntimeFiber<void, RemoteError.RemoteError>> = []
      for (const { after, givesUp, takes } of calls) {
        fibers.push(yield* Effect.fork(policy.run(request(takes))))
        yield* TestClock.adjust(after)
        if (givesUp) yield* Fiber.interrupt(fibers[fibers.length - 1])
      }
      yield* TestClock.adjust("50 minutes")
      for (const [i, fiber] of fibers.entries()) {
        if (!calls[i].givesUp) yield* Fiber.join(fiber)
      }
      const seen = yield* starts
      seen.slice(limit).forEach((at, i) => assert.isAtLeast(at - seen[i], 60_000))
    })), { fastCheck: { numRuns: 40 } })

  it.scoped("loses no turn to those who gave up waiting for theirs", () =>
    Effect.gen(function*() {
      const policy = yield* RemotePolicy.make(endpoint, { requestsPerMinute: 1, deadline: "10 minutes" })
      const { request, starts } = yield* noting
      yield* policy.run(request(0)).pipe(Effect.zipLeft(TestClock.adjust(0)))
      for (let i = 0; i < 3; i++) {
        const waiting = yield* Effect.fork(policy.run(request(0)))
        yield* TestClock.adjust("1 seconds")
        yield* Fiber.interrupt(waiting)
      }
      const last = yield* Effect.fork(policy.run(request(0)))
      yield* TestClock.adjust("5 minutes")
      yield* Fiber.join(last)
      assert.deepStrictEqual(yield* starts, [0, 60_000])
    }))

  it.scoped("does not wait for a turn beyond the deadline, and does not blame the service", () =>
    Effect.gen(function*() {
      const policy = yield* RemotePolicy.make(endpoint, {
        requestsPerMinute: 1,
        deadline: "20 seconds",
        breakerFailures: 1
      })
      yield* policy.run(Effect.void)
      const failed = yield* Effect.exit(policy.run(Effect.void))
      assert.deepStrictEqual(
        failed,
        Exit.fail(new RemoteError.RemoteError({ ...endpoint, kind: "rateLimited", retryable: false }))
      )
      yield* TestClock.adjust("45 seconds")
      const waiting = yield* Effect.fork(policy.run(Effect.void))
      yield* TestClock.adjust("15 seconds")
      yield* Fiber.join(waiting)
    }))

  it.scoped("gives the turn to attempts, not to those who wait for a place", () =>
    Effect.gen(function*() {
      const policy = yield* RemotePolicy.make(endpoint, {
        concurrency: 1,
        requestsPerMinute: 2,
        attemptTimeout: "1 hour",
        deadline: "1 hour"
      })
      const { request, starts } = yield* noting
      const gate = yield* Deferred.make<void>()
      const first = yield* Effect.fork(policy.run(Effect.zipRight(request(0), Deferred.await(gate))))
      const others = yield* Effect.forkAll(Array.from({ length: 3 }, () => policy.run(request(0))))
      yield* TestClock.adjust("2 minutes")
      yield* Deferred.succeed(gate, undefined)
      yield* TestClock.adjust("2 minutes")
      yield* Fiber.join(first)
      yield* Fiber.join(others)
      assert.deepStrictEqual(yield* starts, [0, 120_000, 120_000, 180_000])
    }))
})

describe("admit", () => {
  it.scoped("fails while nothing is asked, and leaves the probe to others", () =>
    Effect.gen(function*() {
      const policy = yield* RemotePolicy.make(endpoint, { breakerFailures: 1, breakerCooldown: "10 seconds" })
      yield* policy.admit
      const down = new RemoteError.RemoteError({ ...endpoint, kind: "unavailable", retryable: false })
      yield* Effect.exit(policy.run(Effect.fail(down)))
      assert.strictEqual((yield* Effect.flip(policy.admit)).kind, "circuitOpen")
      yield* TestClock.adjust("10 seconds")
      yield* policy.admit
      yield* policy.admit
      yield* policy.run(Effect.void)
      yield* policy.admit
    }))

  it.scoped("is asked by counters before they write a request", () =>
    Effect.gen(function*() {
      for (const each of counters) {
        const server = yield* client(each.server, [{ status: 500, body: "" }])
        const counter = yield* each.make({ policy: { attempts: 1, breakerFailures: 1 } }).pipe(
          Effect.provideService(HttpClient.HttpClient, server.client)
        )
        let reads = 0
        const message: Message.Message = {
          role: "user",
          options: {},
          get content() {
            reads++
            return [Message.text("Hello")]
          }
        }
        const count = counter.countConversation?.([message]) ?? Effect.void
        yield* Effect.exit(count)
        assert.isAbove(reads, 0)
        reads = 0
        const { cause } = yield* Effect.flip(count)
        assert.propertyVal(cause, "kind", "circuitOpen")
        assert.strictEqual(reads, 0)
      }
    }))
})
