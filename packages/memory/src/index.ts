/**
 * How much a context may hold: at most so many tokens, at most so many rounds, or both.
 *
 * @since 0.1.0
 */
export * as Budget from "./Budget.js"

/**
 * Fitting a list of messages into a model's window, without keeping anything: for those who keep the history themselves.
 *
 * @since 0.1.0
 */
export * as ContextWindow from "./ContextWindow.js"

/**
 * Conversation memory: records messages, and hands out the context for the next model call within a budget.
 *
 * @since 0.1.0
 */
export * as Memory from "./Memory.js"

/**
 * What can go wrong, one tagged error per cause. No message carries the content of a conversation.
 *
 * @since 0.1.0
 */
export * as MemoryError from "./MemoryError.js"

/**
 * What a memory tells about itself: ids and numbers, never content.
 *
 * @since 0.1.0
 */
export * as MemoryEvent from "./MemoryEvent.js"

/**
 * Metrics of all memories of the process. Labels are fixed: no ids, no content.
 *
 * @since 0.1.0
 */
export * as MemoryMetrics from "./MemoryMetrics.js"

/**
 * What a memory would do if it were asked for its context now.
 *
 * @since 0.1.0
 */
export * as MemoryPlan from "./MemoryPlan.js"

/**
 * Where conversations are kept: an append-only log of entries and at most one current compaction each.
 *
 * @since 0.1.0
 */
export * as MemoryStore from "./MemoryStore.js"

/**
 * What every store must do, as a list of cases to run against it. It knows no test runner: a case is an effect.
 *
 * @since 0.1.0
 */
export * as MemoryStoreConformance from "./MemoryStoreConformance.js"

/**
 * Provider-neutral messages: plain values with the roles and parts of `@effect/ai`'s `Prompt`, so that a context goes
 * into `Prompt.make` as it is.
 *
 * @since 0.1.0
 */
export * as Message from "./Message.js"

/**
 * Summarizing the part of a conversation that no longer fits.
 *
 * @since 0.1.0
 */
export * as Summarizer from "./Summarizer.js"

/**
 * Counting tokens. A counter may be local or remote; content can never make it fail or hang.
 *
 * @since 0.1.0
 */
export * as TokenCounter from "./TokenCounter.js"

/**
 * Sequences of messages: their rounds and groups, what a provider would refuse in them, and the form that it takes.
 *
 * @since 0.1.0
 */
export * as Transcript from "./Transcript.js"

/**
 * How a conversation that is over its budget becomes one that fits. A strategy is a value, and anyone can write one.
 *
 * @since 0.1.0
 */
export * as TrimStrategy from "./TrimStrategy.js"
