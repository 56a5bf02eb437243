/**
 * The codec of OpenAI chat messages, for all formats that hold such messages.
 */
import * as Either from "effect/Either"
import type { Decoded, DocumentCodec, Encoded, Issue, Likeness } from "../Codec.js"
import type { Conversation } from "../Conversation.js"
import * as decode from "./decode.js"
import * as envelope from "./envelope.js"
import * as json from "./json.js"
import * as read from "./openAiChatDecode.js"
import * as write from "./openAiChatEncode.js"
import * as schema from "./openAiChatSchema.js"
import * as options from "./options.js"

const decodeMessage = decode.checker(schema.Message)

const roles = ["system", "developer", "user", "assistant", "tool", "function"]

const typical = ["tool_calls", "tool_call_id", "function_call", "refusal"]

const partTypes = ["image_url", "input_audio", "refusal"]

/** How much a value looks like one message. */
const matchMessage = (value: unknown): Likeness => {
  if (!json.isRecord(value) || !roles.includes(String(value.role))) return 0
  if (typical.some((field) => field in value) || value.role === "developer") return 2
  const { content } = value
  if (json.isString(content) || content === null) return 1
  if (!Array.isArray(content)) return 0
  if (content.some((part) => json.isRecord(part) && partTypes.includes(String(part.type)))) return 2
  return content.every((part) => json.isRecord(part) && part.type === "text" && json.isString(part.text)) ? 1 : 0
}

/**
 * How much a list looks like messages of this form.
 *
 * @internal
 */
export const matchMessages = (value: unknown): Likeness => Array.isArray(value) ? envelope.all(value, matchMessage) : 0

const isResponse = (value: unknown): value is json.JsonRecord & { readonly choices: ReadonlyArray<unknown> } =>
  json.isRecord(value) && Array.isArray(value.choices) && json.isRecord(value.choices[0]) &&
  json.isRecord(value.choices[0].message)

const messagesOf = (
  list: ReadonlyArray<unknown>,
  path: string
): Either.Either<Decoded["messages"], Issue> => {
  const state = read.state()
  return Either.map(
    decode.each(list, path, (item) => Either.map(decodeMessage(item), (message) => read.messages(message, state))),
    (found) => found.flat()
  )
}

const usage = (value: unknown) =>
  envelope.usage(value, { input: ["prompt_tokens"], output: ["completion_tokens"], at: "usage" })

const response = (
  value: json.JsonRecord & { readonly choices: ReadonlyArray<unknown> }
): Either.Either<Decoded, Issue> => {
  const [{ message, ...choice }, ...others] = value.choices as ReadonlyArray<json.JsonRecord>
  return Either.mapBoth(decodeMessage(message), {
    onLeft: decode.at("choices.0.message"),
    onRight: (decoded) => ({
      messages: read.messages(decoded, read.state()),
      usage: envelope.answerUsage(usage(value)),
      envelope: { at: "choices", fields: { ...value, choices: [choice, ...others] } }
    })
  })
}

/** @internal */
export interface Options extends Pick<DocumentCodec, "id" | "title" | "rules" | "match"> {
  /** Fields that may hold the messages; the first one is written. */
  readonly at: readonly [string, ...ReadonlyArray<string>]
}

/**
 * How much a record looks like one that holds messages of this form in a field.
 *
 * @internal
 */
export const matchAt = (value: json.JsonRecord, at: string): Likeness =>
  Array.isArray(value[at]) && value[at].length > 0 ? matchMessages(value[at]) : 0

/** @internal */
export const match = (value: unknown): Likeness => {
  if (Array.isArray(value)) return matchMessages(value)
  if (isResponse(value)) return 3
  if (!json.isRecord(value)) return 0
  return Array.isArray(value.messages)
    ? value.messages.length === 0 ? 1 : matchMessages(value.messages)
    : matchMessages(value.traj)
}

const encodeWith = (form: Options) => (conversation: Conversation): Encoded => {
  const lost = options.ledger("lost")
  const messages = write.messages(conversation.messages, lost)
  const { at, fields } = envelope.own(conversation, form.id, form.at[0], lost)
  const [message, ...more] = messages
  if (at === "choices" && Array.isArray(fields.choices) && message !== undefined && more.length === 0) {
    const [choice, ...others]: ReadonlyArray<unknown> = fields.choices
    return { values: [{ ...fields, choices: [{ ...json.record(choice), message }, ...others] }], notes: lost.notes() }
  }
  const place = at === "choices" ? form.at[0] : at
  return { values: [envelope.wrap(place, json.rest(fields, ["choices"]), messages)], notes: lost.notes() }
}

/** @internal */
export const make = (form: Options): DocumentCodec => ({
  id: form.id,
  title: form.title,
  rules: form.rules,
  layout: "document",
  match: form.match,
  decode: (value) =>
    isResponse(value)
      ? response(value)
      : Either.flatMap(
        envelope.open(value, form.at),
        ({ list, ...found }) => Either.map(messagesOf(list, found.at), (messages) => ({ messages, envelope: found }))
      ),
  usage,
  encode: encodeWith(form)
})
