/**
 * How much a context may hold: at most so many tokens, at most so many rounds, or both.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import { InvalidBudget } from "./MemoryError.js"

/**
 * An absent limit is no limit.
 *
 * @since 0.1.0
 * @category models
 */
export interface Budget {
  /** Tokens, overhead of the conversation included. */
  readonly maxTokens: number | undefined
  /** Rounds; the preamble and the summary are not counted. 0 acts as 1. */
  readonly maxRounds: number | undefined
}

/**
 * No limit at all.
 *
 * @since 0.1.0
 * @category constructors
 */
export const unlimited: Budget = { maxTokens: undefined, maxRounds: undefined }

const limit = (field: string, given: number | undefined): Effect.Effect<number | undefined, InvalidBudget> =>
  given === undefined || (Number.isSafeInteger(given) && given >= 0)
    ? Effect.succeed(given)
    : Effect.fail(new InvalidBudget({ field, given: String(given) }))

/**
 * A budget from optional limits. Fails with `InvalidBudget` unless they are finite whole numbers ≥ 0.
 *
 * @example
 * ```ts
 * import { strictEqual } from "node:assert"
 * import { Effect } from "effect"
 * import { Budget } from "effect-memory"
 *
 * const error = Effect.runSync(Effect.flip(Budget.make({ maxTokens: -1 })))
 *
 * strictEqual(error._tag, "InvalidBudget")
 * ```
 *
 * @since 0.1.0
 * @category constructors
 */
export const make = (limits: {
  readonly maxTokens?: number | undefined
  readonly maxRounds?: number | undefined
}): Effect.Effect<Budget, InvalidBudget> =>
  Effect.all({
    maxTokens: limit("maxTokens", limits.maxTokens),
    maxRounds: limit("maxRounds", limits.maxRounds)
  })

/**
 * At most `maxTokens` tokens.
 *
 * @since 0.1.0
 * @category constructors
 */
export const tokens = (maxTokens: number): Effect.Effect<Budget, InvalidBudget> => make({ maxTokens })

/**
 * At most `maxRounds` rounds.
 *
 * @since 0.1.0
 * @category constructors
 */
export const rounds = (maxRounds: number): Effect.Effect<Budget, InvalidBudget> => make({ maxRounds })

/**
 * At most `maxTokens` tokens and at most `maxRounds` rounds: the smaller window wins.
 *
 * @since 0.1.0
 * @category constructors
 */
export const both = (maxTokens: number, maxRounds: number): Effect.Effect<Budget, InvalidBudget> =>
  make({ maxTokens, maxRounds })
