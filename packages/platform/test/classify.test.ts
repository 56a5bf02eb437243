import { assert, describe, it } from "@effect/vitest"
import type { RemoteError } from "@effect-memory/platform"
import { Effect, FastCheck as fc } from "effect"
import * as classify from "../src/internal/classify.js"
import * as hint from "../src/internal/hint.js"
import * as anthropic from "./servers/anthropic.js"
import * as gemini from "./servers/gemini.js"
import { llamaCppLoading, tgiSlow } from "./servers/local.js"
import * as openai from "./servers/openai.js"
import type { Reply } from "./servers/server.js"

const now = Date.UTC(2026, 0, 5, 12, 0, 0)

const answerOf = ({ body, headers = {}, status }: Reply): classify.Answer => ({
  status,
  headers,
  body: typeof body === "string" ? body : JSON.stringify(body)
})

const verdict = (reply: Reply) => {
  const found = classify.read(answerOf(reply), now)
  return found._tag === "Fault" ? found.verdict : undefined
}

const perMinute = {
  "@type": "type.googleapis.com/google.rpc.QuotaFailure",
  violations: [{ quotaId: "GenerateRequestsPerMinutePerProjectPerModel-FreeTier", quotaValue: "10" }]
}
const perDay = {
  "@type": "type.googleapis.com/google.rpc.QuotaFailure",
  violations: [{ quotaId: "GenerateRequestsPerDayPerProjectPerModel-FreeTier", quotaValue: "250" }]
}
const retryInfo = { "@type": "type.googleapis.com/google.rpc.RetryInfo", retryDelay: "34.4s" }

const html = (status: number): Reply => ({ status, body: `<html><h1>${status}</h1><center>nginx</center></html>` })

