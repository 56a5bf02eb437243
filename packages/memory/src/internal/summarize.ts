/**
 * Which part of a conversation a summary takes over, and what the summary looks like.
 */
import type * as Message from "../Message.js"
import * as Messages from "../Message.js"
import * as tag from "./tag.js"
import { stayingUnits, unitsOf } from "./truncate.js"
import * as window from "./window.js"
import { type Input, limitsOf, linesOf, type SystemRule } from "./windowDrop.js"

/** What stands before the text of every summary. */
const prefix = "Summary of prior context:\n"

/** Where a summary comes from. @internal */
export interface Provenance {
  readonly [key: string]: unknown
}

/** @internal */
export const message = (role: "system" | "user", text: string, provenance: Provenance): Message.Message => {
  const options = tag.make("summary", provenance)
  return role === "system" ? Messages.system(prefix + text, options) : Messages.user(prefix + text, options)
}

/** A summary without text. One value, so that it is counted once. @internal */
export const blank = { system: message("system", "", {}), user: message("user", "", {}) }

/** The text of a message that stands for others, without the prefix. @internal */
export const textOf = (standIn: Message.Message): string => {
  const text = Messages.parts(standIn).flatMap((part) => part.type === "text" ? [part.text] : []).join("\n")
  return text.startsWith(prefix) ? text.slice(prefix.length) : text
}

/** What is summarized, and how long the summary may be. @internal */
export interface Plan {
  /** Indices of the messages that the summary takes over, ascending; earlier summaries are not among them. */
  readonly taken: ReadonlyArray<number>
  /** Tokens of what the summary takes the place of, earlier summaries included. */
  readonly tokens: number
  /** Most tokens of the summary beside its prefix. */
  readonly cap: number
  /** Most tokens of the summary, its prefix included. */
  readonly room: number
}

/**
 * Rounds are taken over whole, oldest first. Where the newest round alone leaves no room, its closed groups follow.
 * Nothing is planned where a summary could not make room.
 *
 * @internal
 */
export const plan = (
  input: Input,
  options: {
    readonly system: SystemRule
    readonly target: window.Target
    readonly maxSummaryTokens: number
    /** Tokens of a summary without text. */
    readonly prefixTokens: number
  }
): Plan | undefined => {
  const lines = linesOf(input, options.system)
  const rounds = roundUnits(input, lines)
  return planUnits(input, options, rounds) ?? planUnits(input, options, [...rounds, ...newestUnits(input, lines)])
}

interface Unit {
  readonly items: ReadonlyArray<number>
  readonly counted: boolean
}

const roundUnits = (input: Input, lines: ReadonlyArray<window.Line>): ReadonlyArray<Unit> => {
  const units: Array<{ readonly round: number; readonly counted: boolean; readonly items: Array<number> }> = []
  for (let i = 0; i < input.newest; i++) {
    const { counted, pinned, round } = lines[i]
    if (pinned) continue
    const last = units.at(-1)
    if (last?.round === round) last.items.push(i)
    else units.push({ round, counted, items: [i] })
  }
  return units
}

const newestUnits = (input: Input, lines: ReadonlyArray<window.Line>): ReadonlyArray<Unit> => {
  const stay = stayingUnits(input.messages, input.newest)
  return unitsOf(input.messages)
    .filter(([first]) => first >= input.newest && !stay.has(first) && !lines[first].pinned)
    .map((items) => ({ items, counted: false }))
}

const goalOf = (total: number, limit: number, target: number | undefined): number =>
  total > limit && target !== undefined ? Math.min(target, limit) : limit

const planUnits = (
  input: Input,
  options: Parameters<typeof plan>[1],
  units: ReadonlyArray<Unit>
): Plan | undefined => {
  const tokensOf = (items: ReadonlyArray<number>) => items.reduce((sum, i) => sum + input.counts[i], 0)
  const limits = limitsOf(input.budget)
  const all = input.counts.reduce((sum, tokens) => sum + tokens, input.counter.overhead)
  const droppable = units.reduce((sum, unit) => sum + tokensOf(unit.items), 0)
  const earlier = tokensOf(input.standIns)
  const floor = all - droppable - earlier
  const cap = Math.min(options.maxSummaryTokens, limits.tokens - floor - options.prefixTokens)
  if (!(cap >= 1)) return undefined

  const room = options.prefixTokens + cap
  const tokensBefore: Array<number> = []
  const roundsBefore: Array<number> = []
  let tokens = 0
  let rounds = 0
  for (const unit of units) {
    tokensBefore.push(tokens)
    roundsBefore.push(rounds)
    tokens += tokensOf(unit.items)
    if (unit.counted) rounds++
  }
  const newestRound = input.newest < input.messages.length ? 1 : 0
  // A compaction goes down to the target: what it takes over never comes back, so there is no step to keep to.
  const excess = {
    // Where only rounds are over their limit, any summary that is shorter than what it stands for fits.
    tokens: all > limits.tokens ? all - earlier + room - goalOf(all, limits.tokens, options.target.tokens) : -Infinity,
    rounds: rounds + newestRound - goalOf(rounds + newestRound, limits.rounds, options.target.rounds)
  }
  const taken = units.slice(0, window.firstKept(tokensBefore, roundsBefore, units.length, excess))
    .flatMap((unit) => unit.items)
  const won = tokensOf(taken) + earlier
  // A summary of the earlier one alone, or one that has no room to be shorter, is never asked for.
  return taken.length === 0 || won <= options.prefixTokens + 1
    ? undefined
    : { taken: taken.sort((a, b) => a - b), tokens: won, cap, room }
}
