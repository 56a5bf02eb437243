/**
 * Sessions of the Gemini CLI into messages.
 */
import * as Either from "effect/Either"
import * as Schema from "effect/Schema"
import * as Message from "effect-memory/Message"
import type { Decoded, Issue, Likeness } from "../Codec.js"
import type { Usage } from "../Conversation.js"
import * as decode from "./decode.js"
import * as envelope from "./envelope.js"
import * as answer from "./geminiResult.js"
import * as json from "./json.js"
import { append } from "./lists.js"
import { opaque } from "./media.js"
import * as options from "./options.js"

/** @internal */
export const format = "gemini-cli"

const optional = <A, I>(schema: Schema.Schema<A, I>) => Schema.optional(Schema.NullOr(schema))

const Thought = Schema.Struct({ subject: optional(Schema.String), description: optional(Schema.String) })

const ToolCall = Schema.Struct({
  id: Schema.String,
  name: Schema.String,
  args: Schema.optional(Schema.Unknown),
  result: Schema.optional(Schema.Unknown),
  status: optional(Schema.String)
})

const Part = Schema.Struct({ text: Schema.optional(Schema.String) })

const Content = Schema.Union(Schema.String, Schema.Array(Part))

const User = Schema.Struct({ type: Schema.Literal("user"), content: Content })

const Model = Schema.Struct({
  type: Schema.Literal("gemini"),
  content: Content,
  thoughts: optional(Schema.Array(Thought)),
  toolCalls: optional(Schema.Array(ToolCall)),
  tokens: Schema.optional(Schema.Unknown)
})

const checkUser = decode.checker(User)

const checkModel = decode.checker(Model)

const own = (marks: json.JsonRecord): Message.ProviderOptions => options.make({ [format]: marks })

const contentParts = (content: typeof Content.Type): ReadonlyArray<Message.UserPart> =>
  typeof content === "string"
    ? [Message.text(content)]
    : content.map((part) =>
      part.text !== undefined && Object.keys(part).length === 1 ? Message.text(part.text) : opaque(format, part)
    )

const formMark = (content: typeof Content.Type): string | undefined => typeof content === "string" ? undefined : "list"

const thought = (one: typeof Thought.Type): Message.ReasoningPart => {
  const texts = [one.subject, one.description].filter(json.isString)
  return Message.reasoning(texts.join("\n"), own({ thought: { ...one } }))
}

const call = (one: typeof ToolCall.Type): Message.ToolCallPart =>
  Message.toolCall({
    id: one.id,
    name: one.name,
    params: one.args === undefined ? {} : one.args,
    options: own({
      fields: json.unlessEmpty(json.rest(one, ["id", "name", "args", "result", "status"])),
      status: one.status ?? undefined,
      args: one.args === undefined ? "absent" : undefined
    })
  })

/** The response in the usual result: a list of one function response that repeats id and name. */
const responseOf = (one: typeof ToolCall.Type): { readonly response: unknown } | undefined => {
  if (!Array.isArray(one.result) || one.result.length !== 1) return undefined
  const [part]: ReadonlyArray<unknown> = one.result
  if (!json.isRecord(part) || Object.keys(part).length !== 1 || !json.isRecord(part.functionResponse)) return undefined
  const { id, name, response, ...others } = part.functionResponse
  const usual = id === one.id && name === one.name && json.isRecord(response) && Object.keys(others).length === 0
  return usual ? { response } : undefined
}

const result = (one: typeof ToolCall.Type): ReadonlyArray<Message.ToolResultPart> => {
  if (one.result === undefined || one.result === null) return []
  const usual = responseOf(one)
  const found = usual === undefined ? { result: one.result, isFailure: false } : answer.read(usual.response)
  return [Message.toolResult({
    id: one.id,
    name: one.name,
    result: found.result,
    isFailure: found.isFailure || one.status === "error",
    options: own({
      raw: usual === undefined ? true : undefined,
      flagged: found.isFailure ? undefined : one.status === "error" ? true : undefined
    })
  })]
}

const modelMessages = (message: typeof Model.Type): ReadonlyArray<Message.Message> => {
  const calls = message.toolCalls ?? []
  const content = contentParts(message.content)
  const results = calls.flatMap(result)
  const empty = message.content === ""
  const parts = [...(message.thoughts ?? []).map(thought), ...(empty ? [] : content), ...calls.map(call)]
  const fields = json.unlessEmpty(json.rest(message, ["type", "content", "thoughts", "toolCalls"]))
  const marks = {
    fields,
    content: formMark(message.content),
    thoughts: Array.isArray(message.thoughts) && message.thoughts.length === 0 ? "empty" : undefined,
    toolCalls: Array.isArray(message.toolCalls) && calls.length === 0 ? "empty" : undefined
  }
  return [Message.assistant(parts, own(marks)), ...(results.length > 0 ? [Message.tool(results)] : [])]
}

const billed = (tokens: unknown): Omit<Usage, "messages"> | undefined =>
  envelope.usage(tokens, { input: ["input"], output: ["output", "thoughts"], at: "" })

/** @internal */
export const read = (value: unknown): Either.Either<Decoded, Issue> =>
  Either.flatMap(envelope.open(value, ["messages"]), ({ at, fields, list }) => {
    const skipped = options.ledger("skipped")
    const messages: Array<Message.Message> = []
    const usage: Array<Usage> = []
    const found = decode.each(list, at, (item): Either.Either<void, Issue> => {
      const type = json.isRecord(item) ? item.type : undefined
      if (type === "user") {
        return Either.map(checkUser(item), (message) => {
          const rest = json.unlessEmpty(json.rest(message, ["type", "content"]))
          const marks = { fields: rest, content: formMark(message.content) }
          messages.push(Message.user(contentParts(message.content), own(marks)))
        })
      }
      if (type === "gemini" || !json.isString(type)) {
        return Either.map(checkModel(item), (message) => {
          const tokens = billed(message.tokens)
          if (tokens !== undefined && tokens.inputTokens > 0) usage.push({ messages: messages.length, ...tokens })
          append(messages, modelMessages(message))
        })
      }
      skipped.add(`message "${type.slice(0, 40)}"`)
      return Either.right(undefined)
    })
    return Either.map(found, () => ({ messages, usage, notes: skipped.notes(), envelope: { at, fields } }))
  })

const types = ["user", "gemini", "info", "error", "warning"]

/** @internal */
export const match = (value: unknown): Likeness =>
  json.isRecord(value) && json.isString(value.sessionId) && Array.isArray(value.messages) &&
    value.messages.every((message) => json.isRecord(message) && types.includes(String(message.type)))
    ? 3
    : 0
