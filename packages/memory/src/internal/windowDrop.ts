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
  readonly rounds?: ReadonlyArray<number> | undefined
}

/** What a budget allows in numbers, at least one round; `Infinity` where there is no limit. @internal */
export const limitsOf = (budget: Budget.Budget): window.Limits => ({
  tokens: budget.maxTokens ?? Infinity,
  rounds: Math.max(1, budget.maxRounds ?? Infinity)
})

/** The ordinal of each message's round, 0 for the preamble. */
const roundsOf = ({ messages, newest, rounds, standIns }: Input): ReadonlyArray<number> => {
  if (rounds !== undefined) return rounds
  const inert = new Set(standIns)
  const spans = pair(messages.map((message, i) => inert.has(i) ? Message.system("") : message)).rounds
  return spans.flatMap(({ end, preamble, start }, ordinal) =>
    Array.from({ length: end - start }, (_, offset) =>
      preamble
        ? 0
        // The newest round may begin inside a span, where the round before it was protected.
        : start + offset >= newest
        ? spans.length + 1
        : ordinal + 1)
  )
}

/**
 * Each message with its round, tokens and whether it must stay.
 *
 * @internal
 */
export const linesOf = (input: Input, system: SystemRule): ReadonlyArray<window.Line> => {
  const standIns = new Set(input.standIns)
  const rounds = roundsOf(input)
  return input.messages.map((message, i): window.Line => {
    const preamble = rounds[i] === 0
    const free = system === "free" && message.role === "system"
    return {
      tokens: input.counts[i],
      round: rounds[i],
      pinned: free || standIns.has(i) || (system === "keep" && preamble && message.role === "system"),
      counted: !preamble
    }
  })
}

/**
 * Indices of the messages that the window keeps.
 *
 * @internal
 */
export const windowDrop = (input: Input, system: SystemRule, target: window.Target): ReadonlyArray<number> =>
  window.keptLines(linesOf(input, system), input.newest, limitsOf(input.budget), input.counter.overhead, target)
