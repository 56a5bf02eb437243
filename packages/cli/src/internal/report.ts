/**
 * How a replay is shown, as lines: a table for people, JSON for programs.
 */
import type { Conversation } from "@effect-memory/formats/Conversation"
import * as Schema from "effect/Schema"
import * as Replay from "../Replay.js"
import type { Style } from "./style.js"
import * as table from "./table.js"

/** @internal */
export interface Report {
  /** Before the first turn of a conversation. */
  readonly begin: (conversation: Conversation) => ReadonlyArray<string>
  readonly turn: (turn: Replay.Turn) => ReadonlyArray<string>
  /** After the last turn of a conversation. */
  readonly summary: (summary: Replay.Summary) => ReadonlyArray<string>
  /** After the last conversation. */
  readonly totals: (totals: Replay.Totals) => ReadonlyArray<string>
}

/** @internal */
export const forPeople = (file: string, maxTokens: number, style: Style): Report => ({
  begin: (conversation) => [table.title(file, conversation, style), table.heading(maxTokens, style)],
  turn: (turn) => [table.row(turn, style)],
  summary: () => [""],
  totals: (totals) => table.totals(totals, maxTokens, style)
})

const encode = Schema.encodeSync(Schema.parseJson(Schema.Union(Replay.Turn, Replay.Summary, Replay.Totals)))

/** @internal */
export const forPrograms: Report = {
  begin: () => [],
  turn: (turn) => [encode(turn)],
  summary: (summary) => [encode(summary)],
  totals: (totals) => [encode(totals)]
}
