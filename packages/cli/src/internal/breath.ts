/**
 * A replay is one long computation: now and then it must let Node look for signals, or nobody could stop it.
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Ref from "effect/Ref"

const intervalMillis = 50

/** @internal */
export interface Breath {
  /** To run between steps: yields to the event loop where the last time is a while ago. */
  readonly breathe: Effect.Effect<void>
}

/** @internal */
export const make: Effect.Effect<Breath> = Effect.gen(function*() {
  const last = yield* Ref.make(yield* Clock.currentTimeMillis)
  const breathe = Effect.gen(function*() {
    const now = yield* Clock.currentTimeMillis
    const due = yield* Ref.modify(last, (before) => now - before < intervalMillis ? [false, before] : [true, now])
    // A fiber that only yields goes on in a microtask, before any signal.
    if (due) yield* Effect.sleep(0)
  })
  return { breathe }
})
