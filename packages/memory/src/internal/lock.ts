/**
 * One at a time, in turn. A semaphore of `effect` suspends the fiber even where nobody waits, which takes longer than all
 * the rest of a write that stays in memory.
 */
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as FiberId from "effect/FiberId"

/** Makes what runs within an uninterruptible effect as interruptible as its caller is. @internal */
export type Restore = <A, E, R>(self: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>

/**
 * Runs what it is given under the lock, uninterruptibly but for what is restored.
 *
 * @internal
 */
export type Lock = <A, E, R>(body: (restore: Restore) => Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>

/** @internal */
export const make: Effect.Effect<Lock> = Effect.sync(() => {
  let held = false
  const waiting = new Set<Deferred.Deferred<void>>()

  /** Hands the lock on. Whoever is handed it owns it, also if it is interrupted before it runs. */
  const release = (): void => {
    const [next] = waiting
    if (next === undefined) {
      held = false
    } else {
      waiting.delete(next)
      Deferred.unsafeDone(next, Effect.void)
    }
  }

  const turn = (restore: Restore): Effect.Effect<void> =>
    Effect.suspend(() => {
      const mine = Deferred.unsafeMake<void>(FiberId.none)
      waiting.add(mine)
      return Effect.tapErrorCause(restore(Deferred.await(mine)), () =>
        Effect.sync(() => {
          if (!waiting.delete(mine)) release()
        }))
    })

  const holding = <A, E, R>(body: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Effect.matchCauseEffect(body, {
      onFailure: (cause) =>
        Effect.suspend(() => {
          release()
          return Effect.failCause(cause)
        }),
      onSuccess: (a) =>
        Effect.sync(() => {
          release()
          return a
        })
    })

  return (body) =>
    Effect.uninterruptibleMask((restore) => {
      const run = holding(body(restore))
      if (held) return Effect.zipRight(turn(restore), run)
      held = true
      return run
    })
})
