/**
 * A lock for each conversation, and what is known of it. Those in use are kept, and the last ones used.
 */
import * as Effect from "effect/Effect"

/** @internal */
export interface Slot<A> {
  /** What its last user left; `undefined` where that is in doubt. */
  known: A | undefined
}

interface Held<A> extends Slot<A> {
  readonly semaphore: Effect.Semaphore
  users: number
}

/** @internal */
export interface Slots<A> {
  /** How many are kept at the moment. */
  readonly size: Effect.Effect<number>
  /** Runs an effect while nobody else uses this slot. */
  readonly use: <B, E>(id: string, f: (slot: Slot<A>) => Effect.Effect<B, E>) => Effect.Effect<B, E>
}

/** Keeps up to `capacity` slots that nobody uses. @internal */
export const make = <A>(capacity: number): Slots<A> => {
  const slots = new Map<string, Held<A>>()

  const take = (id: string): Held<A> => {
    const slot = slots.get(id) ?? { known: undefined, semaphore: Effect.unsafeMakeSemaphore(1), users: 0 }
    slot.users++
    // At the end of the map stand those used last.
    slots.delete(id)
    slots.set(id, slot)
    return slot
  }

  const leave = (slot: Held<A>): void => {
    slot.users--
    if (slots.size <= capacity) return
    for (const [id, { users }] of slots) {
      if (users === 0) slots.delete(id)
      if (slots.size <= capacity) return
    }
  }

  return {
    size: Effect.sync(() => slots.size),
    use: (id, f) =>
      Effect.acquireUseRelease(
        Effect.sync(() => take(id)),
        (slot) => slot.semaphore.withPermits(1)(Effect.suspend(() => f(slot))),
        (slot) => Effect.sync(() => leave(slot))
      )
  }
}
