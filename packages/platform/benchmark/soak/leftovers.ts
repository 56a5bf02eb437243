/**
 * What a program leaves behind.
 */
import { Effect, Supervisor } from "effect"

/** Runs an effect, and answers how many of the fibers that it started are still there when it has ended. */
export const fibersLeft = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<readonly [A, number], E, R> =>
  Effect.gen(function*() {
    const supervisor = yield* Supervisor.track
    const found = yield* Effect.supervised(effect, supervisor)
    // What was interrupted without being waited for ends in its own time.
    for (let i = 0; i < 100; i++) yield* Effect.yieldNow()
    const fibers = yield* supervisor.value
    return [found, fibers.filter((fiber) => fiber.unsafePoll() === null).length] as const
  })

/** Sockets and servers of this process that are open. */
export const socketsOpen: Effect.Effect<number> = Effect.sync(() =>
  process.getActiveResourcesInfo().filter((name) => name.startsWith("TCP")).length
)
