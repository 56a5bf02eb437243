/**
 * What happens in a memory, for whoever listens. Where nobody does, no event is made.
 */
import * as Effect from "effect/Effect"
import type { LazyArg } from "effect/Function"
import * as MutableRef from "effect/MutableRef"
import * as PubSub from "effect/PubSub"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import type { MemoryEvent } from "../MemoryEvent.js"

/** A slow reader misses the oldest events. */
const capacity = 256

/** @internal */
export interface Events {
  /** Tells what has just happened: whether somebody listens is seen at once. */
  readonly publish: (event: LazyArg<MemoryEvent>) => Effect.Effect<unknown>
  readonly stream: Stream.Stream<MemoryEvent>
}

/** @internal */
export const make: Effect.Effect<Events, never, Scope.Scope> = Effect.map(
  Effect.acquireRelease(PubSub.sliding<MemoryEvent>(capacity), PubSub.shutdown),
  (events) => {
    const listeners = MutableRef.make(0)
    const listening = Effect.acquireRelease(
      Effect.sync(() => MutableRef.increment(listeners)),
      () => Effect.sync(() => MutableRef.decrement(listeners))
    )
    return {
      publish: (event) => MutableRef.get(listeners) === 0 ? Effect.void : PubSub.publish(events, event()),
      stream: Stream.unwrapScoped(Effect.as(listening, Stream.fromPubSub(events)))
    }
  }
)
