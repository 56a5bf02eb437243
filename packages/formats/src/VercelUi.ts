/**
 * `UIMessage`s of the Vercel AI SDK: lists of them, and records that hold one in `uiMessages` or `messages`.
 *
 * A message of the assistant holds its steps: each is an assistant message, followed by a `tool` message of the results
 * that stand inside its parts. Results of tools that the provider ran stay in the assistant message. Sources, data and
 * other parts that a message cannot hold are kept as files without data.
 *
 * Not carried when written: results whose call is missing, a value of a failed result that is no text, and where results
 * stood between messages.
 *
 * @since 0.1.0
 */
import type { DocumentCodec, Likeness } from "./Codec.js"
import * as decode from "./internal/decode.js"
import * as envelope from "./internal/envelope.js"
import * as json from "./internal/json.js"
import * as options from "./internal/options.js"
import { read, usage } from "./internal/vercelDocument.js"
import * as messages from "./internal/vercelUiDecode.js"
import * as write from "./internal/vercelUiEncode.js"
import * as schema from "./internal/vercelUiSchema.js"

const check = decode.checker(schema.Message)

const matchMessage = (value: unknown): Likeness =>
  json.isRecord(value) && ["system", "user", "assistant"].includes(String(value.role)) &&
    Array.isArray(value.parts) && value.parts.every((part) => json.isRecord(part) && json.isString(part.type))
    ? 3
    : 0

const at = ["uiMessages", "messages"] as const

/**
 * @since 0.1.0
 * @category codecs
 */
export const codec: DocumentCodec = {
  id: messages.format,
  title: "Vercel AI SDK UIMessage",
  layout: "document",
  match: (value) => {
    if (Array.isArray(value)) return envelope.all(value, matchMessage)
    if (!json.isRecord(value)) return 0
    const list = at.map((name) => value[name]).find(Array.isArray)
    return list === undefined ? 0 : envelope.all(list, matchMessage)
  },
  decode: read({ at, check, state: messages.state, messages: messages.messages }),
  usage,
  encode: (conversation) => {
    const lost = options.ledger("lost")
    const { at: place, fields } = envelope.own(conversation, messages.format, "messages", lost)
    const list = write.messages(conversation.messages, lost)
    return { values: [envelope.wrap(place, fields, list)], notes: lost.notes() }
  }
}
