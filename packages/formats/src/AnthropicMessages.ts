/**
 * Anthropic Messages: request bodies, lists of messages, and responses.
 *
 * Results stand in `tool` messages of their own; the leading system messages are the `system` of the request. Fields
 * that only Anthropic knows, such as signatures and `cache_control`, are kept in `options.anthropic` and come back
 * byte-identical. Blocks of the server's own tools are calls and results with `providerExecuted`; a compaction block is
 * a text; other blocks are kept as files without data.
 *
 * System messages after others stay where they are, which only new models accept. Results in a row, and what the user
 * says after them, are written as one message, as all models accept it.
 *
 * Not carried when written: reasoning that Anthropic did not sign, calls that another provider ran itself, and files that
 * are no image, PDF or text.
 *
 * @since 0.1.0
 */
import * as Either from "effect/Either"
import type { Decoded, DocumentCodec, Issue, Likeness } from "./Codec.js"
import * as read from "./internal/anthropicDecode.js"
import * as write from "./internal/anthropicEncode.js"
import * as schema from "./internal/anthropicSchema.js"
import { usage } from "./internal/anthropicUsage.js"
import * as decode from "./internal/decode.js"
import * as envelope from "./internal/envelope.js"
import * as json from "./internal/json.js"
import * as options from "./internal/options.js"

const id = "anthropic-messages"

const decodeMessage = decode.checker(schema.Message)

const decodeSystem = decode.checker(schema.System)

const roles = ["user", "assistant", "system"]

const typicalBlocks = [
  "tool_use",
  "tool_result",
  "thinking",
  "redacted_thinking",
  "server_tool_use",
  "mcp_tool_use",
  "compaction",
  "container_upload"
]

const isTypicalBlock = (block: unknown): boolean =>
  json.isRecord(block) && (typicalBlocks.includes(String(block.type)) ||
    ((block.type === "image" || block.type === "document") && json.isRecord(block.source)))

const isTextBlock = (block: unknown): boolean => json.isRecord(block) && json.isString(block.type)

const matchMessage = (value: unknown): Likeness => {
  if (!json.isRecord(value) || !roles.includes(String(value.role)) || "tool_calls" in value) return 0
  if (json.isString(value.content)) return 1
  if (!Array.isArray(value.content) || !value.content.every(isTextBlock)) return 0
  return value.content.some(isTypicalBlock) ? 3 : 1
}

const isResponse = (value: unknown): value is json.JsonRecord =>
  json.isRecord(value) && value.type === "message" && value.role === "assistant" && Array.isArray(value.content)

const match = (value: unknown): Likeness => {
  if (Array.isArray(value)) return envelope.all(value, matchMessage)
  if (isResponse(value)) return 3
  if (!json.isRecord(value) || !Array.isArray(value.messages)) return 0
  const found = envelope.all(value.messages, matchMessage)
  if (found === 0 && value.messages.length > 0) return 0
  const named = json.isString(value.model) && /claude/i.test(value.model)
  return found === 3 || named || "system" in value || "anthropic_version" in value ? 3 : found
}

const requestMessages = (value: json.JsonRecord, list: ReadonlyArray<unknown>, at: string) => {
  const state = read.state(id)
  const { system } = value
  const present = json.isString(system) || (Array.isArray(system) && system.length > 0)
  const prompt = present
    ? Either.mapBoth(decodeSystem(system), {
      onLeft: decode.at("system"),
      onRight: (content) => read.messages({ role: "system", content }, state)
    })
    : Either.right([])
  return Either.flatMap(prompt, (first) =>
    Either.map(
      decode.each(list, at, (item) =>
        Either.map(decodeMessage(item), (message) =>
          read.messages(message, state, "messages"))),
      (rest): Decoded["messages"] => [...first, ...rest.flat()]
    ))
}

const decodeResponse = (value: json.JsonRecord): Either.Either<Decoded, Issue> =>
  Either.map(
    decodeMessage({ role: value.role, content: value.content }),
    (message) => ({
      messages: read.messages(message, read.state(id)),
      usage: envelope.answerUsage(usage(value)),
      envelope: { at: "content", fields: json.rest(value, ["role", "content"]) }
    })
  )

/**
 * @since 0.1.0
 * @category codecs
 */
export const codec: DocumentCodec = {
  id,
  title: "Anthropic Messages",
  rules: "anthropic",
  layout: "document",
  match,
  decode: (value) =>
    isResponse(value)
      ? decodeResponse(value)
      : Either.flatMap(envelope.open(value, ["messages"]), ({ at, fields, list }) =>
        Either.map(requestMessages(fields, list, at), (messages) => ({
          messages,
          envelope: {
            at,
            fields: json.isString(fields.system) || (Array.isArray(fields.system) && fields.system.length > 0)
              ? json.rest(fields, ["system"])
              : fields
          }
        }))),
  usage,
  encode: (conversation) => {
    const lost = options.ledger("lost")
    const context = { format: id, lost }
    const { at, fields } = envelope.own(conversation, id, "messages", lost)
    const { length, system } = write.system(conversation.messages, id)
    const messages = write.groups(conversation.messages.slice(length), id).flatMap((group) =>
      write.wire(group, context)
    )
    if (at === "content" && length === 0 && messages.length === 1) {
      return { values: [{ ...fields, ...messages[0] }], notes: lost.notes() }
    }
    // A list has no place for the system prompt.
    const place = at === "content" || (at === "" && length > 0) ? "messages" : at
    const prompt = system === undefined ? {} : { system }
    return { values: [envelope.wrap(place, { ...fields, ...prompt }, messages)], notes: lost.notes() }
  }
}
