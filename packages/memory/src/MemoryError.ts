/**
 * What can go wrong, one tagged error per cause. No message carries the content of a conversation.
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"

/**
 * A budget that is not a finite whole number ≥ 0, or an option beside it that makes no sense.
 *
 * @since 0.1.0
 * @category errors
 */
export class InvalidBudget extends Schema.TaggedError<InvalidBudget>("effect-memory/MemoryError/InvalidBudget")(
  "InvalidBudget",
  {
    /** Which limit or option, such as `maxTokens`. */
    field: Schema.String,
    /** What was given, as text. */
    given: Schema.String,
    /** What should be given instead. By default a whole number. */
    expected: Schema.optional(Schema.String)
  }
) {
  /**
   * @since 0.1.0
   */
  override get message(): string {
    const { expected = "a finite whole number of at least 0, or leave it out for no limit", field, given } = this
    return `${field} is ${given}: give ${expected}`
  }
}

/**
 * A value that is not a message.
 *
 * @since 0.1.0
 * @category errors
 */
export class InvalidMessage extends Schema.TaggedError<InvalidMessage>("effect-memory/MemoryError/InvalidMessage")(
  "InvalidMessage",
  {
    /** Path of the field at fault, such as `content.0.text`. */
    field: Schema.String,
    /** What stands there, described without its content. */
    given: Schema.String,
    /** What should stand there. */
    expected: Schema.String
  }
) {
  /**
   * @since 0.1.0
   */
  override get message(): string {
    return `${this.field} is ${this.given}: expected ${this.expected}`
  }
}

/**
 * A counter could not count.
 *
 * @since 0.1.0
 * @category errors
 */
export class TokenCountError extends Schema.TaggedError<TokenCountError>("effect-memory/MemoryError/TokenCountError")(
  "TokenCountError",
  {
    /** Id of the counter. */
    counter: Schema.String,
    /** What went wrong and what to do. */
    reason: Schema.String,
    cause: Schema.optional(Schema.Defect)
  }
) {
  /**
   * @since 0.1.0
   */
  override get message(): string {
    return `Counter "${this.counter}" could not count: ${this.reason}`
  }
}

/**
 * A summarizer gave no summary that can be used. The memory falls back to dropping whole rounds.
 *
 * @since 0.1.0
 * @category errors
 */
export class SummarizeError extends Schema.TaggedError<SummarizeError>("effect-memory/MemoryError/SummarizeError")(
  "SummarizeError",
  {
    /**
     * `empty`: no text came back. `truncated`: the reply was cut. `refused`: the model declined. `grew`: the summary is
     * no shorter than what it stands for. `timeout`: no reply in time. `overflow`: the input is larger than the
     * summarizer's window. `provider`: the service failed.
     */
    reason: Schema.Literal("empty", "truncated", "refused", "grew", "timeout", "overflow", "provider"),
    /** What was seen and what to do. */
    detail: Schema.String,
    cause: Schema.optional(Schema.Defect)
  }
) {
  /**
   * @since 0.1.0
   */
  override get message(): string {
    return `No usable summary (${this.reason}): ${this.detail}`
  }
}

/**
 * A strategy could not trim. The memory falls back to dropping whole rounds.
 *
 * @since 0.1.0
 * @category errors
 */
export class TrimError extends Schema.TaggedError<TrimError>("effect-memory/MemoryError/TrimError")("TrimError", {
  /** What went wrong and what to do. */
  reason: Schema.String,
  cause: Schema.optional(Schema.Defect)
}) {
  /**
   * @since 0.1.0
   */
  override get message(): string {
    return `The strategy could not trim: ${this.reason}`
  }
}

/**
 * A store could not read or write. Nothing that it acknowledged is lost.
 *
 * @since 0.1.0
 * @category errors
 */
export class MemoryStoreError
  extends Schema.TaggedError<MemoryStoreError>("effect-memory/MemoryError/MemoryStoreError")("MemoryStoreError", {
    /**
     * `conflict`: another writer was first, load and try again. `corrupt`: a record cannot be read. `unavailable`: the
     * storage did not answer.
     */
    reason: Schema.Literal("conflict", "corrupt", "unavailable"),
    /** The operation that failed, such as `append`. */
    operation: Schema.String,
    /** Id of the conversation. */
    conversation: Schema.String,
    /** What was found and what to do. */
    detail: Schema.String,
    cause: Schema.optional(Schema.Defect)
  })
{
  /**
   * @since 0.1.0
   */
  override get message(): string {
    return `${this.operation} of conversation "${this.conversation}" failed (${this.reason}): ${this.detail}`
  }
}

/**
 * What cannot be trimmed is larger than the budget. Only in strict mode (`onOverflow: "fail"`).
 *
 * @since 0.1.0
 * @category errors
 */
export class BudgetUnsatisfiable
  extends Schema.TaggedError<BudgetUnsatisfiable>("effect-memory/MemoryError/BudgetUnsatisfiable")(
    "BudgetUnsatisfiable",
    {
      /** The budget, in tokens. */
      budget: Schema.Number,
      /** What cannot be trimmed, in tokens. */
      floor: Schema.Struct({
        overhead: Schema.Number,
        system: Schema.Number,
        protected: Schema.Number,
        summary: Schema.Number,
        newest: Schema.Number,
        total: Schema.Number
      })
    }
  )
{
  /**
   * @since 0.1.0
   */
  override get message(): string {
    const { newest, overhead, protected: pinned, summary, system, total } = this.floor
    return `A budget of ${this.budget} tokens cannot hold what must stay, ${total} tokens (overhead ${overhead}, ` +
      `system ${system}, protected ${pinned}, summary ${summary}, newest round ${newest}): raise the budget, ` +
      `protect less, or use a strategy that clears or shortens results`
  }
}

/**
 * @since 0.1.0
 * @category errors
 */
export type MemoryError =
  | InvalidBudget
  | InvalidMessage
  | TokenCountError
  | SummarizeError
  | TrimError
  | MemoryStoreError
  | BudgetUnsatisfiable

/**
 * @since 0.1.0
 * @category errors
 */
export const MemoryError: Schema.Union<[
  typeof InvalidBudget,
  typeof InvalidMessage,
  typeof TokenCountError,
  typeof SummarizeError,
  typeof TrimError,
  typeof MemoryStoreError,
  typeof BudgetUnsatisfiable
]> = Schema.Union(
  InvalidBudget,
  InvalidMessage,
  TokenCountError,
  SummarizeError,
  TrimError,
  MemoryStoreError,
  BudgetUnsatisfiable
)
