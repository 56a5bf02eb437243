/**
 * How a remote service is asked: how often, how long, how fast, and when no more.
 *
 * What may pass is tried again after an exponential back-off with jitter, or after the wait that the service asks for
 * where that is longer. What cannot succeed is not tried again: a used-up quota, a bad key, an unknown model, a request
 * that is too large or refused. A deadline holds for all attempts with their waits: a service that asks to wait beyond
 * it is not waited for. After repeated failures the circuit opens, and calls fail at once; when it has cooled down, one
 * call goes through as a probe. A route that the service does not have is asked once.
 *
 * @example
 * ```ts
 * import { deepStrictEqual } from "node:assert"
 * import { Effect, Ref } from "effect"
 * import { RemoteError, RemotePolicy } from "@effect-memory/platform"
 *
 * const endpoint = { service: "weather", operation: "forecast" }
 *
 * const program = Effect.gen(function*() {
 *   const policy = yield* RemotePolicy.make(endpoint, { backoff: "1 millis" })
 *   const attempts = yield* Ref.make(0)
 *   const forecast = Effect.flatMap(Ref.updateAndGet(attempts, (n) => n + 1), (n) =>
 *     n < 3
 *       ? Effect.fail(new RemoteError.RemoteError({ ...endpoint, kind: "unavailable", retryable: true, status: 503 }))
 *       : Effect.succeed("sun"))
 *   return { forecast: yield* policy.run(forecast), attempts: yield* Ref.get(attempts) }
 * })
 *
 * const found = await Effect.runPromise(program)
 *
 * deepStrictEqual(found, { forecast: "sun", attempts: 3 })
 * ```
 *
 * @since 0.1.0
 */
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Metric from "effect/Metric"
import * as Option from "effect/Option"
import * as Ref from "effect/Ref"
import * as Schedule from "effect/Schedule"
import * as ScheduleDecision from "effect/ScheduleDecision"
import * as circuit from "./internal/circuit.js"
import * as paces from "./internal/pace.js"
import * as settings from "./internal/settings.js"
import * as PlatformMetrics from "./PlatformMetrics.js"
import { type InvalidOption, type Kind, RemoteError } from "./RemoteError.js"

// =============================================================================
// Models
// =============================================================================

/**
 * @since 0.1.0
 * @category models
 */
export interface Options {
  /** Attempts in all. Default 3. */
  readonly attempts?: number | undefined
  /** Time limit of one attempt. Default 30 seconds. */
  readonly attemptTimeout?: Duration.DurationInput | undefined
  /** Time limit of a call with all its attempts and waits. Default 1 minute. */
  readonly deadline?: Duration.DurationInput | undefined
  /** Wait before the second attempt, less up to a quarter; it doubles up to 8 seconds. Default 500 milliseconds. */
  readonly backoff?: Duration.DurationInput | undefined
  /** Failed attempts in a row after which the circuit opens. Default 5. */
  readonly breakerFailures?: number | undefined
  /** How long the circuit stays open. Default 30 seconds. */
  readonly breakerCooldown?: Duration.DurationInput | undefined
  /** Attempts at a time. Default 4. */
  readonly concurrency?: number | undefined
  /**
   * Attempts that may start in any minute; a call whose turn would come after its deadline fails when it is next in line.
   * Default: no limit.
   */
  readonly requestsPerMinute?: number | undefined
}

/**
 * What is asked, as errors and metrics name it.
 *
 * @since 0.1.0
 * @category models
 */
export interface Endpoint {
  /** Which service, such as `anthropic`. */
  readonly service: string
  /** What is asked of it, such as `count_tokens`. */
  readonly operation: string
}

/**
 * The policy of one endpoint, with what it knows of it: the state of the circuit and the requests of the last minute.
 *
 * @since 0.1.0
 * @category models
 */
export interface RemotePolicy {
  /** Runs a request, each attempt anew. Its interruption ends the attempt under way. */
  readonly run: <A, R>(request: Effect.Effect<A, RemoteError, R>) => Effect.Effect<A, RemoteError, R>
  /** Fails as `run` would while it asks nothing: what a request takes to prepare is saved. It asks nothing itself. */
  readonly admit: Effect.Effect<void, RemoteError>
}

// =============================================================================
// Constructors
// =============================================================================

/** Failures of a request by itself: the service is there. */
const healthy: ReadonlyArray<Kind> = ["invalidRequest", "tooLarge"]

const unlimited = Number.MAX_SAFE_INTEGER

/** In milliseconds. */
const maxBackoff = 8_000

