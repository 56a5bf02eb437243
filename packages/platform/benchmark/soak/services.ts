/**
 * Services that count and summarize, and fail in three of ten requests in all the ways that services do.
 */
import * as anthropic from "../../test/servers/anthropic.js"
import * as openai from "../../test/servers/openai.js"
import { type Asked, type Fault, type Handler, isRecord, type Reply } from "../../test/servers/server.js"
import { summarizers } from "../../test/summarizers.js"

/** A word of every message, of every summary and of every refusal: nothing else may show it. */
export const secret = "velvet"

export const keys = ["sk-ant-valid", "sk-valid"] as const

/** Numbers from 0 to 1, the same for the same seed. */
export const random = (seed: number): () => number => {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

export const pick = <A>(next: () => number, list: ReadonlyArray<A>): A => list[Math.floor(next() * list.length)]

/** What services and proxies echo. */
const echo = `${secret} ${keys.join(" ")}`

const ok = (body: unknown): Reply => ({ status: 200, headers: { "request-id": "req_1", "x-request-id": echo }, body })

const html = (status: number): Reply => ({ status, body: `<html><body>${status} ${echo}</body></html>` })

/** Of any service. */
const outages: ReadonlyArray<readonly [string, Fault]> = [
  ["429", anthropic.error(429, "rate_limit_error", echo)],
  ["429, a short wait", anthropic.error(429, "rate_limit_error", echo, { "retry-after-ms": "20" })],
  ["429, a long wait", openai.error(429, "requests", echo, "rate_limit_exceeded", { "retry-after": "3600" })],
  ["500", openai.error(500, "server_error", echo)],
  ["502 HTML", html(502)],
  ["503", html(503)],
  ["529", anthropic.error(529, "overloaded_error", echo)],
  ["413 HTML", html(413)],
  ["cut JSON", ok(`{"input_tokens": 12, "choices": [{"${secret}`)],
  ["empty body", ok("")],
  ["hang", "hang"],
  ["drip", "drip"],
  ["cut", "cut"],
  ["reset", "reset"]
]

const wrongCounts = ["12", -1, 0, 1.5, null, 1, 10_000_000].map((input_tokens): readonly [string, Fault] => [
  `a count of ${JSON.stringify(input_tokens)}`,
  ok({ input_tokens })
])

const choice = (message: unknown, finish_reason: string) => ok({ choices: [{ index: 0, message, finish_reason }] })

const noSummaries: ReadonlyArray<readonly [string, Fault]> = [
  ["an empty summary", choice({ role: "assistant", content: "" }, "stop")],
  ["a cut summary", choice({ role: "assistant", content: `It is ${secret}` }, "length")],
  ["a refused summary", choice({ role: "assistant", content: null, refusal: echo }, "stop")],
  ["a summary that grew", choice({ role: "assistant", content: `${secret} and more of it. `.repeat(1000) }, "stop")]
]

export interface Script {
  readonly faults: ReadonlyArray<Fault>
  /** What each of them is. */
  readonly names: ReadonlyArray<string>
}

const scriptOf = (kinds: ReadonlyArray<readonly [string, Fault]>, seed: number, share: number): Script => {
  const next = random(seed)
  const drawn = Array.from(
    { length: 100_000 },
    (): readonly [string, Fault] => next() < share ? pick(next, kinds) : ["served", "serve"]
  )
  return { faults: drawn.map(([, fault]) => fault), names: drawn.map(([name]) => name) }
}

export const countFaults = (seed: number, share: number): Script => scriptOf([...outages, ...wrongCounts], seed, share)

export const summaryFaults = (seed: number, share: number): Script =>
  scriptOf([...outages, ...noSummaries, ...noSummaries], seed + 1, share)

// =============================================================================
// Without faults
// =============================================================================

const strict = anthropic.anthropic("strict")

const reply = (asked: Asked): Reply => strict(asked)

/** Within twice what the characters tell. */
const honest = (body: unknown): number =>
  isRecord(body) ? Math.ceil(JSON.stringify([body.system, body.messages]).length * 0.27) + 8 : 0

/** Anthropic with its strictest rules. */
export const counting: Handler = (asked) => {
  const answer = reply(asked)
  return answer.status === 200 ? { ...answer, body: { input_tokens: honest(asked.body) } } : answer
}

/** Why the strictest rules refuse a request body; nothing if they take it. */
export const refusal = (body: object): string | undefined => {
  const { body: answer, status } = reply({
    path: "/v1/messages/count_tokens",
    headers: { "anthropic-version": "2023-06-01", "x-api-key": keys[0] },
    body: { model: "claude-sonnet-4-5", ...body }
  })
  return status === 200 ? undefined : JSON.stringify(answer)
}

const [, openAiSummarizer] = summarizers

/** Says which messages it was told of, by their tags. */
export const summarizing: Handler = (asked) => {
  const tags = JSON.stringify(asked.body).match(/c\d+m\d+/g) ?? []
  return openAiSummarizer.server(`${secret}: from ${tags[0]} to ${tags[tags.length - 1]}`, "stop")(asked)
}
