/**
 * `lc: 1` constructors of LangChain into messages.
 */
import * as Either from "effect/Either"
import * as Schema from "effect/Schema"
import * as Message from "effect-memory/Message"
import type { Decoded, Issue, Likeness } from "../Codec.js"
import type { Usage } from "../Conversation.js"
import * as decode from "./decode.js"
import * as envelope from "./envelope.js"
import * as json from "./json.js"
import { usage as billed } from "./langchainUsage.js"
import { append, queues } from "./lists.js"
import * as media from "./media.js"
import * as options from "./options.js"
import * as results from "./results.js"

/** @internal */
export const format = "langchain"

const Block = Schema.Struct({
  type: Schema.String,
  text: Schema.optional(Schema.String),
  thinking: Schema.optional(Schema.String),
  reasoning: Schema.optional(Schema.String),
  id: Schema.optional(Schema.String)
})

type Block = typeof Block.Type

const Content = Schema.Union(Schema.String, Schema.Array(Schema.Union(Schema.String, Block)))

type Content = typeof Content.Type

const ToolCall = Schema.Struct({
  id: Schema.optional(Schema.NullOr(Schema.String)),
  name: Schema.String,
  args: Schema.Unknown
})

const Constructor = Schema.Struct({
  id: Schema.Array(Schema.String),
  kwargs: Schema.Struct({
    content: Schema.optional(Content),
    tool_calls: Schema.optional(Schema.NullOr(Schema.Array(ToolCall))),
    tool_call_id: Schema.optional(Schema.String),
    name: Schema.optional(Schema.NullOr(Schema.String)),
    status: Schema.optional(Schema.NullOr(Schema.String))
  })
})

type Constructor = typeof Constructor.Type

const check = decode.checker(Constructor)

/** Names of constructors that are messages, without `Chunk`. */
const roles: Readonly<Record<string, Message.Message["role"]>> = {
  HumanMessage: "user",
  AIMessage: "assistant",
  SystemMessage: "system",
  ToolMessage: "tool"
}

const className = (id: ReadonlyArray<string>): string => id[id.length - 1] ?? ""

/**
 * The constructor that is written for a role where nothing else was read.
 *
 * @internal
 */
export const usualId = (role: Message.Message["role"]): ReadonlyArray<string> => {
  const [name] = Object.entries(roles).find(([, value]) => value === role) ?? ["HumanMessage"]
  return ["langchain_core", "messages", name]
}

const roleOf = (id: ReadonlyArray<string>): Message.Message["role"] | undefined => {
  const name = className(id).replace(/Chunk$/, "")
  return Object.hasOwn(roles, name) ? roles[name] : undefined
}

const own = (marks: json.JsonRecord): Message.ProviderOptions => options.make({ [format]: marks })

const text = (block: string | Block): Message.TextPart | undefined =>
  typeof block === "string"
    ? Message.text(block, own({ bare: true }))
    : block.type === "text" && block.text !== undefined
    ? Message.text(block.text, own({ fields: json.unlessEmpty(json.rest(block, ["type", "text"])) }))
    : undefined

/** An image as OpenAI and LangChain write it; other media are kept as they are. */
const userPart = (block: string | Block): Message.UserPart => {
  const found = text(block)
  if (found !== undefined) return found
  const image = (block as json.JsonRecord).image_url
  const url = json.isRecord(image) ? image.url : image
  const inline = json.isString(url) ? media.fromDataUrl(url) : undefined
  return inline === undefined
    ? media.opaque(format, block as Block)
    : Message.file({ ...inline, options: own({ block: { ...(block as Block) } }) })
}

const reasoningKeys = ["thinking", "reasoning"] as const

const reasoning = (block: Block): Message.ReasoningPart | undefined => {
  for (const key of reasoningKeys) {
    const value = block[key]
    if (block.type !== key || value === undefined) continue
    const { signature } = block as json.JsonRecord
    return Message.reasoning(
      value,
      options.make({
        anthropic: key === "thinking" && json.isString(signature) ? { signature } : {},
        [format]: { key, fields: json.unlessEmpty(json.rest(block, ["type", key])) }
      })
    )
  }
  return undefined
}

const toolCall = (call: typeof ToolCall.Type, index: number, names: results.Names): Message.ToolCallPart => {
  const id = call.id ?? `call_${index}`
  names.set(id, call.name)
  return Message.toolCall({
    id,
    name: call.name,
    params: call.args,
    options: own({
      fields: json.unlessEmpty(json.rest(call, ["id", "name", "args", "type"])),
      type: (call as json.JsonRecord).type === undefined ? "none" : undefined,
      id: json.isString(call.id) ? undefined : "none"
    })
  })
}

