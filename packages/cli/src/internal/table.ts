/**
 * What a person reads: a title, a row for each turn, the totals.
 */
import type { Conversation } from "@effect-memory/formats/Conversation"
import type * as Replay from "../Replay.js"
import { count, percent, plural } from "./numbers.js"
import type { Style } from "./style.js"

const barWidth = 16

const eighths = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"]

/** How full the window is, in eighths of a cell. Something never looks like nothing, less than full never like full. */
const cells = (part: number, whole: number): string => {
  const full = barWidth * 8
  const filled = part === 0 ? 0 : part >= whole ? full : Math.max(1, Math.floor(part / whole * full))
  return "█".repeat(Math.floor(filled / 8)) + eighths[filled % 8]
}

/** @internal */
export const bar = (part: number, whole: number, style: Style): string => {
  const paint = part > whole ? style.bad : part > whole * 0.9 ? style.warn : style.good
  const filled = cells(part, whole)
  return paint(filled) + style.dim("░".repeat(barWidth - filled.length))
}

/** @internal */
export const left = (text: string, width: number): string => text.padEnd(width)

/** @internal */
export const right = (text: string, width: number): string => text.padStart(width)

/** @internal */
export const join = (cells: ReadonlyArray<string>): string => cells.join("  ").trimEnd()

/** Nothing is a dash. @internal */
export const none = (n: number): string => n === 0 ? "–" : count(n)

/** What a strategy may do beside leaving out. @internal */
export type Rewritten = "summarized" | "cleared" | "shortened"

/** @internal */
export const rewritten: ReadonlyArray<Rewritten> = ["summarized", "cleared", "shortened"]

/** What there is to show of a strategy beside what it leaves out. @internal */
export const columns = (strategy: string): ReadonlyArray<Rewritten> =>
  strategy === "cascade" ? rewritten : strategy === "summarize" ? ["summarized"] : []

/** @internal */
export interface Shown {
  /** Whether a service counts contexts. */
  readonly exact: boolean
  readonly rewritten: ReadonlyArray<Rewritten>
}

/** @internal */
export const heading = (maxTokens: number, { exact, rewritten }: Shown, style: Style): string =>
  style.dim(join([
    right("turn", 4),
    left("role", 9),
    right("recorded", 9),
    right("context", 8),
    ...(exact ? [right("exact", 8)] : []),
    left(`of ${count(maxTokens)}`, barWidth + 5),
    right("rounds", 6),
    right("left out", 8),
    ...rewritten
  ]))

/** @internal */
export const row = (turn: Replay.Turn, { exact, rewritten }: Shown, style: Style): string => {
  const { context, leftOut, maxTokens, recorded } = turn
  const tokens = turn.exact ?? context.tokens
  const full = right(percent(tokens, maxTokens), 4)
  const quiet = (n: number, width: number) => n === 0 ? style.dim(right(none(n), width)) : right(none(n), width)
  return join([
    style.dim(right(count(turn.turn), 4)),
    left(turn.role, 9),
    right(count(recorded.tokens), 9),
    right(count(context.tokens), 8),
    ...(exact ? [right(none(turn.exact ?? 0), 8)] : []),
    `${bar(tokens, maxTokens, style)} ${tokens > maxTokens ? style.bad(full) : full}`,
    right(count(context.rounds), 6),
    quiet(leftOut.rounds, 8),
    ...rewritten.map((column) => quiet(turn[column], column.length)),
    turn.moved ? style.warn("✂") : ""
  ])
}

/** @internal */
export const title = (file: string, { format, index, line, messages }: Conversation, style: Style): string => {
  const place = index === 0 && line <= 1 ? "" : `, conversation ${count(index + 1)} (line ${count(line)})`
  return `${style.bold(`${file}${place}`)}  ${style.dim(`${format}, ${plural(messages.length, "message")}`)}`
}

/** `OrphanResult` reads `orphan result`. @internal */
export const words = (tag: string): string => tag.replaceAll(/(?<=[a-z])(?=[A-Z])/g, " ").toLowerCase()

const remarks: { readonly [column in Rewritten]: string } = {
  summarized: "messages that the last summary stands for",
  cleared: "results with a placeholder in their place in the last context",
  shortened: "parts cut to head and tail in the last context"
}

/** @internal */
export const totals = (
  totals: Replay.Totals,
  shown: ReadonlyArray<Rewritten>,
  style: Style
): ReadonlyArray<string> => {
  const { maxTokens } = totals
  const findings = Object.entries(totals.findings)
  const found = findings.reduce((sum, [, n]) => sum + n, 0)
  const whole = totals.sent + totals.saved
  const lines: ReadonlyArray<readonly [label: string, value: string, remark: string]> = [
    ["conversations", count(totals.conversations), ""],
    ["messages", count(totals.messages), `in ${plural(totals.rounds, "round")}`],
    ["tokens recorded", count(totals.tokens), ""],
    ["contexts", count(totals.contexts), `${plural(totals.sent, "token")} in all`],
    ["largest context", count(totals.largest), `${percent(totals.largest, maxTokens)} of the window`],
    ["tokens saved", count(totals.saved), `${percent(totals.saved, whole)} of what whole histories would have cost`],
    ["prefix moved", count(totals.moved), totals.moved === 0 ? "" : "✂ a provider's prompt cache starts anew"],
    ...shown.map((column) => [column, count(totals[column]), totals[column] === 0 ? "" : remarks[column]] as const),
    ["findings", count(found), findings.map(([kind, n]) => `${words(kind)} ${count(n)}`).join(", ")]
  ]
  const width = Math.max(...lines.map(([, value]) => value.length))
  return [
    style.bold("Totals"),
    ...lines.map(([label, value, remark]) =>
      `  ${left(label, 17)}${right(value, width)}  ${style.dim(remark)}`.trimEnd()
    )
  ]
}
