import { inspect } from "node:util"
import { FetchHttpClient } from "@effect/platform"
import { assert, describe, it } from "@effect/vitest"
import { Cause, Effect, Exit, Tracer } from "effect"
import { Message } from "effect-memory"
import { counters } from "./counters.js"
import { type Fault, listen } from "./servers/server.js"

const secret = "the vault opens at midnight"

/** Spans as they end. */
const recorder = Effect.sync(() => {
  const ended: Array<{ readonly name: string; readonly kind: string; readonly all: string }> = []
  const tracer = Tracer.make({
    span: (name, parent, context, links, startTime, kind) => {
      const attributes = new Map<string, unknown>()
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
          const cause = Exit.isFailure(exit) ? `${inspect(exit.cause, { depth: 10 })}${Cause.pretty(exit.cause)}` : ""
          ended.push({ name, kind, all: `${inspect(attributes)}${cause}` })
        },
        attribute: (key, value) => {
          attributes.set(key, value)
        },
        event: () => {},
        addLinks: () => {}
      }
    },
    context: (f) => f()
  })
  return { tracer, ended }
})

describe("spans of requests", () => {
  for (const each of counters) {
    it.scopedLive(`${each.name} shows where it asked, and neither key nor text where the connection breaks`, () =>
      Effect.gen(function*() {
        const { ended, tracer } = yield* recorder
        const faults: ReadonlyArray<Fault> = ["reset", "cut", { status: 500, body: "" }]
        const server = yield* listen(each.server, faults)
        const counter = yield* each.make({
          baseUrl: `${server.url}${each.path}`,
          policy: { attempts: 4, backoff: "1 millis", breakerFailures: 9 }
        })
        yield* Effect.withTracer(counter.countConversation?.([Message.user(secret)]) ?? Effect.void, tracer)
        const requests = ended.filter(({ name }) => name === "http.client POST")
        assert.deepStrictEqual(requests.map(({ kind }) => kind), ["client", "client", "client", "client"])
        for (const { all } of requests) assert.include(all, new URL(server.url).host)
        assert.include(requests[2].all, "'http.response.status_code' => 500")
        for (const { all, name } of ended) {
          assert.notInclude(all, "midnight", name)
          assert.notInclude(all, each.key, name)
        }
      }).pipe(Effect.provide(FetchHttpClient.layer)))

    it.scopedLive(`${each.name} shows nothing of the path of its base URL`, () =>
      Effect.gen(function*() {
        const { ended, tracer } = yield* recorder
        const server = yield* listen(each.server, ["reset"])
        const counter = yield* each.make({ baseUrl: `${server.url}/gateway-key${each.path}`, policy: { attempts: 1 } })
        yield* (counter.countConversation?.([Message.user(secret)]) ?? Effect.void).pipe(
          Effect.withTracer(tracer),
          Effect.exit
        )
        assert.isAbove(ended.length, 0)
        for (const { all, name } of ended) assert.notInclude(all, "gateway-key", name)
      }).pipe(Effect.provide(FetchHttpClient.layer)))
  }
})
