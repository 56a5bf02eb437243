/**
 * What the counters of all services have in common.
 *
 * Messages are counted locally, so that recording and trimming wait for nobody. Where the sum could lie on either side
 * of the budget, a memory has the whole conversation counted by the service: one request for one context, as the
 * provider would bill it. While the service cannot be asked, the memory goes by the sum and its margin.
 *
 * What is sent can be answered: the conversation is repaired by the provider's rules, calls that are still open are
 * closed, and where a provider only answers users, a short user message is put behind the assistant's last word. The same
 * conversation is asked for once; who asks for it meanwhile gets the same answer.
 *
 * @since 0.1.0
 */
import type * as TokenCounter from "effect-memory/TokenCounter"

/**
 * How to count beside the service.
 *
 * @since 0.1.0
 * @category models
 */
export interface Options {
  /** Counts messages. Default `TokenCounter.characters`. */
  readonly local?: TokenCounter.Service | undefined
  /**
   * How far the sum of `local` may be off: 1 for twice the tokens. The default is made for `TokenCounter.characters`; a
   * better counter can do with less, which saves requests.
   */
  readonly margin?: number | undefined
  /** Tool definitions as the service takes them; the count, and so the budget, then includes them. Default: none. */
  readonly tools?: ReadonlyArray<unknown> | undefined
  /** Conversations whose count is kept, with what was sent. Default 32. */
  readonly capacity?: number | undefined
}
