/**
 * How a replay is shown, as lines: a table for people, JSON for programs.
 */
import type { Conversation } from "@effect-memory/formats/Conversation"
import * as Schema from "effect/Schema"
import type { Asked } from "../Remote.js"
import * as Replay from "../Replay.js"
import * as asked from "./asked.js"
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
  /** What remote services were asked. */
  readonly asked: (asked: ReadonlyArray<Asked>) => ReadonlyArray<string>
}

/** Several variants are compared with each other; of one, every turn is shown. @internal */
export const forPeople = (
  file: string,
  variants: ReadonlyArray<{ readonly strategy: string; readonly maxTokens: number }>,
  /** Whether a service counts contexts. */
  exact: boolean,
  style: Style
): Report => {
  if (variants.length > 1) {
    return {
      begin: () => [],
      turn: () => [],
      summary: () => [],
      totals: (totals) => comparison.lines(file, totals, style),
      asked: (all) => asked.lines(all, style)
    }
  }
  const [{ maxTokens, strategy }] = variants
  const columns = table.columns(strategy)
  return {
    begin: (
      conversation
    ) => [table.title(file, conversation, style), table.heading(maxTokens, { exact, rewritten: columns }, style)],
    turn: (turn) => [table.row(turn, { exact, rewritten: columns }, style)],
    summary: () => [""],
    totals: ([totals]) => table.totals(totals, columns, style),
    asked: (all) => asked.lines(all, style)
  }
}

const encode = Schema.encodeSync(Schema.parseJson(Schema.Union(Replay.Turn, Replay.Summary, Replay.Totals)))

/** @internal */
export const forPrograms: Report = {
  begin: () => [],
  turn: (turn) => [encode(turn)],
  summary: (summary) => [encode(summary)],
  totals: (totals) => totals.map((one) => encode(one)),
  asked: (all) => all.map(asked.json)
}
