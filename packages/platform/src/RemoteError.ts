/**
 * What can go wrong between a program and a remote service. No error carries a key, or anything that was sent or answered.
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"

const remedies = {
  transport: "no answer came: check that the base URL can be reached from here",
  timeout: "no answer came in time: try later, or allow more time in the policy",
  unavailable: "the service is overloaded or failing: try later",
  rateLimited: "too many requests: set requestsPerMinute in the policy, or ask the provider for more",
  quota: "the quota is used up: check plan and billing, or wait until it is renewed",
  tooLarge: "the request is larger than the service takes: send less",
  unauthorized: "the key was refused: give a valid key that may use the model",
  unknownModel: "the model is not known there: check the name of the model",
  noRoute: "the service has no such route: check the base URL; this one is not asked again",
  invalidRequest: "the service refused the request: check the options, and that the service is of this kind",
  invalidAnswer: "the answer is not what such a service answers: check that the base URL is not that of something else",
  circuitOpen: "not asked, since it failed repeatedly: it is tried again by itself after the cooldown"
} as const

/**
 * What kind of failure it is.
 *
 * `transport`: no connection, or a broken one. `timeout`: no answer in time. `unavailable`: the service says that it
 * failed or is overloaded. `rateLimited`: too many requests for now. `quota`: nothing more will be answered for long.
 * `tooLarge`: more than the service or the model takes. `unauthorized`: no valid key, or one without access.
 * `unknownModel` and `noRoute`: there is no such model, or no such route. `invalidRequest`: refused for another reason.
 * `invalidAnswer`: an answer that cannot be read. `circuitOpen`: not even asked, after repeated failures.
 *
 * @since 0.1.0
 * @category models
 */
export type Kind = keyof typeof remedies

/**
 * @since 0.1.0
 * @category schemas
 */
export const Kind: Schema.Schema<Kind> = Schema.Literal(
  "transport",
  "timeout",
  "unavailable",
  "rateLimited",
  "quota",
  "tooLarge",
  "unauthorized",
  "unknownModel",
  "noRoute",
  "invalidRequest",
  "invalidAnswer",
  "circuitOpen"
)

/**
 * A remote call that failed, after all attempts.
 *
 * @since 0.1.0
 * @category errors
 */
export class RemoteError extends Schema.TaggedError<RemoteError>("@effect-memory/platform/RemoteError")("RemoteError", {
  /** Which service, such as `anthropic`. */
  service: Schema.String,
  /** What was asked of it, such as `count_tokens`. */
  operation: Schema.String,
  kind: Kind,
  /** Whether the same request may succeed a little later. */
  retryable: Schema.Boolean,
  /** HTTP status of the last answer, if there was one. */
  status: Schema.optional(Schema.Number),
  /** How long the service asked to wait, in milliseconds. */
  retryAfter: Schema.optional(Schema.Number),
  /** The id under which the provider knows the request. */
  requestId: Schema.optional(Schema.String)
}) {
  /**
   * @since 0.1.0
   */
  override get message(): string {
    const { kind, operation, requestId, service, status } = this
    const facts = [
      ...(status === undefined ? [] : [`status ${status}`]),
      ...(requestId === undefined ? [] : [`request ${requestId}`])
    ]
    const where = facts.length === 0 ? `${operation} of ${service}` : `${operation} of ${service} (${facts.join(", ")})`
    return `${where}: ${remedies[kind]}`
  }
}

/**
 * An option that makes no sense.
 *
 * @since 0.1.0
 * @category errors
 */
export class InvalidOption
  extends Schema.TaggedError<InvalidOption>("@effect-memory/platform/RemoteError/InvalidOption")("InvalidOption", {
    /** Which option, such as `policy.attempts`. */
    field: Schema.String,
    /** What was given, as text; never a key. */
    given: Schema.String,
    /** What should be given instead. */
    expected: Schema.String
  })
{
  /**
   * @since 0.1.0
   */
  override get message(): string {
    return `${this.field} is ${this.given}: give ${this.expected}`
  }
}
