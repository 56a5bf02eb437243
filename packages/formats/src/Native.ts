/**
 * Our own format: JSON lines, one encoded message a line. It carries everything.
 *
 * A message whose `options["effect-memory"].protected` is `true` is meant to be recorded as protected. Lines of plain
 * `{"role":"user","content":"text"}` are in this format too.
 *
 * @since 0.1.0
 */
import * as Either from "effect/Either"
import * as Schema from "effect/Schema"
import * as Message from "effect-memory/Message"
import type { SessionCodec } from "./Codec.js"
import * as decode from "./internal/decode.js"
import * as json from "./internal/json.js"
import * as options from "./internal/options.js"

const decodeMessage = decode.decoder(Message.Message)

const encodeMessage = Schema.encodeEither(Message.Message)

const roles = ["system", "user", "assistant", "tool"]

const fields = ["role", "content", "options"]

const ownParts = ["text", "file", "reasoning", "tool-call", "tool-result"]

/** Whether a part has what only our parts have. */
const isOwnPart = (part: unknown): boolean =>
  json.isRecord(part) && ownParts.includes(String(part.type)) && json.isRecord(part.options)

/**
 * @since 0.1.0
 * @category codecs
 */
export const codec: SessionCodec = {
  id: "native",
  title: "effect-memory messages, one a line",
  layout: "session",
  many: false,
  match: (value) => {
    if (!json.isRecord(value) || !roles.includes(String(value.role))) return 0
    if (json.isRecord(value.options)) return 3
    return Array.isArray(value.content) ? value.content.some(isOwnPart) ? 3 : 1 : json.isString(value.content) ? 1 : 0
  },
  open: () => {
    const messages: Array<Message.Message> = []
    const skipped = options.ledger("skipped")
    return {
      push: (value) => {
        const decoded = decodeMessage(value)
        if (Either.isLeft(decoded)) return decoded.left
        messages.push(decoded.right)
        for (const field of Object.keys(json.rest(value as object, fields))) {
          skipped.add(`field "${field.slice(0, 40)}"`)
        }
        return undefined
      },
      end: () => [{ messages, notes: skipped.notes() }]
    }
  },
  encode: ({ messages }) => ({
    // What the schema refuses, JSON refuses too: it is written as it is, and fails there.
    values: messages.map((message) => Either.getOrElse(encodeMessage(message), () => message)),
    notes: []
  })
}

/**
 * Whether a message is meant to be recorded as protected.
 *
 * @example
 * ```ts
 * import { ok } from "node:assert"
 * import { Native } from "@effect-memory/formats"
 * import { Message } from "effect-memory"
 *
 * ok(Native.isProtected(Message.user("Always answer in Latin.", { "effect-memory": { protected: true } })))
 * ```
 *
 * @since 0.1.0
 * @category guards
 */
export const isProtected = (message: Message.Message): boolean =>
  message.options["effect-memory"]?.["protected"] === true
