/**
 * One task at a time, in a scope of its own: whoever asks while it runs waits for it, and whoever gives up waiting does
 * not end it.
 */
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Ref from "effect/Ref"
import type * as Scope from "effect/Scope"

/** @internal */
export interface Flight<E> {
  /** Starts the task unless one is running, and waits for the one that runs. */
  readonly join: (task: Effect.Effect<void, E>) => Effect.Effect<void, E>
  /** Starts the task unless one is running. */
  readonly start: (task: Effect.Effect<void, E>) => Effect.Effect<void>
  /** Waits until no other task runs, then starts this one and waits for it. */
  readonly exclusive: (task: Effect.Effect<void, E>) => Effect.Effect<void, E>
}

/** @internal */
export const make = Effect.fnUntraced(function*<E>(scope: Scope.Scope): Effect.fn.Return<Flight<E>> {
  const current = yield* Ref.make<Deferred.Deferred<void, E> | undefined>(undefined)

  const launch = (task: Effect.Effect<void, E>) =>
    Effect.uninterruptible(Effect.gen(function*() {
      const own = yield* Deferred.make<void, E>()
      const running = yield* Ref.modify(current, (other) => [other, other ?? own])
      if (running !== undefined) return { deferred: running, started: false }
      yield* Effect.interruptible(task).pipe(
        Effect.onExit((exit) => Effect.zipRight(Ref.set(current, undefined), Deferred.done(own, exit))),
        Effect.forkIn(scope)
      )
      return { deferred: own, started: true }
    }))

  const join: Flight<E>["join"] = (task) => Effect.flatMap(launch(task), ({ deferred }) => Deferred.await(deferred))

  const exclusive: Flight<E>["exclusive"] = (task) =>
    Effect.flatMap(launch(task), ({ deferred, started }) =>
      started
        ? Deferred.await(deferred)
        : Effect.zipRight(Effect.exit(Deferred.await(deferred)), exclusive(task)))

  return { join, exclusive, start: (task) => Effect.asVoid(launch(task)) }
})
