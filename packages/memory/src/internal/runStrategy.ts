/**
 * One run of a strategy over the items of a view, up to a context that keeps the laws.
 */
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import type * as Budget from "../Budget.js"
import { type TokenCountError, TrimError } from "../MemoryError.js"
import type * as Message from "../Message.js"
import type * as TokenCounter from "../TokenCounter.js"
import type * as TrimStrategy from "../TrimStrategy.js"
import { countAll } from "./counting.js"
import { diagnose } from "./diagnose.js"
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
  /** Rounds of the context. */
  readonly rounds: number
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
      newest: newest < 0 ? seen.length : newest,
      rounds: seen.map((i) => items[i].counted ? items[i].round + 1 : 0)
    }
  }
}

/** A strategy may be anyone's: what it dies or interrupts itself of is an error of its own, not of the caller. */
const guarded = (
  run: Effect.Effect<TrimStrategy.TrimResult, TrimError>
): Effect.Effect<TrimStrategy.TrimResult, TrimError> =>
  Effect.catchAllCause(run, (cause) =>
    Either.match(Cause.failureOrCause(cause), {
      onLeft: Effect.fail,
      onRight: (died) =>
        Effect.fail(new TrimError({ reason: "the strategy died, see the cause", cause: Cause.squash(died) }))
    }))

/** @internal */
export const runStrategy = Effect.fnUntraced(function*(
  items: ReadonlyArray<Item>,
  given: { readonly input: TrimStrategy.TrimInput; readonly seen: ReadonlyArray<number> },
  budget: Budget.Budget,
  system: SystemRule,
  trim: TrimStrategy.Service["trim"]
): Effect.fn.Return<Outcome, TrimError | TokenCountError> {
  const { input, seen } = given
  const { counter } = input
  const result = yield* guarded(Effect.suspend(() => trim(input)))
  const fault = settling.faultOf(result, input.messages)
  if (fault !== undefined) return yield* new TrimError({ reason: fault })

  const settled = settling.settle(items, seen, result)
  const unsendable = unsendableOf(items, settled.placed)
  if (unsendable !== undefined) return yield* new TrimError({ reason: unsendable })

  const fitted = fit(
    items,
    settled.placed,
    yield* chargesOf(items, settled.placed, system, counter),
    input,
    budget,
    system
  )
  const limit = limitsOf(budget).tokens
  if (settled.covers.size === 0 && fitted.tokens > limit) {
    const plain = fit(items, asPlaced(items), items.map((item) => item.tokens), input, budget, system)
    if (fitted.tokens > plain.tokens) {
      return yield* new TrimError({
        reason:
          `what it returned takes ${fitted.tokens} tokens of ${limit}: keep less, or let new messages replace others`
      })
    }
  }
  const standIns = yield* countAll(counter, settled.standIns)
  const covered = Array.from(settled.covers, (i) => items[i].tokens)
  return {
    ...settled,
    ...fitted,
    seen,
    result,
    won: sum(covered) - (sum(standIns) - earlierStandIns(items, settled))
  }
})

const asPlaced = (items: ReadonlyArray<Item>): ReadonlyArray<settling.Placed> =>
  items.map(({ message }, item) => ({ message, item }))

/** What the plain window keeps of a trimmed sequence. */
const fit = (
  items: ReadonlyArray<Item>,
  placed: ReadonlyArray<settling.Placed>,
  charged: ReadonlyArray<number>,
  input: TrimStrategy.TrimInput,
  budget: Budget.Budget,
  system: SystemRule
): Pick<Outcome, "context" | "tokens" | "rounds"> => {
  const lines = linesOf(items, placed, charged, system)
  const newestRound = items.at(-1)?.round ?? 0
  const newest = lines.findIndex((line) => line.round === newestRound)
  const from = newest < 0 ? lines.length : newest
  const { overhead } = input.counter
  const kept = window.keptLines(lines, from, limitsOf(budget), overhead, target.none)
  return {
    context: kept.map((i) => placed[i]),
    tokens: kept.reduce((total, i) => total + charged[i], overhead),
    rounds: new Set(kept.flatMap((i) => lines[i].counted ? [lines[i].round] : [])).size
  }
}

/** Why a sequence cannot be sent although what it was made from can, in words. */
const unsendableOf = (
  items: ReadonlyArray<Item>,
  placed: ReadonlyArray<settling.Placed>
): string | undefined => {
  const isAsGiven = ({ item, message }: settling.Placed) => item !== undefined && message === items[item].message
  if (placed.every(isAsGiven)) return undefined
  const faultIn = (sequence: ReadonlyArray<{ readonly message: Message.Message }>) =>
    diagnose(sequence.map(({ message }) => message), "pairing").find(({ _tag }) => _tag !== "OpenCall")
  const fault = faultIn(placed)
  return fault === undefined || faultIn(items) !== undefined
    ? undefined
    : `what it returned cannot be sent, ${fault._tag} at message ${fault.message}: ${fault.remedy}`
}

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