const checked = (options: Options) =>
  Effect.all({
    attempts: settings.whole("policy.attempts", options.attempts ?? 3, 1),
    attemptTimeout: settings.millis("policy.attemptTimeout", options.attemptTimeout ?? "30 seconds"),
    deadline: settings.millis("policy.deadline", options.deadline ?? "1 minute"),
    backoff: settings.millis("policy.backoff", options.backoff ?? "500 millis"),
    failures: settings.whole("policy.breakerFailures", options.breakerFailures ?? 5, 1),
    cooldown: settings.millis("policy.breakerCooldown", options.breakerCooldown ?? "30 seconds"),
    concurrency: settings.whole("policy.concurrency", options.concurrency ?? 4, 1),
    requestsPerMinute: settings.whole("policy.requestsPerMinute", options.requestsPerMinute ?? unlimited, 1)
  })

/** Each attempt waits for a place, and there for its turn: what begins a turn begins at once. */
const makeTurns = Effect.fnUntraced(function*(endpoint: Endpoint, concurrency: number, requestsPerMinute: number) {
  const places = yield* Effect.makeSemaphore(concurrency)
  const pace = requestsPerMinute === unlimited ? undefined : yield* paces.make(requestsPerMinute)
  const noTurn = () => new RemoteError({ ...endpoint, kind: "rateLimited", retryable: false })
  return <A, R>(attempt: Effect.Effect<A, RemoteError, R>, end: number): Effect.Effect<A, RemoteError, R> =>
    places.withPermits(1)(
      pace === undefined ? attempt : Effect.flatMap(
        pace(end),
        (isTurn): Effect.Effect<A, RemoteError, R> => isTurn ? attempt : Effect.fail(noTurn())
      )
    )
})

/** Runs attempts where the circuit admits them, and learns from what becomes of them. */
const makeCircuit = Effect.fnUntraced(function*(endpoint: Endpoint, options: circuit.Options) {
  const state = yield* Ref.make(circuit.closed)
  const opened = Metric.tagged(PlatformMetrics.circuitsOpened, "service", endpoint.service)
  const turnedOff = Metric.tagged(PlatformMetrics.routesOff, "service", endpoint.service)
  const isAdmitting = Effect.zipWith(Ref.get(state), Clock.currentTimeMillis, circuit.admits)
  // Made once: checking an error by its schema takes longer than all else that is done without the service.
  const refusals = {
    noRoute: new RemoteError({ ...endpoint, kind: "noRoute", retryable: false }),
    circuitOpen: new RemoteError({ ...endpoint, kind: "circuitOpen", retryable: false })
  }
  const refused = Effect.flatMap(
    Ref.get(state),
    ({ _tag }) => Effect.fail(_tag === "Off" ? refusals.noRoute : refusals.circuitOpen)
  )
  /** While a probe runs, what began before it says nothing. */
  const judged = (before: circuit.State, isProbe: boolean, after: circuit.State): circuit.State =>
    before._tag === "Probing" && !isProbe ? before : after
  const failed = (isProbe: boolean) =>
    Effect.flatMap(
      Clock.currentTimeMillis,
      (now) =>
        Effect.flatMap(
          Ref.modify(state, (before) => {
            const after = judged(before, isProbe, circuit.failed(before, now, options))
            return [after._tag === "Open" && before._tag !== "Open", after]
          }),
          (isNew) => Effect.when(Metric.increment(opened), () => isNew)
        )
    )
  const switchOff = Effect.flatMap(
    Ref.getAndSet(state, circuit.off),
    (before) => Effect.when(Metric.increment(turnedOff), () => before._tag !== "Off")
  )
  /** An attempt that is cut off by the deadline did fail; one that a caller gave up says nothing. */
  const learn = (exit: Exit.Exit<unknown, RemoteError>, end: number, isProbe: boolean) => {
    const succeeded = Ref.update(state, (before) => judged(before, isProbe, circuit.succeeded(before)))
    const released = (now: number) =>
      Ref.update(state, (before) => judged(before, isProbe, circuit.released(before, now)))
    return Exit.matchEffect(exit, {
      onSuccess: () => succeeded,
      onFailure: (cause) =>
        Option.match(Cause.failureOption(cause), {
          onNone: () =>
            Effect.flatMap(
              Clock.currentTimeMillis,
              (now) => now >= end ? failed(isProbe) : released(now)
            ),
          onSome: ({ kind }) =>
            kind === "noRoute"
              ? switchOff
              : healthy.includes(kind)
              ? succeeded
              : failed(isProbe)
        })
    })
  }
  const guard = <A, R>(attempt: Effect.Effect<A, RemoteError, R>, end: number): Effect.Effect<A, RemoteError, R> =>
    Effect.uninterruptibleMask((restore) =>
      Effect.flatMap(Clock.currentTimeMillis, (now) =>
        Effect.flatMap(
          Ref.modify(state, (before) =>
            circuit.admits(before, now)
              ? [{ isProbe: before._tag === "Open" }, circuit.started(before)]
              : [undefined, before]),
          (admitted) =>
            admitted === undefined
              ? refused
              : Effect.onExit(restore(attempt), (exit) => learn(exit, end, admitted.isProbe))
        ))
    )
  return { isAdmitting, refused, guard }
})

