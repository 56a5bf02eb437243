/**
 * What several test files need.
 */
import { Effect, Metric, MetricState } from "effect"

/** Counters of a service, by name and kind. */
export const metricsOf = (service: string) =>
  Effect.map(Metric.snapshot, (pairs) =>
    Object.fromEntries(pairs.flatMap(({ metricKey, metricState }) => {
      const tags = new Map(metricKey.tags.map(({ key, value }) => [key, value]))
      const kind = tags.get("kind")
      return tags.get("service") === service && MetricState.isCounterState(metricState)
        ? [[kind === undefined ? metricKey.name : `${metricKey.name}:${kind}`, Number(metricState.count)]]
        : []
    })))
