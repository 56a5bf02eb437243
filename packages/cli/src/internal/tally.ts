/**
 * Keeps count of what a service is asked. Calls come one after another.
 */
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Ref from "effect/Ref"
import { Asked } from "../Remote.js"

/** @internal */
export interface Tally {
  readonly asked: Effect.Effect<Asked>
  /** A request is sent. */
  readonly sent: Effect.Effect<void>
  /** Counts a call, and tells of the first one that fails. */
  readonly call: <A, E extends Error, R>(call: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
}

/** @internal */
export interface Options extends Pick<Asked, "use" | "name"> {
  /** What is done where the service fails, behind a semicolon. */
  readonly instead: string
  /** Tells a person. */
  readonly say: (sentence: string) => Effect.Effect<void>
}

/** @internal */
export const make = Effect.fnUntraced(function*(
  { instead, name, say, use }: Options
): Effect.fn.Return<Tally> {
  const state = yield* Ref.make(Asked.make({ use, name, requests: 0, retries: 0, failures: 0, fallbacks: 0 }))

  const ended = (before: Asked, failed: boolean) =>
    Ref.modify(state, (now): readonly [Asked, Asked] => {
      const requests = now.requests - before.requests
      return [now, {
        ...now,
        retries: now.retries + Math.max(0, requests - 1),
        failures: now.failures + (failed && requests > 0 ? 1 : 0),
        fallbacks: now.fallbacks + (failed ? 1 : 0)
      }]
    })

  return {
    asked: Ref.get(state),
    sent: Ref.update(state, (now) => ({ ...now, requests: now.requests + 1 })),
    call: (call) =>
      Effect.flatMap(Ref.get(state), (before) =>
        call.pipe(
          Effect.onExit((exit) => ended(before, Exit.isFailure(exit))),
          Effect.tapError((error) => before.fallbacks === 0 ? say(`${error.message}; ${instead}`) : Effect.void)
        ))
  }
})
