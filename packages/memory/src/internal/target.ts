/**
 * Targets of strategies, in numbers.
 */
import * as Effect from "effect/Effect"
import type * as Budget from "../Budget.js"
import { TrimError } from "../MemoryError.js"
import type * as window from "./window.js"
import { limitsOf } from "./windowDrop.js"

/** @internal */
export const none: window.Target = { tokens: undefined, rounds: undefined }

/** @internal */
export const isTarget = (target: number | undefined): boolean =>
  target === undefined || (target > 0 && (target < 1 || Number.isSafeInteger(target)))

/**
 * A target under a budget; no target where there is none, or where it is not below the budget.
 *
 * @internal
 */
export const of = (target: number | undefined, budget: Budget.Budget): window.Target => {
  if (target === undefined || !isTarget(target)) return none
  const { rounds, tokens } = limitsOf(budget)
  return target < 1
    ? { tokens: Math.floor(tokens * target), rounds: Math.max(1, Math.floor(rounds * target)) }
    : { tokens: target, rounds: undefined }
}

/** @internal */
export const resolve = (
  target: number | undefined,
  budget: Budget.Budget
): Effect.Effect<window.Target, TrimError> =>
  isTarget(target)
    ? Effect.succeed(of(target, budget))
    : Effect.fail(
      new TrimError({
        reason: `target is ${target}: give a fraction between 0 and 1, or a whole number of tokens from 1 on`
      })
    )