const rows: ReadonlyArray<readonly [string, Reply, RemoteError.Kind, boolean]> = [
  // Anthropic
  [
    "a shape rule",
    anthropic.error(400, "invalid_request_error", "messages: at least one message is required"),
    "invalidRequest",
    false
  ],
  [
    "a field too many",
    anthropic.error(400, "invalid_request_error", "max_tokens: Extra inputs are not permitted"),
    "invalidRequest",
    false
  ],
  [
    "a long prompt",
    anthropic.error(400, "invalid_request_error", "prompt is too long: 208310 tokens > 200000 maximum"),
    "tooLarge",
    false
  ],
  [
    "a long prompt with its reply",
    anthropic.error(
      400,
      "invalid_request_error",
      "input length and `max_tokens` exceed context limit: 178959 + 64000 > 200000, decrease input length"
    ),
    "tooLarge",
    false
  ],
  ["a bad key", anthropic.error(401, "authentication_error", "invalid x-api-key"), "unauthorized", false],
  ["no money", anthropic.error(402, "billing_error", ""), "quota", false],
  ["no permission", anthropic.error(403, "permission_error", ""), "unauthorized", false],
  ["an unknown model", anthropic.error(404, "not_found_error", "model: claude-does-not-exist"), "unknownModel", false],
  ["an unknown route", anthropic.error(404, "not_found_error", "Not Found"), "noRoute", false],
  [
    "a large body, in JSON",
    anthropic.error(413, "request_too_large", "Request exceeds the maximum"),
    "tooLarge",
    false
  ],
  ["a large body, in HTML", html(413), "tooLarge", false],
  [
    "a rate limit",
    anthropic.error(429, "rate_limit_error", "This request would exceed the rate limit"),
    "rateLimited",
    true
  ],
  ["an error within", anthropic.error(500, "api_error", "Internal server error"), "unavailable", true],
  ["a time-out", anthropic.error(504, "timeout_error", ""), "unavailable", true],
  [
    "overload",
    anthropic.error(529, "overloaded_error", "Overloaded", { "x-should-retry": "true" }),
    "unavailable",
    true
  ],
  ["overload after 200", anthropic.error(200, "overloaded_error", "Overloaded"), "unavailable", true],
  // OpenAI
  [
    "a long context",
    openai.error(
      400,
      "invalid_request_error",
      "This model's maximum context length is 128000 tokens. However, your messages resulted in 204308 tokens.",
      "context_length_exceeded"
    ),
    "tooLarge",
    false
  ],
  [
    "a long input",
    openai.error(400, "invalid_request_error", "Your input exceeds the context window of this model."),
    "tooLarge",
    false
  ],
  [
    "an unknown model, 404",
    openai.error(
      404,
      "invalid_request_error",
      "The model `gpt-5.2-proo` does not exist or you do not have access to it.",
      "model_not_found"
    ),
    "unknownModel",
    false
  ],
  [
    "an unknown model, 400",
    openai.error(400, "invalid_request_error", "The requested model 'gpt-5.2-proo' does not exist.", "model_not_found"),
    "unknownModel",
    false
  ],
  ["an unknown URL", openai.error(404, "invalid_request_error", "Invalid URL (POST /v1/x)"), "noRoute", false],
  [
    "a bad key",
    openai.error(401, "invalid_request_error", "Incorrect API key", "invalid_api_key"),
    "unauthorized",
    false
  ],
  [
    "a country",
    openai.error(403, "request_forbidden", "", "unsupported_country_region_territory"),
    "unauthorized",
    false
  ],
  [
    "a rate limit",
    openai.error(
      429,
      "tokens",
      "Rate limit reached for gpt-4o in organization org-x on tokens per min (TPM): Limit 30000, Used 14567, Requested 24754.",
      "rate_limit_exceeded"
    ),
    "rateLimited",
    true
  ],
  [
    "a request above the rate",
    openai.error(
      429,
      "tokens",
      "Request too large for gpt-4o in organization org-x on tokens per min (TPM): Limit 30000, Requested 30601.",
      "rate_limit_exceeded"
    ),
    "tooLarge",
    false
  ],
  [
    "a quota",
    openai.error(429, "insufficient_quota", "You exceeded your current quota", "insufficient_quota"),
    "quota",
    false
  ],
  ["a server error", openai.error(500, "server_error", "The server had an error"), "unavailable", true],
  ["overload", openai.error(503, "server_error", "", "server_is_overloaded"), "unavailable", true],
  ["slow down", openai.error(503, "server_error", "", "slow_down"), "unavailable", true],
  ["a quota after 200", openai.error(200, "insufficient_quota", "", "insufficient_quota"), "quota", false],
  // Gemini
  ["a bad key", gemini.badKey, "unauthorized", false],
  ["a bad argument", gemini.error(400, "INVALID_ARGUMENT", "contents is not specified"), "invalidRequest", false],
  ["a precondition", gemini.error(400, "FAILED_PRECONDITION", ""), "invalidRequest", false],
  ["no permission", gemini.error(403, "PERMISSION_DENIED", ""), "unauthorized", false],
  [
    "an unknown model",
    gemini.error(
      404,
      "NOT_FOUND",
      "models/x is not found for API version v1beta, or is not supported for countTokens."
    ),
    "unknownModel",
    false
  ],
  ["a page", html(404), "noRoute", false],
  [
    "a rate limit",
    gemini.error(429, "RESOURCE_EXHAUSTED", "Please retry", [perMinute, retryInfo]),
    "rateLimited",
    true
  ],
  ["a daily quota", gemini.error(429, "RESOURCE_EXHAUSTED", "", [perDay, retryInfo]), "quota", false],
  ["no quota", gemini.error(429, "RESOURCE_EXHAUSTED", "Quota exceeded, limit: 0, model: x"), "quota", false],
  ["an internal error", gemini.error(500, "INTERNAL", ""), "unavailable", true],
  [
    "overload",
    gemini.error(503, "UNAVAILABLE", "The model is overloaded. Please try again later."),
    "unavailable",
    true
  ],
  ["a deadline", gemini.error(504, "DEADLINE_EXCEEDED", ""), "unavailable", true],
  [
    "an error in a list",
    { status: 503, body: [{ error: { code: 503, message: "", status: "UNAVAILABLE" } }] },
    "unavailable",
    true
  ],
  [
    "an error in a list after 200",
    { status: 200, body: [{ error: { code: 429, message: "", status: "RESOURCE_EXHAUSTED" } }] },
    "rateLimited",
    true
  ],
  // Local servers and proxies
  [
    "vLLM's unknown model",
    { status: 404, body: { error: { message: "The model `x` does not exist.", type: "NotFoundError", code: 404 } } },
    "unknownModel",
    false
  ],
  ["vLLM's unknown route", { status: 404, body: { detail: "Not Found" } }, "noRoute", false],
  [
    "vLLM without a route",
    { status: 501, body: { error: { message: "", type: "NotImplementedError" } } },
    "noRoute",
    false
  ],
  [
    "vLLM's flat error",
    { status: 400, body: { object: "error", message: "bad", type: "BadRequestError", param: null, code: 400 } },
    "invalidRequest",
    false
  ],
  ["llama.cpp loading", llamaCppLoading, "unavailable", true],
  [
    "llama.cpp's window",
    { status: 400, body: { error: { code: 400, message: "", type: "exceed_context_size_error", n_ctx: 4096 } } },
    "tooLarge",
    false
  ],
  ["TGI without a tokenizer", tgiSlow, "noRoute", false],
  ["TGI's validation", { status: 422, body: { error: "inputs", error_type: "validation" } }, "invalidRequest", false],
  [
    "TGI's overload",
    { status: 429, body: { error: "Model is overloaded", error_type: "overloaded" } },
    "rateLimited",
    true
  ],
  ["a method that is not allowed", html(405), "noRoute", false],
  ["a bad gateway", html(502), "unavailable", true],
  ["a lost service", html(503), "unavailable", true],
  ["a time-out of a request", html(408), "unavailable", true],
  ["a conflict", html(409), "unavailable", true],
  ["an error in NDJSON's form", { status: 200, body: { error: "something" } }, "invalidAnswer", false],
  ["an empty answer", { status: 200, body: "" }, "invalidAnswer", true],
  ["a cut answer", { status: 200, body: "{\"input_tok" }, "invalidAnswer", true],
  ["a page as an answer", html(200), "invalidAnswer", true],
  ["an empty error", { status: 500, body: "" }, "unavailable", true],
  ["a cut error", { status: 400, body: "{\"error\":{\"mess" }, "invalidRequest", false],
  ["a redirection", html(302), "invalidAnswer", false]
]

