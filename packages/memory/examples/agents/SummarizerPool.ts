/**
 * One summarizer for many agents, of which only so many are served at a time.
 */
import { Effect, Layer } from "effect"
import { Summarizer } from "effect-memory"

/** Who waits and is interrupted leaves the queue; who is served and is interrupted gives the permit back. */
export const bounded = (self: Summarizer.Service, permits: number): Effect.Effect<Summarizer.Service> =>
  Effect.map(Effect.makeSemaphore(permits), (semaphore) => ({
    summarize: (request) => semaphore.withPermits(1)(self.summarize(request))
  }))

/** Takes a summarizer from outside and hands it on, bounded. */
export const layer = (permits: number): Layer.Layer<Summarizer.Summarizer, never, Summarizer.Summarizer> =>
  Layer.effect(
    Summarizer.Summarizer,
    Effect.flatMap(Summarizer.Summarizer, (summarizer) => bounded(summarizer, permits))
  )
