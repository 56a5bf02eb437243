/**
 * What a memory tells about itself: ids and numbers, never content.
 *
 * @since 0.1.0
 */
import * as Data from "effect/Data"
import type { TokenCountError, TrimError } from "./MemoryError.js"

/**
 * @since 0.1.0
 * @category models
 */
export type MemoryEvent = Data.TaggedEnum<{
  /** Messages were stored. */
  readonly Recorded: {
    readonly conversation: string
    readonly messages: number
    readonly protected: boolean
  }
  /** A context was smaller than the view. */
  readonly Trimmed: {
    readonly conversation: string
    readonly tokensBefore: number
    readonly tokensAfter: number
    readonly messagesBefore: number
    readonly messagesAfter: number
  }
  /** A strategy that may materialize has begun. */
  readonly CompactionStarted: { readonly conversation: string; readonly tokens: number }
  /** Messages stand for others from now on. */
  readonly CompactionCommitted: {
    readonly conversation: string
    readonly tokensBefore: number
    readonly tokensAfter: number
  }
  /**
   * A finished compaction was not committed. `changed`: what it covers had changed. `sufficient`: the budget had been
   * raised.
   */
  readonly CompactionDiscarded: { readonly conversation: string; readonly reason: "changed" | "sufficient" }
  /** A strategy failed; until the next try, whole rounds are dropped instead. */
  readonly TrimFailed: {
    readonly conversation: string
    readonly error: TrimError
    /** When the next try is due, in milliseconds since the epoch; `Infinity` for never. */
    readonly retryAt: number
  }
  /** A conversation could not be counted as a whole: the sum over its messages is taken to be too low by the margin. */
  readonly CountFailed: { readonly conversation: string; readonly error: TokenCountError }
  /** What must stay is larger than the budget. */
  readonly OverBudget: { readonly conversation: string; readonly tokens: number; readonly budget: number }
  /** Messages as recorded could not be sent: so many are left out, rewritten or added in the repaired form. */
  readonly Repaired: { readonly conversation: string; readonly messages: number }
}>

/**
 * Constructors and matchers.
 *
 * @since 0.1.0
 * @category constructors
 */
export const MemoryEvent: Data.TaggedEnum.Constructor<MemoryEvent> = Data.taggedEnum<MemoryEvent>()
