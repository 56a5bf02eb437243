/**
 * Dropping groups, oldest first.
 */
import type * as Message from "../Message.js"
import { groupsOf } from "./settle.js"
import * as window from "./window.js"
import { type Input, limitsOf, linesOf, type SystemRule } from "./windowDrop.js"

/** Messages that are kept or left out together, ascending. @internal */
export type Unit = ReadonlyArray<number>

/**
 * The units of a list: a group with its results, any other message alone. In the order of their first message.
 *
 * @internal
 */
export const unitsOf = (messages: ReadonlyArray<Message.Message>): ReadonlyArray<Unit> => {
  const groups = groupsOf(messages).map((group) => group.items)
  const grouped = new Set(groups.flat())
  return [...groups, ...messages.flatMap((_, i) => grouped.has(i) ? [] : [[i]])].sort((a, b) => a[0] - b[0])
}

/**
 * Units of the newest round that must stay whatever happens: its user messages, its newest group, its open calls.
 *
 * @internal
 */
export const stayingUnits = (
  messages: ReadonlyArray<Message.Message>,
  newest: number
): ReadonlySet<number> => {
  const groups = groupsOf(messages)
  const stay = new Set<number>()
  for (let i = newest; i < messages.length; i++) if (messages[i].role === "user") stay.add(i)
  groups.forEach(({ items, open }, g) => {
    if (items[0] >= newest && (open || g === groups.length - 1)) stay.add(items[0])
  })
  return stay
}

/**
 * Indices of the messages that stay.
 *
 * @internal
 */
export const truncate = (input: Input, system: SystemRule, target: window.Target): ReadonlyArray<number> => {
  const lines = linesOf(input, system)
  const stay = stayingUnits(input.messages, input.newest)
  const tokensOf = (unit: Unit) => unit.reduce((sum, i) => sum + lines[i].tokens, 0)
  const droppable = unitsOf(input.messages).filter(([first]) => !lines[first].pinned && !stay.has(first))
  const total = lines.reduce((sum, line) => sum + line.tokens, input.counter.overhead)
  const limits = { ...limitsOf(input.budget), rounds: Infinity }
  const excess = window.stepped({ tokens: total - limits.tokens, rounds: -Infinity }, limits, target)
  let before = 0
  const tokensBefore = droppable.map((unit) => {
    const sum = before
    before += tokensOf(unit)
    return sum
  })
  const first = window.firstKept(tokensBefore, tokensBefore.map(() => 0), droppable.length, excess)
  const dropped = new Set(droppable.slice(0, first).flat())
  return input.messages.flatMap((_, i) => dropped.has(i) ? [] : [i])
}