describe("classify", () => {
  for (const [name, reply, kind, retryable] of rows) {
    it(`${reply.status}: ${name} is ${kind}`, () => {
      const found = verdict(reply)
      assert.deepStrictEqual([found?.kind, found?.retryable], [kind, retryable])
    })
  }

  it("lets an answer pass, with null errors in it too", () => {
    const body = { input_tokens: 14, error: null }
    assert.deepStrictEqual(classify.read(answerOf({ status: 200, body }), now), { _tag: "Body", body })
  })

  it("heeds x-should-retry where a request may succeed", () => {
    const said = (status: number, value: string) =>
      verdict({ status, headers: { "x-should-retry": value }, body: "" })?.retryable
    assert.isFalse(said(500, "false"))
    assert.isFalse(said(429, "False"))
    assert.isTrue(said(500, "true"))
    assert.isTrue(said(418, "true"))
    assert.isFalse(said(418, "false"))
    for (const status of [400, 401, 402, 403, 404, 413, 422]) assert.isFalse(said(status, "true"))
  })

  it("ignores a hint on an answer that is no error", () => {
    const headers = { "retry-after": "59", "x-should-retry": "true" }
    assert.strictEqual(classify.read(answerOf({ status: 200, headers, body: { a: 1 } }), now)._tag, "Body")
    assert.isUndefined(verdict({ status: 200, headers, body: { error: { type: "overloaded_error" } } })?.retryAfter)
  })

  it("finds the delay in the body", () => {
    assert.strictEqual(verdict(gemini.error(429, "RESOURCE_EXHAUSTED", "", [perMinute, retryInfo]))?.retryAfter, 34_400)
  })

  const json = fc.jsonValue({ maxDepth: 4 })
  const body = fc.oneof(
    fc.string(),
    json.map((value) => JSON.stringify(value)),
    fc.record({ error: json }).map((value) => JSON.stringify(value)),
    fc.record({
      error: fc.record({
        type: fc.oneof(fc.constantFrom("rate_limit_error", "__proto__", "toString"), json),
        code: json,
        message: fc.oneof(fc.constantFrom("Request too large", "model"), json),
        details: fc.oneof(fc.array(fc.record({ retryDelay: json, violations: json, reason: json })), json)
      })
    }).map((value) => JSON.stringify(value))
  )
  const headers = fc.dictionary(fc.constantFrom("retry-after", "retry-after-ms", "x-should-retry"), fc.string())
  const status = fc.integer({ min: 100, max: 599 })

  it.effect.prop(
    "any answer has a meaning",
    { status, headers, body },
    ({ body, headers, status }) =>
      Effect.sync(() => {
        const found = classify.read({ status, headers, body }, now)
        if (found._tag === "Body") return assert.isTrue(status >= 200 && status < 300)
        const { kind, retryAfter, retryable } = found.verdict
        if ([400, 401, 402, 403, 404, 413, 422].includes(status)) assert.isFalse(retryable)
        if (!retryable) assert.isUndefined(retryAfter)
        if (retryAfter !== undefined) assert.isTrue(Number.isFinite(retryAfter) && retryAfter >= 0)
        if (status >= 200 && status < 300 && body.trim() === "") assert.strictEqual(kind, "invalidAnswer")
      })
  )
})

