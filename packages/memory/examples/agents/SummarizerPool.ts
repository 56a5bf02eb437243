/**
 * One summarizer for many agents, of which only so many are served at a time.
 */
import { Effect, Layer } from "effect"
import { Summarizer } from "effect-memory"

/** Takes a summarizer from outside and hands it on. Who is interrupted leaves the queue, or gives the permit back. */
export const layer = (permits: number): Layer.Layer<Summarizer.Summarizer, never, Summarizer.Summarizer> =>
  Layer.effect(
    Summarizer.Summarizer,
    Effect.zipWith(Summarizer.Summarizer, Effect.makeSemaphore(permits), ({ summarize }, semaphore) => ({
      summarize: (request) => semaphore.withPermits(1)(summarize(request))
    }))
  )
