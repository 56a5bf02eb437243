/**
 * Writes conversations in a format.
 */
import type * as Terminal from "@effect/platform/Terminal"
import type { Codec } from "@effect-memory/formats/Codec"
import { type Conversation, isConversation } from "@effect-memory/formats/Conversation"
import * as Format from "@effect-memory/formats/Format"
import type { FormatError, UnknownFormat } from "@effect-memory/formats/FormatError"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Ref from "effect/Ref"
import * as Stream from "effect/Stream"
import * as Transcript from "effect-memory/Transcript"
import { type FileError, OneConversation, type OutputError } from "../CliError.js"
import type * as Convert from "../Convert.js"
import type { Write } from "./destination.js"
import type { ProviderName } from "./names.js"
import { plural } from "./numbers.js"
import type { Style } from "./style.js"

/** Writes a conversation so that it can be sent by the rules, or as it is. @internal */
export type Writer = (
  conversation: Conversation,
  rules: ProviderName
) => Effect.Effect<
  Convert.Written,
  FileError | FormatError | OneConversation | OutputError | UnknownFormat,
  Terminal.Terminal
>

/** The format that a conversation is written in. @internal */
export const codecOf = (to: Codec | undefined, { format }: Conversation): Effect.Effect<Codec, UnknownFormat> =>
  to === undefined ? Format.find(format) : Effect.succeed(to)

/** How often what is read back is repaired and written again. */
const mostRepairs = 3

/**
 * A conversation as text that can be sent when it is read back: what a format cannot carry may leave an empty message or
 * a call without its result behind.
 */
const encodeSendable = Effect.fnUntraced(function*(
  conversation: Conversation,
  codec: Codec,
  rules: Transcript.Rules
): Effect.fn.Return<Format.Written, FormatError | UnknownFormat> {
  const written = yield* Format.encode(conversation, { format: codec })
  const repaired = (text: string, left: number): Effect.Effect<string, FormatError | UnknownFormat> =>
    Effect.gen(function*() {
      const back = yield* Stream.runHead(Format.read(Stream.make(text), { format: codec, strict: true }))
      if (left === 0 || Option.isNone(back) || !isConversation(back.value)) return text
      const { messages } = back.value
      const sendable = Transcript.repair(messages, rules)
      if (sendable.length === messages.length && sendable.every((message, i) => message === messages[i])) return text
      const { text: next } = yield* Format.encode({ ...back.value, messages: sendable }, { format: codec })
      return yield* repaired(next, left - 1)
    })
  return { ...written, text: written.text === "" ? "" : yield* repaired(written.text, mostRepairs) }
})

/**
 * Writes each conversation in the format that is named, or else in its own.
 *
 * @internal
 */
export const make = (file: string, to: Codec | undefined, write: Write): Effect.Effect<Writer> =>
  Effect.map(
    Ref.make(0),
    (written): Writer =>
      Effect.fnUntraced(function*(conversation: Conversation, rules: ProviderName) {
        const codec = yield* codecOf(to, conversation)
        const before = yield* Ref.getAndUpdate(written, (n) => n + 1)
        if (before > 0 && codec.layout === "session" && !codec.many) {
          return yield* new OneConversation({ file, format: codec.id })
        }
        const { notes, text } = rules === "none"
          ? yield* Format.encode(conversation, { format: codec })
          : yield* encodeSendable(conversation, codec, rules)
        yield* write(text)
        return {
          conversation: conversation.index + 1,
          from: conversation.format,
          to: codec.id,
          notes: [...conversation.notes, ...notes]
        }
      })
  )

/** What became of a conversation beside its messages, for people. @internal */
export const noteLines = (notes: ReadonlyArray<Convert.Note>, style: Style): ReadonlyArray<string> =>
  notes.map(({ count, kind, what }) => `  ${style.warn(kind)}  ${what}, ${plural(count, "time")}`)

/** The name of a conversation, for people. @internal */
export const title = (file: string, { conversation, from, to }: Convert.Written, style: Style): string =>
  `${style.bold(conversation === 1 ? file : `${file}, conversation ${conversation}`)}  ` +
  style.dim(from === to ? from : `${from} → ${to}`)