/** Blocks that repeat a call stand for it: they are written with it again. */
const assistantParts = (
  content: ReadonlyArray<string | Block>,
  calls: ReadonlyArray<Message.ToolCallPart>
): ReadonlyArray<Message.AssistantPart> => {
  const placed = new Set<Message.ToolCallPart>()
  const waiting = queues((call) => call.id, calls)
  const parts = content.map((block): Message.AssistantPart => {
    const found = text(block) ?? (typeof block === "string" ? undefined : reasoning(block))
    if (found !== undefined) return found
    const { id, type } = block as Block
    const call = type === "tool_use" || type === "tool_call" || type === "function_call"
      ? waiting.take(id ?? "")
      : undefined
    if (call === undefined) return media.opaque(format, block as Block)
    placed.add(call)
    return {
      ...call,
      options: options.make({ [format]: { ...options.get(call, format), block: { ...(block as Block) } } })
    }
  })
  return [...parts, ...calls.filter((call) => !placed.has(call))]
}

const blocks = (content: Content | undefined): ReadonlyArray<string | Block> =>
  typeof content === "string" ? (content === "" ? [] : [{ type: "text", text: content }]) : content ?? []

/** What is kept of a constructor beside the fields of the message. */
const marks = (one: Constructor, role: Message.Message["role"], known: ReadonlyArray<string>): json.JsonRecord => ({
  id: json.same(one.id, usualId(role)) ? undefined : one.id,
  kwargs: json.unlessEmpty(json.rest(one.kwargs, ["content", ...known])),
  fields: json.unlessEmpty(json.rest(one, ["lc", "type", "id", "kwargs"])),
  content: typeof one.kwargs.content === "string" ? undefined : options.formOf(one.kwargs.content)
})

const systemMessages = (one: Constructor): ReadonlyArray<Message.Message> => {
  const found =
    typeof one.kwargs.content === "string" || one.kwargs.content?.length === 0 || one.kwargs.content === undefined
      ? [Message.text(typeof one.kwargs.content === "string" ? one.kwargs.content : "")]
      : one.kwargs.content.map((block) => text(block) ?? media.opaque(format, block as Block))
  return found.map((part, i) =>
    Message.system(
      part.type === "text" ? part.text : "",
      own({
        ...(i === 0 ? marks(one, "system", []) : { joins: true }),
        part: json.unlessEmpty({ ...options.get(part, format) }),
        empty: one.kwargs.content?.length === 0 && typeof one.kwargs.content !== "string" ? true : undefined
      })
    )
  )
}

const toolMessage = (one: Constructor, names: results.Names): Message.Message => {
  const { content, name, status, tool_call_id: id = "unknown" } = one.kwargs
  return Message.tool([Message.toolResult({
    id,
    name: name ?? names.get(id),
    result: content ?? "",
    isFailure: status === "error",
    options: own({
      name: json.isString(name) ? undefined : "none",
      status: status === "success" || status === "error" ? undefined : status ?? "none"
    })
  })], own(marks(one, "tool", ["tool_call_id", "name", "status"])))
}

const messages = (
  one: Constructor,
  role: Message.Message["role"],
  names: results.Names
): ReadonlyArray<Message.Message> => {
  switch (role) {
    case "system":
      return systemMessages(one)
    case "user": {
      const { content } = one.kwargs
      const parts = typeof content === "string" ? [Message.text(content)] : blocks(content).map(userPart)
      return [Message.user(parts, own(marks(one, role, [])))]
    }
    case "assistant": {
      const calls = (one.kwargs.tool_calls ?? []).map((call, i) => toolCall(call, i, names))
      const parts = assistantParts(blocks(one.kwargs.content), calls)
      const listed = one.kwargs.tool_calls === undefined ? "absent" : undefined
      return [Message.assistant(parts, own({ ...marks(one, role, ["tool_calls"]), calls: listed }))]
    }
    case "tool":
      return [toolMessage(one, names)]
  }
}

/** @internal */
export const read = (value: unknown): Either.Either<Decoded, Issue> =>
  Either.flatMap(envelope.open(value, ["messages"]), ({ at, fields, list }) => {
    const skipped = options.ledger("skipped")
    const names = results.names()
    const found: Array<Message.Message> = []
    const usage: Array<Usage> = []
    const all = decode.each(list, at, (item) =>
      Either.map(check(item), (one) => {
        const role = roleOf(one.id)
        if (role === undefined) return skipped.add(`message of class "${className(one.id).slice(0, 40)}"`)
        const tokens = role === "assistant" ? billed(one.kwargs) : undefined
        if (tokens !== undefined) usage.push({ messages: found.length, ...tokens })
        append(found, messages(one, role, names))
      }))
    return Either.map(all, () => ({ messages: found, usage, notes: skipped.notes(), envelope: { at, fields } }))
  })

const matchMessage = (value: unknown): Likeness =>
  json.isRecord(value) && value.lc === 1 && value.type === "constructor" && Array.isArray(value.id) &&
    json.isRecord(value.kwargs)
    ? 3
    : 0

/** @internal */
export const match = (value: unknown): Likeness => {
  if (Array.isArray(value)) return envelope.all(value, matchMessage)
  return json.isRecord(value) && Array.isArray(value.messages) ? envelope.all(value.messages, matchMessage) : 0
}
