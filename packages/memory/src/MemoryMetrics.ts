/**
 * Metrics of all memories of the process. Labels are fixed: no ids, no content.
 *
 * @since 0.1.0
 */
import * as Metric from "effect/Metric"
import * as MetricBoundaries from "effect/MetricBoundaries"

/**
 * Tokens of the contexts that were handed out.
 *
 * @since 0.1.0
 * @category metrics
 */
export const contextTokens = Metric.histogram(
  "effect_memory_context_tokens",
  MetricBoundaries.exponential({ start: 128, factor: 2, count: 14 }),
  "Tokens of the contexts handed out"
)

/**
 * Contexts that were trimmed.
 *
 * @since 0.1.0
 * @category metrics
 */
export const trims = Metric.counter("effect_memory_trims", {
  description: "Contexts that were trimmed",
  incremental: true
})

/**
 * Compactions that were committed.
 *
 * @since 0.1.0
 * @category metrics
 */
export const compactions = Metric.counter("effect_memory_compactions", {
  description: "Compactions committed",
  incremental: true
})

/**
 * Strategies that failed.
 *
 * @since 0.1.0
 * @category metrics
 */
export const failures = Metric.counter("effect_memory_failures", {
  description: "Strategies that failed",
  incremental: true
})

/**
 * Conversations that could not be counted as a whole.
 *
 * @since 0.1.0
 * @category metrics
 */
export const countFailures = Metric.counter("effect_memory_count_failures", {
  description: "Conversations that could not be counted as a whole",
  incremental: true
})

/**
 * How long summarizers take, failures included.
 *
 * @since 0.1.0
 * @category metrics
 */
export const summarizerLatency = Metric.timer("effect_memory_summarizer_latency", "How long summarizers take")
