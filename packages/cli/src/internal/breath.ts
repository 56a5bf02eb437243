/**
 * A replay is one long computation: now and then it must let Node look for signals, or nobody could stop it.
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Ref from "effect/Ref"

const intervalMillis = 50

/**
 * An effect to run between steps: it yields to the event loop where the last time is a while ago.
 *
 * @internal
 */
export const make: Effect.Effect<Effect.Effect<void>> = Effect.gen(function*() {
  const last = yield* Ref.make(yield* Clock.currentTimeMillis)
  return Effect.gen(function*() {
    const now = yield* Clock.currentTimeMillis
    const due = yield* Ref.modify(last, (before) => now - before < intervalMillis ? [false, before] : [true, now])
    // A fiber that only yields goes on in a microtask, before any signal.
    if (due) yield* Effect.sleep(0)
  })
})
