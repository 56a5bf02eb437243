/**
 * ShareGPT into messages.
 */
import * as Either from "effect/Either"
import * as Schema from "effect/Schema"
import * as Message from "effect-memory/Message"
import type { Decoded, Issue, Likeness } from "../Codec.js"
import * as decode from "./decode.js"
import * as envelope from "./envelope.js"
import * as json from "./json.js"
import { opaque } from "./media.js"
import * as options from "./options.js"
import * as calls from "./sharegptCalls.js"

/** @internal */
export const format = "sharegpt"

const Said = Schema.Struct({ from: Schema.String, value: Schema.String })

const Part = Schema.Struct({ type: Schema.String, value: Schema.optional(Schema.Unknown) })

type Part = typeof Part.Type

const Row = Schema.Struct({
  role: Schema.Literal("system", "user", "assistant", "tool"),
  content: Schema.Union(Schema.String, Schema.Array(Part))
})

const checkSaid = decode.checker(Said)

const checkRow = decode.checker(Row)

type Role = "system" | "user" | "assistant" | "call" | "result"

const roles: Readonly<Record<string, Role>> = {
  system: "system",
  human: "user",
  user: "user",
  gpt: "assistant",
  assistant: "assistant",
  chatgpt: "assistant",
  bot: "assistant",
  model: "assistant",
  function_call: "call",
  observation: "result",
  tool: "result",
  function_response: "result"
}

/**
 * The name under which a role is written.
 *
 * @internal
 */
export const names: Readonly<Record<Role, string>> = {
  system: "system",
  user: "human",
  assistant: "gpt",
  call: "function_call",
  result: "observation"
}

const roleOf = (from: string): Role | undefined => Object.hasOwn(roles, from) ? roles[from] : undefined

const own = (marks: json.JsonRecord): Message.ProviderOptions => options.make({ [format]: marks })

// =============================================================================
// `conversations` of `from` and `value`
// =============================================================================

const unknownRole = (from: string): Issue => ({
  field: "from",
  reason: `is a string of ${from.length} characters`,
  hint: `expected one of ${Object.keys(roles).join(", ")}`
})

const said = (item: unknown, open: calls.Open): Either.Either<Message.Message, Issue> =>
  Either.flatMap(checkSaid(item), (one): Either.Either<Message.Message, Issue> => {
    const role = roleOf(one.from)
    if (role === undefined) return Either.left(unknownRole(one.from))
    const marks = {
      from: one.from === names[role] ? undefined : one.from,
      fields: json.unlessEmpty(json.rest(one, ["from", "value"]))
    }
    switch (role) {
      case "system":
        return Either.right(Message.system(one.value, own(marks)))
      case "user":
        open.clear()
        return Either.right(Message.user(one.value, own(marks)))
      case "assistant":
        return Either.right(Message.assistant(one.value, own(marks)))
      case "call": {
        const read = calls.read(one.value, open)
        return Either.right(
          read === undefined
            ? Message.assistant(one.value, own({ ...marks, from: one.from }))
            : Message.assistant(read.parts, own({ ...marks, value: read.text }))
        )
      }
      case "result": {
        const answered = calls.answer(one.value, open)
        return Either.right(
          answered === undefined
            ? Message.user(one.value, own({ ...marks, from: one.from }))
            : Message.tool(answered.parts, own({ ...marks, value: answered.text, shared: answered.shared }))
        )
      }
    }
  })

// =============================================================================
// `messages` of role and content
// =============================================================================

const isText = (part: Part): part is Part & { readonly value: string } =>
  part.type === "text" && json.isString(part.value)

const textPart = (part: Part & { readonly value: string }, marks: json.JsonRecord = {}): Message.TextPart =>
  Message.text(part.value, own({ ...marks, fields: json.unlessEmpty(json.rest(part, ["type", "value"])) }))

const assistantParts = (part: Part, open: calls.Open): ReadonlyArray<Message.AssistantPart> => {
  if (isText(part)) return [textPart(part)]
  if (!json.isString(part.value)) return [opaque(format, part)]
  const fields = json.unlessEmpty(json.rest(part, ["type", "value"]))
  if (part.type === "reasoning") return [Message.reasoning(part.value, own({ fields }))]
  if (part.type !== "tool_call") return [opaque(format, part)]
  const read = calls.one(part.value, open)
  return read === undefined
    ? [textPart({ ...part, value: part.value }, { type: part.type })]
    : [{ ...read.call, options: own({ value: read.text, fields }) }]
}

