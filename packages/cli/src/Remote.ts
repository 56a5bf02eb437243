/**
 * What remote services were asked, and what came of it.
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"

/**
 * What became of the calls of one service.
 *
 * @since 0.1.0
 * @category models
 */
export const Asked = Schema.TaggedStruct("Service", {
  /** What the service is asked for. */
  use: Schema.Literal("counter", "summarizer"),
  /** The service, as it was given, such as `anthropic:claude-sonnet-4-5`. */
  name: Schema.String,
  /** Requests sent, every attempt counted. */
  requests: Schema.Number,
  /** Requests that followed a failed one. */
  retries: Schema.Number,
  /** Calls that failed after all their attempts. */
  failures: Schema.Number,
  /**
   * Calls without an answer, where it had to do without the service: the failures, and those that were not even sent
   * since the service had failed too often.
   */
  fallbacks: Schema.Number
})

/**
 * @since 0.1.0
 * @category models
 */
export type Asked = typeof Asked.Type
