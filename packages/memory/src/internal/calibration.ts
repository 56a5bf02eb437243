/**
 * How a provider's bill relates to a local count: a factor for the content, learned from differences of successive
 * bills, and whatever else is in the prompt (tools, instructions) as it was last billed.
 */

/** A context as it was counted, and the prompt as it was billed, in tokens. @internal */
export interface Observation {
  readonly counted: number
  readonly billed: number
}

/** What has been learned of the factor. @internal */
export interface Factors {
  /** Billed tokens for one counted token, from the newest differences. */
  readonly samples: ReadonlyArray<number>
}

/** @internal */
export const nothing: Factors = { samples: [] }

/** Factors outside of these bounds come from something else than content. */
const lowest = 0.5
const highest = 3
/** Smaller differences say more about framing than about content. */
const leastDifference = 32
const maxSamples = 64
/** Until this many differences are known, bills are thought to fall no faster than this. */
const cautiousFall = 0.8
const enoughSamples = 8

/** @internal */
export const learn = (factors: Factors, before: Observation | undefined, now: Observation): Factors => {
  if (before === undefined) return factors
  const counted = now.counted - before.counted
  if (Math.abs(counted) < leastDifference) return factors
  const sample = (now.billed - before.billed) / counted
  return sample < lowest || sample > highest
    ? factors
    : { samples: [...factors.samples, sample].slice(-maxSamples) }
}

const quantile = (factors: Factors, q: number): number | undefined => {
  const sorted = Array.from(factors.samples).sort((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * q))]
}

/** What one counted token more is expected to be billed: high, since the budget is a hard limit. */
const rise = (factors: Factors): number => quantile(factors, 0.9) ?? 1

/** What one counted token less is expected to save: low, for the same reason. */
const fall = (factors: Factors): number =>
  factors.samples.length < enoughSamples
    ? Math.min(cautiousFall, quantile(factors, 0) ?? cautiousFall)
    : quantile(factors, 0.1) ?? cautiousFall

/**
 * The most tokens that may be counted so that the bill stays within `budget`.
 *
 * @internal
 */
export const limit = (factors: Factors, last: Observation | undefined, budget: number): number => {
  if (last === undefined) return Math.floor(budget / rise(factors))
  const room = budget - last.billed
  return Math.max(0, Math.floor(last.counted + room / (room >= 0 ? rise(factors) : fall(factors))))
}
