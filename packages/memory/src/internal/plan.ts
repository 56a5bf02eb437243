/**
 * What a run of a strategy means for each round.
 */
import type { RoundPlan } from "../MemoryPlan.js"
import type { TrimAction } from "../TrimStrategy.js"
import type { Outcome } from "./runStrategy.js"
import type { Item } from "./view.js"

/** @internal */
export const roundPlans = (
  items: ReadonlyArray<Item>,
  trigger: "none" | "tokens" | "rounds",
  outcome: Outcome | undefined
): ReadonlyArray<RoundPlan> => {
  const fates = fatesOf(items, outcome)
  const newest = items.at(-1)?.round
  const rounds: Array<RoundPlan> = []
  for (let start = 0; start < items.length;) {
    const { protected: isProtected, round, sequence } = items[start]
    let end = start
    while (end < items.length && items[end].round === round) end++
    const count = (fate: TrimAction["action"] | "kept") =>
      fates.slice(start, end).reduce((n, found) => found === fate ? n + 1 : n, 0)
    const kept = count("kept")
    rounds.push({
      sequence,
      tokens: items.slice(start, end).reduce((sum, item) => sum + item.tokens, 0),
      reason: round === newest
        ? "newest"
        : isProtected
        ? "protected"
        : kept === end - start || trigger === "none"
        ? "fits"
        : trigger === "tokens"
        ? "over tokens"
        : "over rounds",
      kept,
      leftOut: count("left out"),
      cleared: count("cleared"),
      shortened: count("shortened"),
      summarized: count("summarized")
    })
    start = end
  }
  return rounds
}

const fatesOf = (
  items: ReadonlyArray<Item>,
  outcome: Outcome | undefined
): ReadonlyArray<TrimAction["action"] | "kept"> => {
  if (outcome === undefined) return items.map(() => "kept")
  const kept = new Set(outcome.context.map((place) => place.item))
  const rewritten = new Map<number, TrimAction["action"]>()
  for (const { action, index } of outcome.result.actions ?? []) rewritten.set(outcome.seen[index], action)
  return items.map((_, i) => {
    if (outcome.covers.has(i)) return "summarized"
    if (!kept.has(i)) return "left out"
    const action = rewritten.get(i)
    return action === "cleared" || action === "shortened" ? action : "kept"
  })
}
