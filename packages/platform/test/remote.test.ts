import { FetchHttpClient, HttpClient } from "@effect/platform"
import { assert, describe, it } from "@effect/vitest"
import { Cause, Effect, Fiber, Redacted, Schema } from "effect"
import * as remote from "../src/internal/remote.js"
import { anthropic, error } from "./servers/anthropic.js"
import { type Fault, listen, type Reply } from "./servers/server.js"

const body = JSON.stringify({ model: "claude-x", messages: [{ role: "user", content: "a secret of mine" }] })

const Answer = Schema.Struct({ input_tokens: Schema.Number })

/** Asks once, over a socket. */
const ask = (script: ReadonlyArray<Fault> = [], key = "sk-ant-valid") =>
  Effect.gen(function*() {
    const server = yield* listen(anthropic(), script)
    const client = yield* HttpClient.HttpClient
    const post = remote.post(client, {
      service: "anthropic",
      operation: "count_tokens",
      url: `${server.url}/v1/messages/count_tokens`,
      path: "/v1/messages/count_tokens",
      headers: { "x-api-key": Redacted.make(key), "anthropic-version": "2023-06-01" }
    }, Answer)
    return { server, answer: post(body) }
  }).pipe(Effect.provide(FetchHttpClient.layer))

const failureOf = (script: ReadonlyArray<Fault>) =>
  Effect.gen(function*() {
    const { answer } = yield* ask(script)
    return yield* Effect.flip(answer)
  })

describe("remote", () => {
  it.scopedLive("posts JSON and lets unknown fields pass", () =>
    Effect.gen(function*() {
      const { answer, server } = yield* ask()
      assert.isAbove((yield* answer).input_tokens, 8)
      const [seen] = yield* server.seen
      assert.deepStrictEqual(seen.body, JSON.parse(body))
      assert.strictEqual(seen.headers["content-type"], "application/json")
    }))

  it.scopedLive("tells what went wrong, with status and request id", () =>
    Effect.gen(function*() {
      const found = yield* failureOf([error(529, "overloaded_error", "Overloaded")])
      assert.strictEqual(
        found.message,
        "count_tokens of anthropic (status 529, request req_011CS): the service is overloaded or failing: try later"
      )
    }))

  const broken: ReadonlyArray<readonly [Fault, string]> = [
    ["reset", "transport"],
    ["cut", "transport"],
    [{ status: 200, body: "" }, "invalidAnswer"],
    [{ status: 200, body: "{\"input_tokens\": 1" }, "invalidAnswer"],
    [{ status: 200, body: { tokens: 3 } }, "invalidAnswer"],
    [{ status: 200, body: { input_tokens: "14" } }, "invalidAnswer"],
    [{ status: 413, body: "<html>too large</html>" }, "tooLarge"]
  ]
  for (const [fault, kind] of broken) {
    const name = typeof fault === "string" ? fault : `${fault.status} ${JSON.stringify(fault.body)}`
    it.scopedLive(`calls ${name} ${kind}`, () =>
      Effect.gen(function*() {
        assert.strictEqual((yield* failureOf([fault])).kind, kind)
      }))
  }

  it.scopedLive("calls a port where nobody listens transport", () =>
    Effect.gen(function*() {
      const client = yield* HttpClient.HttpClient
      const route = { service: "none", operation: "ask", url: "http://127.0.0.1:1/", path: "/", headers: {} }
      const found = yield* Effect.flip(remote.post(client, route, Answer)(body))
      assert.deepStrictEqual([found.kind, found.retryable], ["transport", true])
    }).pipe(Effect.provide(FetchHttpClient.layer)))

  for (const fault of ["hang", "drip"] as const) {
    it.scopedLive(`closes the socket when it is interrupted while the service would ${fault}`, () =>
      Effect.gen(function*() {
        const { answer, server } = yield* ask([fault])
        const fiber = yield* Effect.fork(answer)
        yield* Effect.repeat(Effect.delay(server.seen, "5 millis"), { until: (seen) => seen.length === 1 })
        yield* Effect.sleep("30 millis")
        yield* Fiber.interrupt(fiber)
        yield* Effect.repeat(Effect.delay(server.closed, "5 millis"), { until: (closed) => closed === 1, times: 100 })
        assert.strictEqual(yield* server.closed, 1)
      }))

    it.scopedLive(`closes the socket when time is over while the service would ${fault}`, () =>
      Effect.gen(function*() {
        const { answer, server } = yield* ask([fault])
        yield* Effect.exit(Effect.timeout(answer, "50 millis"))
        yield* Effect.repeat(Effect.delay(server.closed, "5 millis"), { until: (closed) => closed === 1, times: 100 })
        assert.strictEqual(yield* server.closed, 1)
      }))
  }

  it.scopedLive("reads the answer of a client that fails on a status", () =>
    Effect.gen(function*() {
      const server = yield* listen(anthropic(), [error(404, "not_found_error", "model: x")])
      const client = HttpClient.filterStatusOk(yield* HttpClient.HttpClient)
      const route = { service: "anthropic", operation: "count_tokens", url: server.url, path: "/", headers: {} }
      const found = yield* Effect.flip(remote.post(client, route, Answer)(body))
      assert.strictEqual(found.kind, "unknownModel")
    }).pipe(Effect.provide(FetchHttpClient.layer)))

  it.scopedLive("keeps the key and the text out of errors, also where a header cannot hold the key", () =>
    Effect.gen(function*() {
      const echo: Reply = error(400, "invalid_request_error", "a secret of mine with sk-ant-valid")
      const faults: ReadonlyArray<Fault> = [echo, "reset", "cut", {
        status: 200,
        body: { input_tokens: "a secret of mine" }
      }]
      for (const fault of faults) {
        const { answer } = yield* ask([fault])
        const exit = yield* Effect.exit(answer)
        if (exit._tag === "Success") return assert.fail("no failure")
        const shown = Cause.pretty(exit.cause, { renderErrorCause: true }) + JSON.stringify(exit)
        assert.notInclude(shown, "secret of mine")
        assert.notInclude(shown, "sk-ant")
      }
      const { answer } = yield* ask([], "sk-ant-\u{1F511}")
      const exit = yield* Effect.exit(answer)
      assert.notInclude(JSON.stringify(exit), "sk-ant")
    }))
})
