/**
 * `ModelMessage`s of the Vercel AI SDK: lists of them, and records that hold one in `messages`.
 *
 * `providerOptions` are kept as they are; of them, what other formats know too (signatures, encrypted reasoning) is also
 * found in `options.<provider>`. Approvals and other parts that a message cannot hold are kept as files without data.
 * Everything is carried when written, but for options of parts that another format read.
 *
 * @since 0.1.0
 */
import type { DocumentCodec, Likeness } from "./Codec.js"
import * as decode from "./internal/decode.js"
import * as envelope from "./internal/envelope.js"
import * as json from "./internal/json.js"
import * as options from "./internal/options.js"
import { read, usage } from "./internal/vercelDocument.js"
import * as messages from "./internal/vercelModelDecode.js"
import * as write from "./internal/vercelModelEncode.js"
import * as schema from "./internal/vercelModelSchema.js"

const check = decode.checker(schema.Message)

const isTypical = (part: unknown): boolean =>
  json.isRecord(part) && ("toolCallId" in part || "providerOptions" in part ||
    (part.type === "file" && "mediaType" in part && !("options" in part)) ||
    (part.type === "image" && "image" in part))

const matchMessage = (value: unknown): Likeness => {
  if (!json.isRecord(value) || !["system", "user", "assistant", "tool"].includes(String(value.role))) return 0
  if (json.isString(value.content)) return 1
  if (
    !Array.isArray(value.content) || !value.content.every((part) => json.isRecord(part) && json.isString(part.type))
  ) {
    return 0
  }
  return value.content.some(isTypical) || "providerOptions" in value ? 3 : 1
}

const at = ["modelMessages", "messages"] as const

const match = (value: unknown): Likeness => {
  if (Array.isArray(value)) return typical(envelope.all(value, matchMessage))
  if (!json.isRecord(value)) return 0
  const list = at.map((name) => value[name]).find(Array.isArray)
  return list === undefined || list.length === 0 ? 0 : typical(envelope.all(list, matchMessage))
}

/** Plain text is of many formats: this one is none of the first to be thought of. */
const typical = (found: Likeness): Likeness => found === 1 ? 0 : found

/**
 * @since 0.1.0
 * @category codecs
 */
export const codec: DocumentCodec = {
  id: messages.format,
  title: "Vercel AI SDK ModelMessage",
  layout: "document",
  match,
  decode: read({ at, check, state: messages.state, messages: messages.messages }),
  usage,
  encode: (conversation) => {
    const lost = options.ledger("lost")
    const { at: place, fields } = envelope.own(conversation, messages.format, "messages", lost)
    return { values: [envelope.wrap(place, fields, write.messages(conversation.messages))], notes: lost.notes() }
  }
}
