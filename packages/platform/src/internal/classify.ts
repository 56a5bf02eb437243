/**
 * What an answer that is no success means. The words of services decide where the status does not.
 */
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import type { Kind } from "../RemoteError.js"
import * as hint from "./hint.js"

/** @internal */
export interface Answer {
  readonly status: number
  /** By lower-case name. */
  readonly headers: hint.Headers
  readonly body: string
}

/** @internal */
export interface Verdict {
  readonly kind: Kind
  readonly retryable: boolean
  /** In milliseconds. */
  readonly retryAfter?: number | undefined
}

/** What a body says about an error. */
interface Fault {
  /** Types, codes and reasons, as they stand. */
  readonly words: ReadonlyArray<string>
  readonly message: string
  readonly details: ReadonlyArray<unknown>
}

const parse = Schema.decodeUnknownOption(Schema.parseJson())

/** Patterns look no further than this. */
const readable = 4000

const text = (value: unknown): string => Predicate.isString(value) ? value.slice(0, readable) : ""

const list = (value: unknown): ReadonlyArray<unknown> => Array.isArray(value) ? value : []

const field = (value: unknown, name: string): unknown => Predicate.hasProperty(value, name) ? value[name] : undefined

const word = (value: unknown): ReadonlyArray<string> =>
  Predicate.isString(value) || Predicate.isNumber(value) ? [String(value)] : []

/** Bodies are `{error: {…}}`, `{error: "text"}`, `[{error: …}]`, or flat with the message at the top. */
const faultOf = (body: unknown): Fault | undefined => {
  const whole = Array.isArray(body) ? body[0] : body
  const inner = field(whole, "error")
  const flat = field(whole, "object") === "error" || field(whole, "type") === "error"
  if ((inner === undefined || inner === null) && !flat) return undefined
  const error = Predicate.isRecord(inner) ? inner : whole
  const details = list(field(error, "details"))
  return {
    words: [
      ...["type", "code", "status"].flatMap((name) => word(field(error, name))),
      ...word(field(whole, "error_type")),
      ...details.flatMap((detail) => word(field(detail, "reason")))
    ],
    message: text(Predicate.isString(inner) ? inner : field(error, "message")),
    details
  }
}

const nothing: Fault = { words: [], message: "", details: [] }

/** The status that a word stands for, where the status of the answer is 200. */
const statuses: { readonly [word: string]: number | undefined } = {
  invalid_request_error: 400,
  INVALID_ARGUMENT: 400,
  authentication_error: 401,
  UNAUTHENTICATED: 401,
  billing_error: 402,
  permission_error: 403,
  PERMISSION_DENIED: 403,
  rate_limit_error: 429,
  rate_limit_exceeded: 429,
  RESOURCE_EXHAUSTED: 429,
  api_error: 500,
  server_error: 500,
  INTERNAL: 500,
  UNAVAILABLE: 503,
  unavailable_error: 503,
  server_is_overloaded: 503,
  DEADLINE_EXCEEDED: 504,
  timeout_error: 504,
  overloaded_error: 529
}

const statusOf = (status: number, { words }: Fault): number => {
  if (status >= 400) return status
  for (const each of words) {
    const known = /^[45]\d\d$/.test(each) ? Number(each) : Object.hasOwn(statuses, each) ? statuses[each] : undefined
    if (known !== undefined) return known
  }
  return status
}

const hasAny = ({ words }: Fault, names: ReadonlyArray<string>): boolean => words.some((each) => names.includes(each))

const isDaily = (detail: unknown): boolean =>
  list(field(detail, "violations")).some((violation) => /PerDay|Daily/.test(text(field(violation, "quotaId"))))

const isQuota = (status: number, fault: Fault): boolean =>
  status === 402 || hasAny(fault, ["insufficient_quota", "billing_error"]) ||
  (status === 429 && (fault.details.some(isDaily) || /\blimit: 0\b/.test(fault.message)))

const tooLarge =
  /^request too large|prompt is too long|maximum context length|exceeds? the context window|exceed context limit/i

const isTooLarge = (status: number, fault: Fault): boolean =>
  status === 413 || hasAny(fault, ["request_too_large", "context_length_exceeded", "exceed_context_size_error"]) ||
  (status >= 400 && status < 500 && tooLarge.test(fault.message))

const isUnauthorized = (status: number, fault: Fault): boolean =>
  status === 401 || status === 403 || hasAny(fault, ["invalid_api_key", "API_KEY_INVALID"])

/** A model that nobody knows is told from a route that is not there by the message. */
const isUnknownModel = (status: number, fault: Fault): boolean =>
  hasAny(fault, ["model_not_found"]) || (status === 404 && /\bmodels?\b/i.test(fault.message))

const kindOf = (status: number, fault: Fault): Kind => {
  if (isQuota(status, fault)) return "quota"
  if (isTooLarge(status, fault)) return "tooLarge"
  if (isUnauthorized(status, fault)) return "unauthorized"
  if (isUnknownModel(status, fault)) return "unknownModel"
  if (status === 404 || status === 405 || status === 501) return "noRoute"
  if (status === 429) return "rateLimited"
  if (status === 408 || status === 409 || status === 425 || status >= 500) return "unavailable"
  return status >= 400 ? "invalidRequest" : "invalidAnswer"
}

const passing: ReadonlyArray<Kind> = ["rateLimited", "unavailable"]

const isRetryable = (kind: Kind, status: number, said: string | undefined): boolean =>
  passing.includes(kind)
    ? said !== "false"
    // What is wrong with a request does not change; other refusals may be said to pass.
    : kind === "invalidRequest" && status !== 400 && status !== 422 && said === "true"

const judge = ({ headers, status }: Answer, fault: Fault, now: number): Verdict => {
  const meant = statusOf(status, fault)
  const kind = kindOf(meant, fault)
  const retryable = isRetryable(kind, meant, headers["x-should-retry"]?.trim().toLowerCase())
  const retryAfter = retryable ? hint.read(status >= 400 ? headers : {}, fault.details, now) : undefined
  return { kind, retryable, retryAfter }
}

/**
 * What an answer holds, or why it is none. A hint on an answer that is no error says nothing.
 *
 * @internal
 */
export const read = (
  answer: Answer,
  now: number
): { readonly _tag: "Body"; readonly body: unknown } | { readonly _tag: "Fault"; readonly verdict: Verdict } => {
  const parsed = parse(answer.body)
  const fault = Option.isSome(parsed) ? faultOf(parsed.value) : undefined
  if (answer.status < 200 || answer.status > 299 || fault !== undefined) {
    return { _tag: "Fault", verdict: judge(answer, fault ?? nothing, now) }
  }
  // Empty or cut: a proxy gave up half-way.
  return Option.isNone(parsed)
    ? { _tag: "Fault", verdict: { kind: "invalidAnswer", retryable: true } }
    : { _tag: "Body", body: parsed.value }
}