const userParts = (parts: ReadonlyArray<Part>): ReadonlyArray<Message.UserPart> =>
  parts.map((part) => isText(part) ? textPart(part) : opaque(format, part))

const systemMessages = (parts: ReadonlyArray<Part>, marks: json.JsonRecord): ReadonlyArray<Message.Message> =>
  parts.length === 0
    ? [Message.system("", own({ ...marks, content: "empty" }))]
    : parts.map((part, i) =>
      Message.system(
        isText(part) ? part.value : "",
        own({
          ...(i === 0 ? marks : { joins: true }),
          block: isText(part) && Object.keys(part).length === 2 ? undefined : part
        })
      )
    )

const toolMessage = (
  content: typeof Row.Type["content"],
  open: calls.Open,
  marks: json.JsonRecord
): Message.Message => {
  const text = typeof content === "string" ? content : undefined
  const [only, ...more] = typeof content === "string" ? [] : content
  const plain = only !== undefined && more.length === 0 && isText(only) && Object.keys(only).length === 2
    ? only.value
    : undefined
  const value = text ?? plain
  const answered = value === undefined ? undefined : calls.answer(value, open)
  if (answered !== undefined) {
    return Message.tool(answered.parts, own({ ...marks, value: answered.text, shared: answered.shared }))
  }
  // What answers no call, or is not one text, is one result as it stands.
  return Message.tool([Message.toolResult({ ...open.take(), result: value ?? content })], own({ ...marks, lone: true }))
}

const row = (item: unknown, open: calls.Open): Either.Either<ReadonlyArray<Message.Message>, Issue> =>
  Either.map(checkRow(item), (one): ReadonlyArray<Message.Message> => {
    const { content, role } = one
    const marks = {
      content: typeof content === "string" ? "string" : undefined,
      fields: json.unlessEmpty(json.rest(one, ["role", "content"]))
    }
    const parts = typeof content === "string" ? [{ type: "text", value: content }] : content
    switch (role) {
      case "system":
        return systemMessages(parts, marks)
      case "user":
        open.clear()
        return [Message.user(userParts(parts), own(marks))]
      case "assistant": {
        open.begin()
        return [Message.assistant(parts.flatMap((part) => assistantParts(part, open)), own(marks))]
      }
      case "tool":
        return [toolMessage(content, open, marks)]
    }
  })

/** @internal */
export const read = (value: unknown): Either.Either<Decoded, Issue> =>
  Either.flatMap(envelope.open(value, ["conversations", "messages"]), ({ at, fields, list }) => {
    const open = calls.open()
    const prompt = at === "conversations" && json.isString(fields.system) && fields.system !== ""
      ? [Message.system(fields.system, own({ place: "system" }))]
      : []
    const rows = at === "conversations" || (at === "" && json.isRecord(list[0]) && "from" in list[0])
      ? decode.each(list, at, (item) => Either.map(said(item, open), (message) => [message]))
      : decode.each(list, at, (item) => row(item, open))
    return Either.map(rows, (found) => ({
      messages: [...prompt, ...found.flat()],
      envelope: { at, fields: prompt.length > 0 ? json.rest(fields, ["system"]) : fields }
    }))
  })

const matchSaid = (item: unknown): Likeness =>
  json.isRecord(item) && json.isString(item.from) && json.isString(item.value) && roleOf(item.from) !== undefined
    ? 3
    : 0

const isPart = (part: unknown): boolean => json.isRecord(part) && json.isString(part.type) && json.isString(part.value)

const matchRow = (item: unknown): Likeness => {
  if (!json.isRecord(item)) return 0
  if (Array.isArray(item.content) && item.content.every(isPart)) return 3
  return json.isString(item.content) ? 1 : 0
}

/** @internal */
export const match = (value: unknown): Likeness => {
  if (Array.isArray(value)) return envelope.all(value, matchSaid)
  if (!json.isRecord(value)) return 0
  if (Array.isArray(value.conversations)) return envelope.all(value.conversations, matchSaid)
  return Array.isArray(value.messages) && envelope.all(value.messages, matchRow) === 3 ? 3 : 0
}
