/**
 * What `effect-memory convert` does.
 */
import type { Conversation } from "@effect-memory/formats/Conversation"
import * as Format from "@effect-memory/formats/Format"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Convert from "../Convert.js"
import * as destination from "./destination.js"
import { plural } from "./numbers.js"
import * as transcript from "./transcript.js"
import * as writer from "./writer.js"

/** @internal */
export interface Options extends transcript.Source {
  readonly to: string
  /** A path, or `-` for standard output. */
  readonly output: string
  readonly json: boolean
}

const encode = Schema.encodeSync(Schema.parseJson(Convert.Converted))

/** @internal */
export const convert = Effect.fn("Cli.convert")(function*(options: Options) {
  const file = transcript.nameOf(options.file)
  const to = yield* Format.find(options.to)
  const { style, tell } = yield* destination.teller(options.output)
  const progress = yield* transcript.reading("Converting", options.file, options.output === "-")

  const convertOne = Effect.fnUntraced(function*(conversation: Conversation, write: writer.Writer) {
    const messages = conversation.messages.length
    const written = yield* write(conversation, "none")
    yield* progress.clear
    yield* tell(
      options.json
        ? [encode(Convert.Converted.make({ ...written, messages }))]
        : [
          `${writer.title(file, written, style)}, ${plural(messages, "message")}`,
          ...writer.noteLines(written.notes, style)
        ]
    )
  })

  const [, seen] = yield* destination.writing(
    options.output,
    (write) =>
      Effect.flatMap(
        writer.make(file, to, write),
        (write) =>
          transcript.foldInto(options.output, { ...options, onRead: progress.add }, 0, (n, conversation) =>
            Effect.as(convertOne(conversation, write), n + 1))
      )
  )
  yield* transcript.complain(transcript.faults(options, seen))
}, Effect.scoped)
