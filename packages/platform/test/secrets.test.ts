import { inspect } from "node:util"
import { HttpClient } from "@effect/platform"
import { assert, describe, it } from "@effect/vitest"
import { Cause, Effect, Exit, Fiber, Layer, Logger, LogLevel, Metric, TestClock, Tracer } from "effect"
import { Message } from "effect-memory"
import { counters } from "./counters.js"
import { client, type Fault } from "./servers/server.js"

const secret = "the vault opens at midnight"

const messages = [
  Message.system(`${secret} (system)`),
  Message.user(secret),
  Message.assistant([Message.toolCall({ id: "c1", name: "open", params: { when: secret } })]),
  Message.tool([Message.toolResult({ id: "c1", name: "open", result: secret })])
]

/** As deep as errors are; what lies behind a span has no end. */
const shown = (value: unknown): string => inspect(value, { depth: 10, maxArrayLength: 100, maxStringLength: 10_000 })

/** Everything that a span was told. */
const recorder = Effect.sync(() => {
  const told: Array<string> = []
  const tracer = Tracer.make({
    span: (name, parent, context, links, startTime, kind) => {
      const attributes = new Map<string, unknown>()
      told.push(name)
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
          if (Exit.isFailure(exit)) told.push(shown(exit.cause))
          if (Exit.isFailure(exit)) told.push(Cause.pretty(exit.cause, { renderErrorCause: true }))
        },
        attribute: (key, value) => {
          told.push(`${key}: ${shown(value)}`)
        },
        event: (name, _, attributes) => {
          told.push(name, shown(attributes))
        },
        addLinks: () => {}
      }
    },
    context: (f) => f()
  })
  return { tracer, told }
})

const faultsOf = (key: string): ReadonlyArray<ReadonlyArray<Fault>> => [
  [],
  ["hang", "hang", "hang"],
  ...[200, 302, 400, 401, 404, 413, 429, 500].flatMap((status): ReadonlyArray<ReadonlyArray<Fault>> => {
    const echo = `${secret} ${key}`
    const replies: ReadonlyArray<Fault> = [
      { status, headers: { "request-id": echo, "retry-after": echo }, body: { error: { type: echo, message: echo } } },
      { status, body: `<html>${echo}</html>` },
      { status, body: { input_tokens: echo, totalTokens: echo, count: echo, [echo]: echo } }
    ]
    return replies.map((reply) => [reply, reply, reply])
  })
]

describe("secrets", () => {
  for (const each of counters) {
    it.scoped(`${each.name} shows neither key nor text, whatever the service says`, () =>
      Effect.gen(function*() {
        const { told, tracer } = yield* recorder
        const logger = Logger.make((options) => {
          told.push(shown([options.message, [...options.annotations], options.spans]))
          if (!Cause.isEmpty(options.cause)) told.push(Cause.pretty(options.cause, { renderErrorCause: true }))
        })
        for (const faults of faultsOf(each.key)) {
          const server = yield* client(each.server, faults)
          const counter = yield* each.make().pipe(Effect.provideService(HttpClient.HttpClient, server.client))
          const counted = Effect.exit(counter.countConversation?.(messages) ?? Effect.die("no count")).pipe(
            Effect.tap((exit) => Exit.isFailure(exit) ? Effect.logError("failed", exit.cause) : Effect.void),
            Effect.withTracer(tracer),
            Effect.provide(
              Layer.merge(Logger.replace(Logger.defaultLogger, logger), Logger.minimumLogLevel(LogLevel.All))
            )
          )
          const fiber = yield* Effect.fork(counted)
          yield* TestClock.adjust("1 minute")
          const exit = yield* Fiber.join(fiber)
          told.push(shown(exit), inspect(exit, { depth: 3 }), String(exit))
          if (Exit.isFailure(exit)) {
            told.push(Cause.pretty(exit.cause, { renderErrorCause: true }), JSON.stringify(exit.cause))
            const [failure] = Cause.failures(exit.cause)
            told.push(failure.message, String(failure), JSON.stringify(failure), failure.stack ?? "")
          }
          assert.isNotEmpty(yield* server.seen)
        }
        told.push(shown(yield* Metric.snapshot))
        const all = told.join("\n")
        assert.include(all, `${each.name}.countConversation`)
        assert.include(all, "http.client POST")
        for (const line of all.split("\n")) {
          assert.notInclude(line, "midnight")
          assert.notInclude(line, each.key)
        }
      }))
  }
})
