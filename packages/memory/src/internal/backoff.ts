/**
 * When a task that failed may be tried again: a schedule, stepped once for each failure and started anew by a success.
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Schedule from "effect/Schedule"
import * as Decision from "effect/ScheduleDecision"
import * as Intervals from "effect/ScheduleIntervals"
import * as SynchronizedRef from "effect/SynchronizedRef"

/** 1 s, doubling up to 5 min. @internal */
export const defaultSchedule: Schedule.Schedule<unknown> = Schedule.union(
  Schedule.exponential("1 second"),
  Schedule.spaced("5 minutes")
)

/** @internal */
export interface Backoff {
  /** Whether a try is due. */
  readonly isDue: Effect.Effect<boolean>
  /** Notes a failure and answers when the next try is due, in milliseconds since the epoch; `Infinity` for never. */
  readonly failed: Effect.Effect<number>
  readonly succeeded: Effect.Effect<void>
}

/** @internal */
export const make = <Out>(schedule: Schedule.Schedule<Out>): Effect.Effect<Backoff> =>
  Effect.map(SynchronizedRef.make({ state: schedule.initial as unknown, due: 0 }), (ref) => ({
    isDue: Effect.zipWith(Clock.currentTimeMillis, SynchronizedRef.get(ref), (now, { due }) => now >= due),
    failed: SynchronizedRef.modifyEffect(
      ref,
      Effect.fnUntraced(function*({ state }) {
        const now = yield* Clock.currentTimeMillis
        const [next, , decision] = yield* schedule.step(now, undefined, state)
        const due = Decision.isContinue(decision) ? Intervals.start(decision.intervals) : Infinity
        return [due, { state: next, due }] as const
      })
    ),
    succeeded: SynchronizedRef.set(ref, { state: schedule.initial, due: 0 })
  }))
