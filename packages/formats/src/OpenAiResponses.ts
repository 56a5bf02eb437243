/**
 * OpenAI Responses: request bodies with `input`, lists of items, and responses with `output`.
 *
 * What the model produced in a row is one assistant message, an item a part; its `instructions` are a system message. A
 * reasoning item comes back byte-identical, encrypted content included, and so does a compaction item. Items of the
 * provider's own tools, and of unknown types, are calls with `providerExecuted` whose arguments hold the rest of them.
 *
 * Not carried when written: reasoning that is no item of OpenAI, calls that another provider ran itself, whether a tool
 * failed, and files of the assistant.
 *
 * @since 0.1.0
 */
import * as Either from "effect/Either"
import * as Message from "effect-memory/Message"
import type { Decoded, DocumentCodec, Encoded, Issue, Likeness } from "./Codec.js"
import type { Conversation } from "./Conversation.js"
import * as envelope from "./internal/envelope.js"
import * as json from "./internal/json.js"
import * as options from "./internal/options.js"
import { format as id, items } from "./internal/responsesDecode.js"
import * as write from "./internal/responsesEncode.js"

const typical =
  /^(reasoning|function_call|custom_tool_call|compaction|item_reference|[a-z_]+_call|[a-z_]+_output|mcp_[a-z_]+)$/

const partTypes = ["input_text", "output_text", "input_image", "input_file"]

const matchItem = (item: unknown): Likeness => {
  if (!json.isRecord(item)) return 0
  if (json.isString(item.type) && item.type !== "message") return typical.test(item.type) || !("role" in item) ? 3 : 2
  if (!json.isString(item.role)) return 0
  if (json.isString(item.content)) return 1
  if (!Array.isArray(item.content)) return 0
  return item.content.some((part) => json.isRecord(part) && partTypes.includes(String(part.type))) ? 3 : 0
}

const matchItems = (list: ReadonlyArray<unknown>): Likeness => {
  const found = envelope.all(list, matchItem)
  // Lists of records with a type are of many formats: some item must be typical.
  return found === 3 &&
      !list.some((item) => json.isRecord(item) && (typical.test(String(item.type)) || Array.isArray(item.content)))
    ? 0
    : found
}

const match = (value: unknown): Likeness => {
  if (Array.isArray(value)) return matchItems(value) === 3 ? 3 : 0
  if (!json.isRecord(value)) return 0
  if (value.object === "response" && Array.isArray(value.output)) return 3
  if (json.isString(value.input)) return json.isString(value.model) ? 3 : 1
  if (Array.isArray(value.input)) return value.input.length === 0 ? 1 : matchItems(value.input) > 0 ? 3 : 0
  return 0
}

const usage = (value: unknown) =>
  envelope.usage(value, { input: ["input_tokens"], output: ["output_tokens"], at: "usage" })

const prompt = (fields: json.JsonRecord): ReadonlyArray<Message.Message> =>
  json.isString(fields.instructions)
    ? [Message.system(fields.instructions, { [id]: { place: "instructions" } })]
    : []

const request = (value: json.JsonRecord, at: string, list: ReadonlyArray<unknown>): Either.Either<Decoded, Issue> =>
  Either.map(items(list, at), (messages) => {
    const first = at === "input" ? prompt(value) : []
    const fields = json.rest(value, [at, ...(first.length > 0 ? ["instructions"] : [])])
    return { messages: [...first, ...messages], envelope: { at, fields } }
  })

const decode = (value: unknown): Either.Either<Decoded, Issue> => {
  if (json.isRecord(value) && Array.isArray(value.output)) {
    return Either.map(request(value, "output", value.output), (decoded) => ({
      ...decoded,
      usage: envelope.answerUsage(usage(value))
    }))
  }
  if (json.isRecord(value) && json.isString(value.input)) {
    return Either.right({
      messages: [...prompt(value), Message.user(value.input, { [id]: { content: "input" } })],
      envelope: {
        at: "input",
        fields: json.rest(value, ["input", ...(json.isString(value.instructions) ? ["instructions"] : [])])
      }
    })
  }
  return Either.flatMap(
    envelope.open(value, ["input"]),
    ({ at, list }) => request(json.isRecord(value) ? value : {}, at, list)
  )
}

const encode = (conversation: Conversation): Encoded => {
  const lost = options.ledger("lost")
  const { at, fields } = envelope.own(conversation, id, "input", lost)
  const [first, ...others] = conversation.messages
  const isPrompt = first?.role === "system" && options.get(first, id).place === "instructions" && at === "input"
  const messages = isPrompt ? others : conversation.messages
  const instructions = isPrompt ? { instructions: first.content } : {}
  const list = write.items(messages, lost)
  const [only] = messages
  const text = messages.length === 1 && options.get(only, id).content === "input" ? list[0].content : undefined
  const value = json.isString(text) && at === "input"
    ? { ...fields, input: text }
    : envelope.wrap(at, fields, list)
  return { values: [json.isRecord(value) ? { ...value, ...instructions } : value], notes: lost.notes() }
}

/**
 * @since 0.1.0
 * @category codecs
 */
export const codec: DocumentCodec = {
  id,
  title: "OpenAI Responses",
  rules: "openai",
  layout: "document",
  match,
  decode,
  usage,
  encode
}
