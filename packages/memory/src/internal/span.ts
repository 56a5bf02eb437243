/**
 * Spans of operations that are cheaper than a span.
 */
import * as Context from "effect/Context"
import * as DefaultServices from "effect/DefaultServices"
import * as Effect from "effect/Effect"
import * as FiberRef from "effect/FiberRef"
import * as Option from "effect/Option"
import * as Tracer from "effect/Tracer"

const defaultTracer = Context.get(DefaultServices.liveServices, Tracer.Tracer)

/**
 * A span with this name, unless nobody could see it: no tracer is installed and no span is open around it.
 *
 * `describe` gives the attributes of a success.
 *
 * @internal
 */
export const spanned = <A = unknown>(
  name: string,
  attributes: Record<string, unknown>,
  describe: (a: A) => Record<string, unknown> = () => ({})
) =>
<B extends A, E, R>(self: Effect.Effect<B, E, R>): Effect.Effect<B, E, R> => {
  const traced = self.pipe(
    Effect.tap((a) => Effect.annotateCurrentSpan(describe(a))),
    Effect.withSpan(name, { captureStackTrace: false, attributes })
  )
  return Effect.withFiberRuntime((fiber) => {
    const tracer = Context.get(fiber.getFiberRef(DefaultServices.currentServices), Tracer.Tracer)
    const seen = tracer !== defaultTracer ||
      Option.isSome(Context.getOption(fiber.getFiberRef(FiberRef.currentContext), Tracer.ParentSpan))
    return seen ? traced : self
  })
}
