/**
 * Turns in line, of which no more than so many begin in any minute. A bucket that refills lets through a burst and what is
 * refilled behind it: twice as many.
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as MutableList from "effect/MutableList"

/** Begins a turn when there is one; false where that is not before `end`, in milliseconds since the epoch. @internal */
export type Pace = (end: number) => Effect.Effect<boolean>

const minute = 60_000

/** @internal */
export const make = (perMinute: number): Effect.Effect<Pace> =>
  Effect.map(Effect.makeSemaphore(1), (line) => {
    /** When the turns of the last minute began. */
    const begun = MutableList.empty<number>()
    /** Begins a turn and answers 0, or how long there is none. */
    const begin = (now: number): number => {
      const oldest = MutableList.head(begun)
      const wait = oldest === undefined || MutableList.length(begun) < perMinute
        ? 0
        : Math.min(minute, oldest + minute - now)
      if (wait > 0) return wait
      if (MutableList.length(begun) >= perMinute) MutableList.shift(begun)
      MutableList.append(begun, now)
      return 0
    }
    const turn = (end: number): Effect.Effect<boolean> =>
      Effect.flatMap(Clock.currentTimeMillis, (now) => {
        const wait = begin(now)
        if (wait === 0) return Effect.succeed(true)
        // Timers may be early: who has waited looks again.
        return now + wait >= end ? Effect.succeed(false) : Effect.zipRight(Effect.sleep(wait), turn(end))
      })
    // Who gives up in line has taken no turn.
    return (end) => line.withPermits(1)(turn(end))
  })
