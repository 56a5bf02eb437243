/**
 * One run of a strategy over the items of a view, up to a context that keeps the laws.
 */
import * as Effect from "effect/Effect"
import type * as Budget from "../Budget.js"
import { type TokenCountError, TrimError } from "../MemoryError.js"
import type * as Message from "../Message.js"
import type * as TokenCounter from "../TokenCounter.js"
import type * as TrimStrategy from "../TrimStrategy.js"
import { countAll } from "./counting.js"
import * as settling from "./settle.js"
import * as target from "./target.js"
import type { Item } from "./view.js"
import * as window from "./window.js"
import { limitsOf, type SystemRule } from "./windowDrop.js"

/** @internal */
export interface Outcome extends settling.Settled {
  /** The items that the strategy saw, in its order. */
  readonly seen: ReadonlyArray<number>
  readonly result: TrimStrategy.TrimResult
  /** What fits: the trimmed sequence after the plain window. */
  readonly context: ReadonlyArray<settling.Placed>
  /** Tokens of the context, overhead included. */
  readonly tokens: number
  /** Tokens that a materialization wins; not positive if the stand-ins are larger than what they stand for. */
  readonly won: number
}

/** @internal */
export const systemRule = (strategy: TrimStrategy.Service): SystemRule => strategy.system ?? "keep"

/** What a strategy is given, and the items behind it. @internal */
export const inputOf = (
  items: ReadonlyArray<Item>,
  budget: Budget.Budget,
  counter: TokenCounter.Service
): { readonly input: TrimStrategy.TrimInput; readonly seen: ReadonlyArray<number> } => {
  const seen = items.flatMap((item, i) => item.protected ? [] : [i])
  const pinned = items.filter((item) => item.protected)
  const pinnedRounds = new Set(pinned.filter((item) => item.counted).map((item) => item.round)).size
  const newestRound = items.at(-1)?.round
  const newest = seen.findIndex((i) => items[i].round === newestRound)
  const less = (limit: number | undefined, taken: number) =>
    limit === undefined ? undefined : Math.max(0, limit - taken)
  return {
    seen,
    input: {
      messages: seen.map((i) => items[i].message),
      counts: seen.map((i) => items[i].tokens),
      budget: {
        maxTokens: less(budget.maxTokens, pinned.reduce((sum, item) => sum + item.tokens, 0)),
        maxRounds: less(budget.maxRounds, pinnedRounds)
      },
      counter,
      standIns: seen.flatMap((i, at) => items[i].sequence < 0 ? [at] : []),
      newest: newest < 0 ? seen.length : newest
    }
  }
}

/** A strategy may be anyone's: what it dies of is an error of its own, not of the caller. */
const guarded = (
  run: Effect.Effect<TrimStrategy.TrimResult, TrimError>
): Effect.Effect<TrimStrategy.TrimResult, TrimError> =>
  Effect.catchAllDefect(
    run,
    (defect) => Effect.fail(new TrimError({ reason: "the strategy died, see the cause", cause: defect }))
  )

/** @internal */
export const runStrategy = Effect.fnUntraced(function*(
  items: ReadonlyArray<Item>,
  given: { readonly input: TrimStrategy.TrimInput; readonly seen: ReadonlyArray<number> },
  budget: Budget.Budget,
  system: SystemRule,
  trim: TrimStrategy.Service["trim"]
): Effect.fn.Return<Outcome, TrimError | TokenCountError> {
  const { input, seen } = given
  const result = yield* guarded(Effect.suspend(() => trim(input)))
  const fault = settling.faultOf(result, seen.length)
  if (fault !== undefined) return yield* new TrimError({ reason: fault })

  const settled = settling.settle(items, seen, result)
  const charged = yield* chargesOf(items, settled.placed, system, input.counter)
  const lines = linesOf(items, settled.placed, charged, system)
  const newestRound = items.at(-1)?.round ?? 0
  const newest = lines.findIndex((line) => line.round === newestRound)
  const kept = window.keptLines(
    lines,
    newest < 0 ? lines.length : newest,
    limitsOf(budget),
    input.counter.overhead,
    target.none
  )
  const standIns = yield* countAll(input.counter, settled.standIns)
  const covered = Array.from(settled.covers, (i) => items[i].tokens)
  return {
    ...settled,
    seen,
    result,
    context: kept.map((i) => settled.placed[i]),
    tokens: kept.reduce((sum, i) => sum + charged[i], input.counter.overhead),
    won: sum(covered) - (sum(standIns) - earlierStandIns(items, settled))
  }
})

const sum = (numbers: ReadonlyArray<number>): number => numbers.reduce((total, n) => total + n, 0)

/** Stand-ins that stay are neither won nor paid. */
const earlierStandIns = (items: ReadonlyArray<Item>, settled: settling.Settled): number =>
  sum(items.flatMap((item, i) => item.sequence < 0 && !settled.covers.has(i) ? [item.tokens] : []))

const isFree = (message: Message.Message, system: SystemRule): boolean => system === "free" && message.role === "system"

const chargesOf = (
  items: ReadonlyArray<Item>,
  placed: ReadonlyArray<settling.Placed>,
  system: SystemRule,
  counter: TokenCounter.Service
): Effect.Effect<ReadonlyArray<number>, TokenCountError> => {
  const counted = placed.filter(({ item, message }) => item === undefined || message !== items[item].message)
  return Effect.map(countAll(counter, counted.map(({ message }) => message)), (counts) => {
    const fresh = new Map(counted.map((place, i) => [place, counts[i]]))
    return placed.map((place) => isFree(place.message, system) ? 0 : fresh.get(place) ?? items[place.item!].tokens)
  })
}

const linesOf = (
  items: ReadonlyArray<Item>,
  placed: ReadonlyArray<settling.Placed>,
  charged: ReadonlyArray<number>,
  system: SystemRule
): ReadonlyArray<window.Line> => {
  // A new message belongs to no round: it is given the one behind it, where it stays pinned.
  let round = items.at(-1)?.round ?? 0
  let counted = false
  return placed.map((place, i) => ({ place, tokens: charged[i] })).reverse().map(({ place, tokens }): window.Line => {
    const item = place.item === undefined ? undefined : items[place.item]
    if (item !== undefined) {
      round = item.round
      counted = item.counted
    }
    return { tokens, round, counted, pinned: item === undefined || item.pinned || isFree(place.message, system) }
  }).reverse()
}
