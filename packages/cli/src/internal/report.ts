/**
 * How a replay is shown, as lines: a table for people, JSON for programs.
 */
import type { Conversation } from "@effect-memory/formats/Conversation"
import * as Schema from "effect/Schema"
import * as Replay from "../Replay.js"
import * as comparison from "./comparison.js"
import type { Style } from "./style.js"
import * as table from "./table.js"

/** @internal */
export interface Report {
  /** Before the first turn of a conversation. */
  readonly begin: (conversation: Conversation) => ReadonlyArray<string>
  readonly turn: (turn: Replay.Turn) => ReadonlyArray<string>
  /** After the last turn of a conversation. */
  readonly summary: (summary: Replay.Summary) => ReadonlyArray<string>
  /** After the last conversation, for each variant. */
  readonly totals: (totals: ReadonlyArray<Replay.Totals>) => ReadonlyArray<string>
}

/** Several variants are compared with each other; of one, every turn is shown. @internal */
export const forPeople = (
  file: string,
  variants: ReadonlyArray<{ readonly strategy: string; readonly maxTokens: number }>,
  style: Style
): Report => {
  if (variants.length > 1) {
    return {
      begin: () => [],
      turn: () => [],
      summary: () => [],
      totals: (totals) => comparison.lines(file, totals, style)
    }
  }
  const [{ maxTokens, strategy }] = variants
  const columns = table.columns(strategy)
  return {
    begin: (conversation) => [table.title(file, conversation, style), table.heading(maxTokens, columns, style)],
    turn: (turn) => [table.row(turn, columns, style)],
    summary: () => [""],
    totals: ([totals]) => table.totals(totals, columns, style)
  }
}

const encode = Schema.encodeSync(Schema.parseJson(Schema.Union(Replay.Turn, Replay.Summary, Replay.Totals)))

/** @internal */
export const forPrograms: Report = {
  begin: () => [],
  turn: (turn) => [encode(turn)],
  summary: (summary) => [encode(summary)],
  totals: (totals) => totals.map((one) => encode(one))
}
