/**
 * What is in the transcripts beside the checkout, as a table in Markdown: figures, and nothing that they say.
 */
import * as fs from "node:fs"
import * as path from "node:path"
import { fileURLToPath } from "node:url"
import { Conversation, Format } from "@effect-memory/formats"
import { Effect, Option, Schema, Stream } from "effect"
import { Message, Transcript } from "effect-memory"
import * as Check from "../src/Check.js"
import { rulesOf } from "../src/internal/rules.js"
import { words } from "../src/internal/table.js"

const folder = fileURLToPath(new URL("../../../../shared/data", import.meta.url))

const Manifest = Schema.parseJson(Schema.Struct({ files: Schema.Array(Schema.Struct({ file: Schema.String })) }))

/** Whether there are any transcripts. */
export const hasTranscripts = fs.existsSync(folder)

/** The files, by name. */
export const transcripts = Effect.suspend(() =>
  Schema.decode(Manifest)(fs.readFileSync(path.join(folder, "manifest.json"), "utf8"))
).pipe(Effect.map(({ files }) => files.map(({ file }) => file).sort()))

const figuresOf = Effect.fnUntraced(function*({ format, messages }: Conversation.Conversation) {
  const named = rulesOf(yield* Format.find(format), Option.none())
  const { findings } = Check.check(messages, { conversation: 1, rules: named === "none" ? "pairing" : named })
  return {
    format,
    messages: messages.length,
    rounds: Transcript.rounds(messages).filter(({ preamble }) => !preamble).length,
    calls: messages.reduce((sum, message) => sum + Message.toolCalls(message).length, 0),
    findings: findings.filter(({ open }) => !open).map(({ finding }) => words(finding))
  }
})

const kindsOf = (findings: ReadonlyArray<string>): string => {
  const kinds = new Map<string, number>()
  for (const finding of findings) kinds.set(finding, (kinds.get(finding) ?? 0) + 1)
  return findings.length === 0
    ? "0"
    : `${findings.length}: ${Array.from(kinds, ([kind, n]) => `${kind} ${n}`).join(", ")}`
}

const rowOf = Effect.fnUntraced(function*(file: string) {
  const bytes = Stream.sync(() => fs.readFileSync(path.join(folder, file)))
  const found = yield* Format.read(bytes, { file, strict: true }).pipe(
    Stream.filter(Conversation.isConversation),
    Stream.mapEffect(figuresOf),
    Stream.runCollect
  )
  const all = Array.from(found)
  const sum = (figure: "messages" | "rounds" | "calls") => all.reduce((total, one) => total + one[figure], 0)
  const cells = [
    `\`${file}\``,
    Array.from(new Set(all.map(({ format }) => format))).join(", "),
    all.length,
    sum("messages"),
    sum("rounds"),
    sum("calls"),
    kindsOf(all.flatMap(({ findings }) => findings))
  ]
  return `| ${cells.join(" | ")} |`
})

/** A row for each file. */
export const table = Effect.map(
  Effect.flatMap(transcripts, (files) => Effect.forEach(files, rowOf)),
  (rows) =>
    [
      "| file | format | conversations | messages | rounds | tool calls | findings |",
      "| --- | --- | ---: | ---: | ---: | ---: | --- |",
      ...rows
    ].join("\n")
)

/** The page that holds the table. */
export const page = fileURLToPath(new URL("../../../docs/formats.md", import.meta.url))

/** The page with another table in the place of its own. */
export const withTable = (text: string, table: string): string =>
  text.replace(/(?<=<!-- transcripts -->\n).*(?=\n<!-- \/transcripts -->)/s, () => table)
