/**
 * Anthropic messages into messages.
 *
 * One wire message can be several of ours: results stand in a `tool` message of their own, each block of a system
 * prompt is a message. What belongs together is known by the rule {@link joinsByDefault}, or by a mark.
 */
import * as Message from "effect-memory/Message"
import * as media from "./anthropicMedia.js"
import { provider } from "./anthropicMedia.js"
import type * as wire from "./anthropicSchema.js"
import { isKnown, isServerResult } from "./anthropicSchema.js"
import * as json from "./json.js"
import { opaque } from "./media.js"
import * as options from "./options.js"
import * as results from "./results.js"
import { userRuns } from "./roles.js"

/** What decoding of a conversation remembers from message to message. */
interface State {
  /** Id of the format, under which marks are kept. */
  readonly format: string
  readonly names: results.Names
  previous: Message.Message["role"] | undefined
}

/** @internal */
export const state = (format: string): State => ({ format, names: results.names(), previous: undefined })

/**
 * Results belong into one wire message, and so does what the user says after them.
 *
 * @internal
 */
export const joinsByDefault = (previous: Message.Message["role"] | undefined, role: Message.Message["role"]): boolean =>
  previous === "tool" && (role === "tool" || role === "user")

const own = (current: State, fields: json.JsonRecord, marks: json.JsonRecord = {}): Message.ProviderOptions =>
  options.make({ [provider]: options.keep(fields, media.knownFields), [current.format]: marks })

const blockText = (block: wire.KnownBlock & { readonly type: "text" }, current: State): Message.TextPart =>
  Message.text(block.text, own(current, json.rest(block, ["type", "text"])))

const userPart = (block: wire.Block, current: State): Message.UserPart => {
  if (!isKnown(block)) return opaque(provider, block)
  switch (block.type) {
    case "text":
      return blockText(block, current)
    case "image":
    case "document":
      return media.read(block, current.format)
    default:
      return opaque(provider, block)
  }
}

const toolCall = (block: wire.Call, current: State): Message.ToolCallPart => {
  current.names.set(block.id, block.name)
  const server = block.type !== "tool_use"
  return Message.toolCall({
    id: block.id,
    name: block.name,
    params: block.input,
    providerExecuted: server,
    options: own(current, json.rest(block, ["type", "id", "name", "input"]), { type: server ? block.type : undefined })
  })
}

/** Blocks that a result may hold. */
const isContentBlock = (item: unknown): boolean => {
  if (!json.isRecord(item)) return false
  switch (item.type) {
    case "text":
      return json.isString(item.text)
    case "image":
    case "document":
      return json.isRecord(item.source)
    default:
      return item.type === "search_result" || item.type === "tool_reference"
  }
}

/**
 * Whether a result is a list of blocks as it stands.
 *
 * @internal
 */
export const isBlockList = (result: unknown): result is ReadonlyArray<json.JsonRecord> =>
  Array.isArray(result) && result.length > 0 && result.every(isContentBlock)

const toolResult = (block: wire.Result, current: State, role: "user" | "assistant"): Message.ToolResultPart => {
  const content = block.content
  const form = options.formOf(content)
  const unusual = form === "absent" || form === "null" || (form === "list" && !isBlockList(content))
  return Message.toolResult({
    id: block.tool_use_id,
    name: current.names.get(block.tool_use_id),
    result: content ?? "",
    isFailure: block.is_error === true,
    options: own(current, json.rest(block, ["type", "tool_use_id", "content", "is_error"]), {
      content: unusual ? form : undefined,
      type: role === "assistant" ? "tool_result" : undefined
    })
  })
}

const serverResult = (block: wire.ServerResult, current: State): Message.ToolResultPart => {
  const { content } = block
  const fields = json.rest(block, ["type", "tool_use_id", "content"])
  const failed = fields.is_error === true || (json.isRecord(content) && String(content.type).endsWith("_error"))
  return Message.toolResult({
    id: block.tool_use_id,
    name: current.names.get(block.tool_use_id),
    result: content ?? null,
    isFailure: failed,
    providerExecuted: true,
    options: own(current, fields, { type: block.type, content: content === undefined ? "absent" : undefined })
  })
}

