/**
 * Spans of operations that are cheaper than a span.
 */
import * as Context from "effect/Context"
import * as DefaultServices from "effect/DefaultServices"
import * as Effect from "effect/Effect"
import type { LazyArg } from "effect/Function"
import * as Tracer from "effect/Tracer"

const defaultTracer = Context.get(DefaultServices.liveServices, Tracer.Tracer)

/**
 * A span with this name, unless nobody could see it: no tracer is installed and no span is open around it.
 *
 * `describe` gives the attributes of a success.
 *
 * @internal
 */
export const spanned = <A, E, R>(
  self: LazyArg<Effect.Effect<A, E, R>>,
  name: string,
  attributes: Record<string, unknown>,
  describe?: (a: A) => Record<string, unknown>
): Effect.Effect<A, E, R> =>
  Effect.withFiberRuntime(({ currentSpan, currentTracer }) => {
    if (currentTracer === defaultTracer && currentSpan === undefined) return self()
    const effect = Effect.suspend(self)
    const described = describe === undefined
      ? effect
      : Effect.tap(effect, (a) => Effect.annotateCurrentSpan(describe(a)))
    return Effect.withSpan(described, name, { captureStackTrace: false, attributes })
  })
