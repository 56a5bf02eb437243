/**
 * Listens to all that a program tells, in spans, logs and errors, for what must not be told.
 */
import { inspect } from "node:util"
import { Cause, Exit, Layer, Logger, LogLevel, Tracer } from "effect"
import { keys, secret } from "./services.js"

export interface Watch {
  readonly told: (value: unknown) => void
  readonly layer: Layer.Layer<never>
  /** How many things were told, and where a secret was. */
  readonly heard: () => { readonly things: number; readonly leaks: ReadonlyArray<string> }
}

const forbidden = [secret, ...keys]

/** As deep as errors are; what lies behind a span has no end. */
const shown = (value: unknown): string =>
  typeof value === "string" ? value : inspect(value, { depth: 8, maxArrayLength: 100, maxStringLength: 10_000 })

export const make = (): Watch => {
  let things = 0
  const leaks: Array<string> = []
  const tell = (where: string, text: string) => {
    things++
    const found = forbidden.findIndex((each) => text.includes(each))
    if (found >= 0) leaks.push(`${found === 0 ? "text of a message" : "a key"} in ${where}`)
  }
  const told = (value: unknown) => {
    tell("an error", shown(value))
    if (value instanceof Error) {
      tell("an error", `${value.message}\n${value.stack}\n${JSON.stringify(value)}`)
      tell("an error", Cause.pretty(Cause.fail(value), { renderErrorCause: true }))
    }
  }
  const tracer = Tracer.make({
    span: (name, parent, context, links, startTime, kind) => {
      const attributes = new Map<string, unknown>()
      tell("a span", name)
      return {
        _tag: "Span",
        name,
        spanId: "1",
        traceId: "1",
        parent,
        context,
        status: { _tag: "Started", startTime },
        attributes,
        links,
        sampled: true,
        kind,
        end: (_, exit) => {
          if (Exit.isFailure(exit)) {
            tell(`the cause of ${name}`, shown(exit.cause))
            tell(`span ${name}`, Cause.pretty(exit.cause, { renderErrorCause: true }))
          }
        },
        attribute: (key, value) => tell(`attribute ${key} of ${name}`, shown(value)),
        event: (event, _, attributes) => tell(`event of ${name}`, `${event} ${shown(attributes)}`),
        addLinks: () => {}
      }
    },
    context: (f) => f()
  })
  const logger = Logger.make((options) => {
    tell("a log", shown([options.message, [...options.annotations], options.spans]))
    if (!Cause.isEmpty(options.cause)) tell("a log", Cause.pretty(options.cause, { renderErrorCause: true }))
  })
  return {
    told,
    layer: Layer.mergeAll(
      Layer.setTracer(tracer),
      Logger.replace(Logger.defaultLogger, logger),
      Logger.minimumLogLevel(LogLevel.All)
    ),
    heard: () => ({ things, leaks })
  }
}