const assistantPart = (block: wire.Block, current: State): Message.AssistantPart => {
  if (isServerResult(block)) return serverResult(block, current)
  if (!isKnown(block)) return opaque(provider, block)
  switch (block.type) {
    case "text":
      return blockText(block, current)
    case "image":
    case "document":
      return media.read(block, current.format)
    case "tool_use":
    case "server_tool_use":
    case "mcp_tool_use":
      return toolCall(block, current)
    case "tool_result":
      return toolResult(block, current, "assistant")
    case "thinking":
      return Message.reasoning(
        block.thinking,
        own(current, json.rest(block, ["type", "thinking"]), {
          type: json.isString(block.signature) ? undefined : "thinking"
        })
      )
    case "redacted_thinking":
      return Message.reasoning("", own(current, json.rest(block, ["type"]), { type: "redacted_thinking" }))
    case "compaction":
      return Message.text(
        block.content ?? "",
        own(current, json.rest(block, ["type", "content"]), {
          type: "compaction",
          content: block.content === null ? "null" : undefined
        })
      )
  }
}

const systemMessages = (content: wire.Message["content"], current: State): ReadonlyArray<Message.Message> => {
  if (typeof content === "string") return [Message.system(content)]
  if (content.length === 0) return [Message.system("", own(current, {}, { content: "empty" }))]
  return content.map((block) =>
    isKnown(block) && block.type === "text"
      ? Message.system(block.text, own(current, { ...json.rest(block, ["type", "text"]) }))
      : Message.system("", own(current, { block }))
  )
}

const withOptions = (
  message: Message.Message,
  current: State,
  fields: json.JsonRecord,
  marks: json.JsonRecord
): Message.Message => ({
  ...message,
  options: options.make({
    ...message.options,
    [provider]: { ...options.get(message, provider), ...fields },
    [current.format]: { ...options.get(message, current.format), ...marks }
  })
})

const plainText = (messages: ReadonlyArray<Message.Message>): string | undefined => {
  const [only, ...others] = messages
  if (others.length > 0) return undefined
  if (only.role === "system") return Object.keys(only.options).length === 0 ? only.content : undefined
  const [part, ...more] = only.content
  return more.length === 0 && part?.type === "text" && Object.keys(part.options).length === 0 ? part.text : undefined
}

const itemsOf = (messages: ReadonlyArray<Message.Message>): number =>
  messages.reduce((sum, message) => sum + (message.role === "system" ? 1 : message.content.length), 0)

/**
 * The messages of one wire message.
 *
 * @internal
 */
export const messages = (
  message: wire.Message,
  current: State,
  place?: "messages"
): ReadonlyArray<Message.Message> => {
  const { content } = message
  const blocks = typeof content === "string" ? [{ type: "text" as const, text: content }] : content
  const found = message.role === "system"
    ? systemMessages(content, current)
    : message.role === "user"
    ? userRuns(
      blocks.map((block) =>
        block.type === "tool_result" && isKnown(block) ? toolResult(block, current, "user") : userPart(block, current)
      )
    )
    : [Message.assistant(blocks.map((block) => assistantPart(block, current)))]
  const form = options.unusualForm(options.formOf(content), itemsOf(found), plainText(found), "list")
  const kept = json.rest(message, ["role", "content"])
  return found.map((one, i) => {
    const joins = i > 0
    const expected = joinsByDefault(current.previous, one.role)
    current.previous = one.role
    return withOptions(one, current, i === 0 ? { message: Object.keys(kept).length === 0 ? undefined : kept } : {}, {
      content: i === 0 ? options.get(one, current.format).content ?? form : undefined,
      joins: joins === expected ? undefined : joins,
      place: message.role === "system" && i === 0 ? place : undefined
    })
  })
}
