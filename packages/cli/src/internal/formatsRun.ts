/**
 * What `effect-memory formats` does.
 */
import type { Codec } from "@effect-memory/formats/Codec"
import * as Format from "@effect-memory/formats/Format"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { printLines, stdoutStyle } from "./output.js"
import { rulesOf } from "./rules.js"
import { join, left } from "./table.js"

/** @internal */
export interface Options {
  readonly json: boolean
}

const Row = Schema.parseJson(Schema.TaggedStruct("Format", {
  format: Schema.String,
  title: Schema.String,
  /** Whether a file holds several conversations. */
  many: Schema.Boolean,
  /** Whose rules it is sent by. */
  rules: Schema.String
}))

const encode = Schema.encodeSync(Row)

const rowOf = (codec: Codec): typeof Row.Type => ({
  _tag: "Format",
  format: codec.id,
  title: codec.title,
  many: codec.layout === "document" || codec.many,
  rules: rulesOf(codec, Option.none())
})

/** @internal */
export const formats = Effect.fn("Cli.formats")(function*({ json }: Options) {
  const rows = Format.all.map(rowOf).sort((a, b) => a.format < b.format ? -1 : 1)
  if (json) return yield* printLines(rows.map((row) => encode(row)))
  const style = yield* stdoutStyle
  const width = Math.max(...rows.map(({ format }) => format.length))
  const cells = (format: string, many: string, rules: string, title: string) =>
    join([left(format, width), left(many, 13), left(rules, 9), title])
  yield* printLines([
    style.dim(cells("format", "conversations", "rules", "what it is")),
    ...rows.map(({ format, many, rules, title }) => cells(format, many ? "many a file" : "one a file", rules, title)),
    "",
    style.dim("All are read, by content unless --format names one, and written with --to.")
  ])
})
