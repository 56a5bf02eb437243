/**
 * Strategies and budgets beside each other.
 */
import type * as Replay from "../Replay.js"
import { count, percent, plural } from "./numbers.js"
import type { Style } from "./style.js"
import { columns, join, left, none, type Rewritten, rewritten, right } from "./table.js"

const heading = (shown: ReadonlyArray<Rewritten>): string =>
  join([
    left("strategy", 9),
    right("budget", 9),
    right("largest context", 15),
    right("sent in all", 11),
    right("saved", 5),
    right("moved", 5),
    right("left out", 8),
    ...shown.map((column) => right(column, column.length))
  ])

const row = (totals: Replay.Totals, shown: ReadonlyArray<Rewritten>, style: Style): string => {
  const full = right(percent(totals.largest, totals.maxTokens), 6)
  const known = columns(totals.strategy)
  return join([
    left(totals.strategy, 9),
    right(count(totals.maxTokens), 9),
    right(count(totals.largest), 9) + (totals.largest > totals.maxTokens ? style.bad(full) : full),
    right(count(totals.sent), 11),
    right(percent(totals.saved, totals.sent + totals.saved), 5),
    right(count(totals.moved), 5),
    right(none(totals.leftOut), 8),
    ...shown.map((column) => right(known.includes(column) ? none(totals[column]) : "", column.length))
  ])
}

/** @internal */
export const lines = (file: string, all: ReadonlyArray<Replay.Totals>, style: Style): ReadonlyArray<string> => {
  const [{ contexts, conversations, messages, rounds, tokens }] = all
  const shown = rewritten.filter((column) => all.some(({ strategy }) => columns(strategy).includes(column)))
  const facts = [
    plural(conversations, "conversation"),
    `${plural(messages, "message")} in ${plural(rounds, "round")}`,
    plural(tokens, "token"),
    plural(contexts, "context")
  ]
  return [
    `${style.bold(file)}  ${style.dim(facts.join(", "))}`,
    style.dim(heading(shown)),
    ...all.map((totals) => row(totals, shown, style))
  ]
}
