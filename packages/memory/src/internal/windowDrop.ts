/**
 * The plain window over a list: whole rounds go, oldest first. The memory does the same on its view without copying it.
 */
import type * as Budget from "../Budget.js"
import * as Message from "../Message.js"
import { pair } from "./pairing.js"
import * as window from "./window.js"

/** What becomes of system messages, see `TrimStrategy.Service`. @internal */
export type SystemRule = "keep" | "trim" | "free"

/**
 * Where a strategy that is the plain window keeps its options: the memory carries it out on its view.
 *
 * @internal
 */
export const WindowOptions = Symbol.for("effect-memory/TrimStrategy/WindowOptions")

/** @internal */
export interface WindowOptions {
  readonly system: SystemRule
  readonly target: number | undefined
}

/** @internal */
export interface Input {
  readonly messages: ReadonlyArray<Message.Message>
  readonly counts: ReadonlyArray<number>
  readonly budget: Budget.Budget
  readonly counter: { readonly overhead: number }
  readonly standIns: ReadonlyArray<number>
  readonly newest: number
}

/** What a budget allows in numbers, at least one round; `Infinity` where there is no limit. @internal */
export const limitsOf = (budget: Budget.Budget): window.Limits => ({
  tokens: budget.maxTokens ?? Infinity,
  rounds: Math.max(1, budget.maxRounds ?? Infinity)
})

/**
 * Each message with its round, tokens and whether it must stay.
 *
 * @internal
 */
export const linesOf = (input: Input, system: SystemRule): ReadonlyArray<window.Line> => {
  const standIns = new Set(input.standIns)
  const { rounds } = pair(
    input.messages.map((message, i) => standIns.has(i) ? Message.system("") : message)
  )
  return rounds.flatMap((round, ordinal) =>
    input.messages.slice(round.start, round.end).map((message, offset): window.Line => {
      const i = round.start + offset
      const free = system === "free" && message.role === "system"
      return {
        tokens: input.counts[i],
        // The newest round may begin inside a span, where the round before it was protected.
        round: i >= input.newest ? rounds.length : ordinal,
        pinned: free || standIns.has(i) || (system === "keep" && round.preamble && message.role === "system"),
        counted: !round.preamble
      }
    })
  )
}

/**
 * Indices of the messages that the window keeps.
 *
 * @internal
 */
export const windowDrop = (input: Input, system: SystemRule, target: window.Target): ReadonlyArray<number> =>
  window.keptLines(linesOf(input, system), input.newest, limitsOf(input.budget), input.counter.overhead, target)
