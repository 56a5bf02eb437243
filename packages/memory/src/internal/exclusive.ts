/**
 * One at a time, cheaply where nobody waits.
 */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"

/**
 * Runs an effect under the only permit of a semaphore. A free permit is taken without the asynchronous step that
 * `withPermits` always makes.
 *
 * @internal
 */
export const exclusive = (semaphore: Effect.Semaphore) => <A, E, R>(self: Effect.Effect<A, E, R>) =>
  Effect.flatMap(
    semaphore.withPermitsIfAvailable(1)(self),
    (result) => Option.isSome(result) ? Effect.succeed(result.value) : semaphore.withPermits(1)(self)
  )