describe("hint", () => {
  const read = (headers: hint.Headers, details: ReadonlyArray<unknown> = []) => hint.read(headers, details, now)

  it("reads milliseconds, seconds, fractions and dates", () => {
    assert.strictEqual(read({ "retry-after-ms": "1500" }), 1500)
    assert.strictEqual(read({ "retry-after": "59" }), 59_000)
    assert.strictEqual(read({ "retry-after": " 18.642 " }), 18_642)
    assert.strictEqual(read({ "retry-after": "0" }), 0)
    assert.strictEqual(read({ "retry-after": "Mon, 05 Jan 2026 12:00:07 GMT" }), 7000)
    assert.strictEqual(read({}, [{}, null, { retryDelay: "34.4s" }]), 34_400)
  })

  it("prefers milliseconds, then the header, then the body", () => {
    const body = [{ retryDelay: "3s" }]
    assert.strictEqual(read({ "retry-after-ms": "1000", "retry-after": "2" }, body), 1000)
    assert.strictEqual(read({ "retry-after-ms": "-1", "retry-after": "2" }, body), 2000)
    assert.strictEqual(read({ "retry-after-ms": "NaN", "retry-after": "soon" }, body), 3000)
  })

  it("ignores what is junk, negative, not finite or past", () => {
    for (
      const junk of [
        "",
        " ",
        "-1",
        "-0.5",
        "NaN",
        "Infinity",
        "1e9",
        "0x10",
        "1,5",
        "soon",
        "12 monkeys",
        "9".repeat(400),
        "Mon, 05 Jan 2026 11:59:59 GMT",
        "Xxx, 99 Yyy 2026 99:99:99 GMT",
        "1s"
      ]
    ) {
      assert.isUndefined(read({ "retry-after": junk }), junk)
    }
    for (const junk of ["34", "-3s", "s", "1m", "", 34, null, {}]) {
      assert.isUndefined(read({}, [{ retryDelay: junk }]), String(junk))
    }
  })

  it.effect.prop(
    "is never anything but a finite wait",
    { text: fc.string(), date: fc.date() },
    ({ date, text }) =>
      Effect.sync(() => {
        const found = [
          read({ "retry-after": text }),
          read({ "retry-after-ms": text }),
          read({ "retry-after": Number.isNaN(date.getTime()) ? text : date.toUTCString() }),
          read({}, [{ retryDelay: `${text}s` }])
        ]
        for (const wait of found) assert.isTrue(wait === undefined || (Number.isFinite(wait) && wait >= 0))
      })
  )
})
