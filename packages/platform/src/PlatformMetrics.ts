/**
 * Metrics of all remote calls of the process. The only labels are `service` and `kind`, from fixed sets.
 *
 * @since 0.1.0
 */
import * as Metric from "effect/Metric"

/**
 * Requests that were sent, every attempt counted.
 *
 * @since 0.1.0
 * @category metrics
 */
export const requests = Metric.counter("effect_memory_remote_requests", {
  description: "Requests sent, every attempt counted",
  incremental: true
})

/**
 * Attempts that followed a failed one.
 *
 * @since 0.1.0
 * @category metrics
 */
export const retries = Metric.counter("effect_memory_remote_retries", {
  description: "Attempts that followed a failed one",
  incremental: true
})

/**
 * Calls that failed for good, after which a memory falls back to its own estimate.
 *
 * @since 0.1.0
 * @category metrics
 */
export const failures = Metric.counter("effect_memory_remote_failures", {
  description: "Calls that failed after all attempts",
  incremental: true
})

/**
 * Circuits that opened, those that opened again after a probe included.
 *
 * @since 0.1.0
 * @category metrics
 */
export const circuitsOpened = Metric.counter("effect_memory_remote_circuits_opened", {
  description: "Circuits that opened",
  incremental: true
})

/**
 * Routes that a service does not have, and that are asked no more.
 *
 * @since 0.1.0
 * @category metrics
 */
export const routesOff = Metric.counter("effect_memory_remote_routes_off", {
  description: "Routes that are asked no more",
  incremental: true
})

/**
 * How long attempts take, failures included.
 *
 * @since 0.1.0
 * @category metrics
 */
export const latency = Metric.timer("effect_memory_remote_latency", "How long attempts take")