/**
 * The policy of an endpoint. Fails with `InvalidOption` where an option makes no sense.
 *
 * @since 0.1.0
 * @category constructors
 */
export const make: (
  endpoint: Endpoint,
  options?: Options
) => Effect.Effect<RemotePolicy, InvalidOption> = Effect.fnUntraced(function*(endpoint, options = {}) {
  const known = yield* checked(options)
  const turns = yield* makeTurns(endpoint, known.concurrency, known.requestsPerMinute)
  const { guard, isAdmitting, refused } = yield* makeCircuit(endpoint, known)
  const tagged = <Type, In, Out>(metric: Metric.Metric<Type, In, Out>) =>
    Metric.tagged(metric, "service", endpoint.service)
  const [requests, retries, latency] = [
    tagged(PlatformMetrics.requests),
    tagged(PlatformMetrics.retries),
    tagged(PlatformMetrics.latency)
  ]
  const failures = tagged(PlatformMetrics.failures)

  const trackLatency = (begun: number) =>
    Effect.flatMap(Clock.currentTimeMillis, (now) => Metric.update(latency, Duration.millis(now - begun)))

  const timedOut = () => new RemoteError({ ...endpoint, kind: "timeout", retryable: true })

  const schedule = (end: number) =>
    Schedule.exponential(known.backoff).pipe(
      Schedule.union(Schedule.spaced(Math.max(known.backoff, maxBackoff))),
      Schedule.jitteredWith({ min: 0.75, max: 1 }),
      Schedule.intersect(Schedule.identity<RemoteError>()),
      Schedule.modifyDelay(([, { retryAfter = 0 }], delay) => Duration.max(delay, retryAfter)),
      Schedule.delays,
      // What comes after the deadline need not be waited for.
      Schedule.whileOutputEffect((delay) =>
        Effect.map(Clock.currentTimeMillis, (now) => now + Duration.toMillis(delay) < end)
      ),
      Schedule.intersect(Schedule.recurs(known.attempts - 1)),
      Schedule.whileInputEffect(({ retryable }) => retryable ? isAdmitting : Effect.succeed(false)),
      Schedule.onDecision(([, n], decision) =>
        Effect.when(
          Effect.zipRight(Metric.increment(retries), Effect.annotateCurrentSpan("remote.retries", n + 1)),
          () => ScheduleDecision.isContinue(decision)
        )
      )
    )

  const failuresOf = (kind: Kind) => Metric.tagged(failures, "kind", kind)
  // Made once: it is taken for every context while a service is down.
  const refusals = { circuitOpen: failuresOf("circuitOpen"), noRoute: failuresOf("noRoute") }
  const count = ({ kind }: RemoteError) =>
    Metric.increment(kind === "circuitOpen" || kind === "noRoute" ? refusals[kind] : failuresOf(kind))

  return {
    admit: Effect.flatMap(isAdmitting, (admitting) => admitting ? Effect.void : Effect.tapError(refused, count)),
    run: (request) => {
      const attempt = request.pipe(
        Effect.timeoutFail({ duration: known.attemptTimeout, onTimeout: timedOut }),
        (attempt) => Effect.flatMap(Clock.currentTimeMillis, (begun) => Effect.ensuring(attempt, trackLatency(begun))),
        (timed) => Effect.zipRight(Metric.increment(requests), timed)
      )
      return Effect.flatMap(Clock.currentTimeMillis, (now) => {
        const end = now + known.deadline
        const admitted = Effect.flatMap(
          isAdmitting,
          (admitting) => admitting ? turns(guard(attempt, end), end) : refused
        )
        return admitted.pipe(
          Effect.retry(schedule(end)),
          Effect.timeoutFail({ duration: known.deadline, onTimeout: timedOut }),
          Effect.tapError((error) =>
            Effect.zipRight(
              count(error),
              Effect.annotateCurrentSpan({
                "remote.failure": error.kind,
                ...(error.status === undefined ? {} : { "remote.status": error.status })
              })
            )
          )
        )
      })
    }
  }
})
