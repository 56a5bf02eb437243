import { assert, describe, it } from "@effect/vitest"
import { PlatformMetrics, RemoteError, RemotePolicy } from "@effect-memory/platform"
import { Clock, Deferred, Duration, Effect, Exit, FastCheck as fc, Fiber, Metric, Ref, TestClock } from "effect"
import { metricsOf } from "./utilities.js"

const endpoint = { service: "test", operation: "ask" }

const failure = (fields: Partial<ConstructorParameters<typeof RemoteError.RemoteError>[0]> = {}) =>
  new RemoteError.RemoteError({ ...endpoint, kind: "unavailable", retryable: true, ...fields })

/** A request that answers as told, and notes when it was asked. */
const scripted = (answers: ReadonlyArray<RemoteError.RemoteError | "ok" | "hang">) =>
  Effect.map(Ref.make<ReadonlyArray<number>>([]), (times) => ({
    times: Ref.get(times),
    request: Effect.gen(function*() {
      const now = yield* Clock.currentTimeMillis
      const n = yield* Ref.modify(times, (seen) => [seen.length, [...seen, now]])
      const answer = answers[Math.min(n, answers.length - 1)]
      if (answer === "hang") return yield* Effect.never
      return yield* answer === "ok" ? Effect.succeed(n) : Effect.fail(answer)
    })
  }))

/** Runs to the end however long it takes. */
const run = <A, E, R>(effect: Effect.Effect<A, E, R>, time: Duration.DurationInput = "10 minutes") =>
  Effect.gen(function*() {
    const fiber = yield* Effect.fork(Effect.exit(effect))
    yield* TestClock.adjust(time)
    return yield* Fiber.join(fiber)
  })

const kindOf = (exit: Exit.Exit<unknown, RemoteError.RemoteError>) =>
  Exit.isFailure(exit) && exit.cause._tag === "Fail" ? exit.cause.error.kind : "ok"

const gaps = (times: ReadonlyArray<number>) => times.slice(1).map((time, i) => time - times[i])

const between = (value: number, least: number, most: number) =>
  assert.isTrue(value >= least && value <= most, `${value} is not between ${least} and ${most}`)

