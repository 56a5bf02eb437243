/**
 * What a memory would do if it were asked for its context now.
 *
 * @since 0.1.0
 */

/**
 * @since 0.1.0
 * @category models
 */
export interface MemoryPlan {
  /** What makes the memory trim: nothing, the limit of tokens, or the limit of rounds. */
  readonly trigger: "none" | "tokens" | "rounds"
  /** Tokens of the view, overhead included. */
  readonly tokensBefore: number
  /** Tokens of the context. Without the summary where one is to be made; `undefined` where the strategy does not tell. */
  readonly tokensAfter: number | undefined
  /** Most tokens of a context. */
  readonly maxTokens: number | undefined
  /** What must stay, in tokens. */
  readonly floor: Floor
  /** Leading messages that the context has in common with the one handed out before. */
  readonly stablePrefix: number
  /** What becomes of each round of the view, in order; empty where the strategy does not tell. */
  readonly rounds: ReadonlyArray<RoundPlan>
}

/**
 * What must stay, in tokens.
 *
 * @since 0.1.0
 * @category models
 */
export interface Floor {
  /** Of the conversation beside its messages. */
  readonly overhead: number
  /** System messages of the preamble. */
  readonly system: number
  /** Protected rounds before the newest one. */
  readonly protected: number
  /** What stands for messages covered by a compaction. */
  readonly summary: number
  /** The newest round. */
  readonly newest: number
  readonly total: number
}

/**
 * What becomes of a round, in numbers of messages.
 *
 * @since 0.1.0
 * @category models
 */
export interface RoundPlan {
  /** Sequence number of its first message; −1 where that stands for others. */
  readonly sequence: number
  /** Its tokens. */
  readonly tokens: number
  /** Why: it must stay, it fits, or what the budget asks for. */
  readonly reason: "newest" | "protected" | "fits" | "over tokens" | "over rounds"
  readonly kept: number
  readonly leftOut: number
  readonly cleared: number
  readonly shortened: number
  /** Messages that a summary is to stand for. */
  readonly summarized: number
}