describe("RemotePolicy", () => {
  describe("attempts", () => {
    it.scoped("tries what may pass again, with a back-off that doubles and jitter", () =>
      Effect.gen(function*() {
        const policy = yield* RemotePolicy.make(endpoint, { attempts: 8, breakerFailures: 100 })
        const { request, times } = yield* scripted([failure()])
        assert.strictEqual(kindOf(yield* run(policy.run(request))), "unavailable")
        const waits = gaps(yield* times)
        assert.strictEqual(waits.length, 7)
        ;[500, 1000, 2000, 4000, 8000, 8000, 8000].forEach((most, i) => between(waits[i], most * 0.75, most))
      }))

    it.scoped("waits as long as it is told, also where that is above 8 seconds", () =>
      Effect.gen(function*() {
        const policy = yield* RemotePolicy.make(endpoint, { backoff: "30 seconds", deadline: "1 hour" })
        const { request, times } = yield* scripted([failure()])
        yield* run(policy.run(request))
        for (const wait of gaps(yield* times)) between(wait, 22_500, 30_000)
      }))

    it.scoped("measures attempts that fail too", () =>
      Effect.gen(function*() {
        const latency = Metric.tagged(PlatformMetrics.latency, "service", "slow")
        const policy = yield* RemotePolicy.make({ ...endpoint, service: "slow" }, {
          attempts: 1,
          attemptTimeout: "2 seconds"
        })
        const { request } = yield* scripted(["hang"])
        assert.strictEqual(kindOf(yield* run(policy.run(request))), "timeout")
        assert.strictEqual((yield* Metric.value(latency)).count, 1)
        assert.strictEqual((yield* Metric.value(latency)).max, 2000)
      }))

    it.scoped("asks three times by default and gives the last failure", () =>
      Effect.gen(function*() {
        const policy = yield* RemotePolicy.make(endpoint)
        const { request, times } = yield* scripted([
          failure(),
          failure({ kind: "transport" }),
          failure({ status: 529 })
        ])
        const exit = yield* run(policy.run(request))
        assert.deepStrictEqual(exit, Exit.fail(failure({ status: 529 })))
        assert.strictEqual((yield* times).length, 3)
      }))

    it.scoped("asks once for what cannot succeed", () =>
      Effect.gen(function*() {
        const policy = yield* RemotePolicy.make(endpoint)
        const { request, times } = yield* scripted([failure({ kind: "quota", retryable: false })])
        assert.strictEqual(kindOf(yield* run(policy.run(request))), "quota")
        assert.strictEqual((yield* times).length, 1)
      }))

    it.scoped("gives the answer of a later attempt", () =>
      Effect.gen(function*() {
        const policy = yield* RemotePolicy.make(endpoint)
        const { request } = yield* scripted([failure(), "ok"])
        assert.deepStrictEqual(yield* run(policy.run(request)), Exit.succeed(1))
      }))

    it.scoped("counts what happens", () =>
      Effect.gen(function*() {
        const policy = yield* RemotePolicy.make({ service: "counted", operation: "ask" })
        const { request } = yield* scripted([failure(), failure(), "ok", failure({ retryable: false, kind: "quota" })])
        yield* run(policy.run(request))
        yield* run(policy.run(request))
        assert.deepStrictEqual(yield* metricsOf("counted"), {
          effect_memory_remote_requests: 4,
          effect_memory_remote_retries: 2,
          "effect_memory_remote_failures:quota": 1
        })
      }))
  })

  describe("hints", () => {
    it.scoped("waits as long as the service asks", () =>
      Effect.gen(function*() {
        const policy = yield* RemotePolicy.make(endpoint)
        const { request, times } = yield* scripted([failure({ retryAfter: 7000 }), "ok"])
        assert.deepStrictEqual(yield* run(policy.run(request)), Exit.succeed(1))
        assert.deepStrictEqual(gaps(yield* times), [7000])
      }))

    it.scoped("takes no hint as leave to hurry", () =>
      Effect.gen(function*() {
        const policy = yield* RemotePolicy.make(endpoint)
        const { request, times } = yield* scripted([failure({ retryAfter: 0 }), "ok"])
        yield* run(policy.run(request))
        between(gaps(yield* times)[0], 375, 500)
      }))

    it.scoped("gives up at once where the service asks to wait beyond the deadline", () =>
      Effect.gen(function*() {
        const policy = yield* RemotePolicy.make(endpoint, { deadline: "20 seconds" })
        const { request, times } = yield* scripted([failure({ retryAfter: 20_000 }), "ok"])
        const exit = yield* run(policy.run(request), 0)
        assert.deepStrictEqual(exit, Exit.fail(failure({ retryAfter: 20_000 })))
        assert.strictEqual((yield* times).length, 1)
      }))
  })

  describe("time limits", () => {
    it.scoped("ends an attempt that hangs and tries again", () =>
      Effect.gen(function*() {
        const policy = yield* RemotePolicy.make(endpoint, { attemptTimeout: "3 seconds" })
        const { request, times } = yield* scripted(["hang", "ok"])
        assert.deepStrictEqual(yield* run(policy.run(request)), Exit.succeed(1))
        between(gaps(yield* times)[0], 3375, 3500)
      }))

    it.scoped("ends a call at the deadline", () =>
      Effect.gen(function*() {
        const policy = yield* RemotePolicy.make(endpoint, { attemptTimeout: "3 seconds", deadline: "5 seconds" })
        const { request, times } = yield* scripted(["hang"])
        const fiber = yield* Effect.fork(Effect.flip(policy.run(request)))
        yield* TestClock.adjust("4999 millis")
        assert.isNull(fiber.unsafePoll())
        yield* TestClock.adjust("1 millis")
        assert.strictEqual((yield* Fiber.join(fiber)).kind, "timeout")
        assert.strictEqual((yield* times).length, 2)
      }))

    it.scoped("bounds the wait for a turn too", () =>
      Effect.gen(function*() {
        const policy = yield* RemotePolicy.make(endpoint, { requestsPerMinute: 1, deadline: "10 seconds" })
        const { request, times } = yield* scripted(["ok"])
        yield* policy.run(request)
        assert.strictEqual(kindOf(yield* run(policy.run(request))), "rateLimited")
        assert.strictEqual((yield* times).length, 1)
      }))
  })

  describe("circuit", () => {
    const options: RemotePolicy.Options = { attempts: 1, breakerFailures: 3, breakerCooldown: "10 seconds" }

    it.scoped("opens after failures in a row, fails at once, and lets one probe through", () =>
      Effect.gen(function*() {
        const policy = yield* RemotePolicy.make({ ...endpoint, service: "circuit" }, options)
        const { request, times } = yield* scripted([failure(), failure(), failure(), failure(), "ok"])
        const ask = Effect.map(Effect.exit(policy.run(request)), kindOf)
        for (let i = 0; i < 3; i++) assert.strictEqual(yield* ask, "unavailable")
        assert.strictEqual(yield* ask, "circuitOpen")
        yield* TestClock.adjust("9999 millis")
        assert.strictEqual(yield* ask, "circuitOpen")
        yield* TestClock.adjust("1 millis")
        const together = yield* Effect.all([ask, ask, ask], { concurrency: 3 })
        assert.deepStrictEqual(together, ["unavailable", "circuitOpen", "circuitOpen"])
        yield* TestClock.adjust("10 seconds")
        assert.strictEqual(yield* ask, "ok")
        assert.strictEqual(yield* ask, "ok")
        assert.deepStrictEqual(yield* times, [0, 0, 0, 10_000, 20_000, 20_000])
        assert.strictEqual((yield* metricsOf("circuit")).effect_memory_remote_circuits_opened, 2)
      }))

    it.scoped("ends a call whose attempts open it", () =>
      Effect.gen(function*() {
        const policy = yield* RemotePolicy.make(endpoint, { attempts: 10, breakerFailures: 2 })
        const { request, times } = yield* scripted([failure()])
        assert.strictEqual(kindOf(yield* run(policy.run(request))), "unavailable")
        assert.strictEqual((yield* times).length, 2)
      }))

    it.scoped("is not opened by what is wrong with single requests", () =>
      Effect.gen(function*() {
        const policy = yield* RemotePolicy.make(endpoint, options)
        const { request } = yield* scripted([
          failure(),
          failure(),
          failure({ kind: "tooLarge", retryable: false }),
          failure(),
          failure(),
          failure({ kind: "invalidRequest", retryable: false }),
          failure()
        ])
        const ask = Effect.map(Effect.exit(policy.run(request)), kindOf)
        const kinds = yield* Effect.replicateEffect(ask, 8)
        assert.notInclude(kinds, "circuitOpen")
      }))

    it.scoped("counts an attempt that the deadline cut off", () =>
      Effect.gen(function*() {
        const policy = yield* RemotePolicy.make(endpoint, {
          ...options,
          breakerFailures: 1,
          deadline: "2 seconds",
          breakerCooldown: "1 minute"
        })
        const { request } = yield* scripted(["hang"])
        assert.strictEqual(kindOf(yield* run(policy.run(request), "2 seconds")), "timeout")
        assert.strictEqual(kindOf(yield* run(policy.run(request), "1 seconds")), "circuitOpen")
      }))

    it.scoped("makes room for the next probe where one is given up", () =>
      Effect.gen(function*() {
        const policy = yield* RemotePolicy.make(endpoint, { ...options, breakerFailures: 1 })
        const { request } = yield* scripted([failure(), "hang", "ok"])
        yield* Effect.exit(policy.run(request))
        yield* TestClock.adjust("10 seconds")
        const probe = yield* Effect.fork(policy.run(request))
        yield* Effect.yieldNow()
        assert.strictEqual(kindOf(yield* Effect.exit(policy.run(request))), "circuitOpen")
        yield* Fiber.interrupt(probe)
        assert.deepStrictEqual(yield* Effect.exit(policy.run(request)), Exit.succeed(2))
      }))

    it.scoped("lets nothing that began before decide about a probe", () =>
      Effect.gen(function*() {
        const policy = yield* RemotePolicy.make(endpoint, { ...options, breakerFailures: 1 })
        const { request } = yield* scripted(["hang", failure(), "hang", "ok"])
        const stale = yield* Effect.fork(policy.run(request))
        yield* Effect.yieldNow()
        yield* Effect.exit(policy.run(request))
        yield* TestClock.adjust("10 seconds")
        const probe = yield* Effect.fork(policy.run(request))
        yield* Effect.yieldNow()
        yield* Fiber.interrupt(stale)
        assert.strictEqual(kindOf(yield* Effect.exit(policy.run(request))), "circuitOpen")
        yield* Fiber.interrupt(probe)
        assert.deepStrictEqual(yield* Effect.exit(policy.run(request)), Exit.succeed(3))
      }))

    it.scoped("asks a route that is not there once", () =>
      Effect.gen(function*() {
        const policy = yield* RemotePolicy.make({ ...endpoint, service: "routeless" })
        const { request, times } = yield* scripted([failure({ kind: "noRoute", retryable: false, status: 404 }), "ok"])
        const ask = Effect.map(Effect.exit(policy.run(request)), kindOf)
        assert.strictEqual(yield* ask, "noRoute")
        yield* TestClock.adjust("10 days")
        assert.deepStrictEqual(yield* Effect.replicateEffect(ask, 3), ["noRoute", "noRoute", "noRoute"])
        assert.strictEqual((yield* times).length, 1)
        assert.strictEqual((yield* metricsOf("routeless")).effect_memory_remote_routes_off, 1)
      }))

    it.scoped("is not shared between policies", () =>
      Effect.gen(function*() {
        const [one, other] = yield* Effect.all([
          RemotePolicy.make(endpoint, { ...options, breakerFailures: 1 }),
          RemotePolicy.make(endpoint, options)
        ])
        yield* Effect.exit(one.run(Effect.fail(failure())))
        assert.strictEqual(kindOf(yield* Effect.exit(one.run(Effect.void))), "circuitOpen")
        yield* other.run(Effect.void)
      }))
  })

  describe("pace", () => {
    it.scoped("runs no more attempts at a time than it may", () =>
      Effect.gen(function*() {
        const policy = yield* RemotePolicy.make(endpoint, { concurrency: 2 })
        const gate = yield* Deferred.make<void>()
        const running = yield* Ref.make(0)
        const request = Effect.zipRight(Ref.update(running, (n) => n + 1), Deferred.await(gate))
        const fibers = yield* Effect.forkAll(Array.from({ length: 5 }, () => policy.run(request)))
        yield* TestClock.adjust(0)
        assert.strictEqual(yield* Ref.get(running), 2)
        yield* Deferred.succeed(gate, undefined)
        yield* Fiber.join(fibers)
        assert.strictEqual(yield* Ref.get(running), 5)
      }))

    it.scoped("starts no more requests in a minute than it may, retries counted", () =>
      Effect.gen(function*() {
        const policy = yield* RemotePolicy.make(endpoint, { requestsPerMinute: 2, deadline: "5 minutes" })
        const { request, times } = yield* scripted([failure(), "ok"])
        yield* run(Effect.zipRight(policy.run(request), policy.run(request)))
        const [first, second, third] = yield* times
        between(second - first, 375, 500)
        between(third - first, 30_000, 61_000)
      }))
  })

  const answer = fc.oneof(
    fc.constant("ok" as const),
    fc.constant("hang" as const),
    fc.record({ retryable: fc.constantFrom(true, true, true, false), retryAfter: fc.option(fc.nat(9000), { nil: 0 }) })
      .map(failure)
  )

  it.effect.prop("keeps to attempts, waits and deadline, whatever a service answers", {
    script: fc.array(answer, { minLength: 1, maxLength: 6 }),
    attempts: fc.integer({ min: 1, max: 5 }),
    deadline: fc.integer({ min: 1000, max: 20_000 })
  }, ({ attempts, deadline, script }) =>
    Effect.scoped(Effect.gen(function*() {
      const attemptTimeout = 2000
      const policy = yield* RemotePolicy.make(endpoint, { attempts, deadline, attemptTimeout, breakerFailures: 100 })
      const { request, times } = yield* scripted(script)
      const start = yield* Clock.currentTimeMillis
      const ended = yield* Effect.fork(
        Effect.zip(Effect.exit(policy.run(request)), Clock.currentTimeMillis)
      )
      yield* TestClock.adjust("1 minute")
      const [exit, end] = yield* Fiber.join(ended)
      const seen = yield* times
      const answers = seen.map((_, i) => script[Math.min(i, script.length - 1)])
      const last = answers[answers.length - 1]
      assert.isAtMost(end - start, deadline + 0.01)
      assert.isAtMost(seen.length, attempts)
      gaps(seen).forEach((gap, i) => {
        const before = answers[i]
        if (before === "ok") return assert.fail("asked again after an answer")
        if (before !== "hang") assert.isTrue(before.retryable)
        const hint = before === "hang" ? 0 : before.retryAfter ?? 0
        const most = Math.min(8000, 500 * 2 ** i)
        const took = before === "hang" ? attemptTimeout : 0
        // Waits are fractions of a millisecond, and so are sums of them.
        between(gap - took, Math.max(hint, most * 0.75) - 0.01, Math.max(hint, most) + 0.01)
      })
      if (last === "ok") assert.deepStrictEqual(exit, Exit.succeed(seen.length - 1))
      else assert.isTrue(Exit.isFailure(exit))
    })))

  it.effect("refuses options that make no sense, and names them", () =>
    Effect.gen(function*() {
      const wrong: ReadonlyArray<[RemotePolicy.Options, string]> = [
        [{ attempts: 0 }, "policy.attempts is 0"],
        [{ attempts: 1.5 }, "policy.attempts is 1.5"],
        [{ attempts: Number.NaN }, "policy.attempts is NaN"],
        [{ attemptTimeout: 0 }, "policy.attemptTimeout is 0"],
        [{ deadline: Duration.infinity }, "policy.deadline is Duration(Infinity)"],
        [{ backoff: Number.NaN }, "policy.backoff is NaN"],
        [{ breakerFailures: -1 }, "policy.breakerFailures is -1"],
        [{ breakerCooldown: 0 }, "policy.breakerCooldown is 0"],
        [{ concurrency: 0 }, "policy.concurrency is 0"],
        [{ requestsPerMinute: 0 }, "policy.requestsPerMinute is 0"]
      ]
      for (const [options, start] of wrong) {
        const error = yield* Effect.flip(Effect.scoped(RemotePolicy.make(endpoint, options)))
        assert.isTrue(error.message.startsWith(`${start}: give a`), error.message)
      }
    }))
})
