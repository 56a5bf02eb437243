/**
 * Messages into Anthropic messages.
 */
import type * as Message from "effect-memory/Message"
import { isBlockList, joinsByDefault } from "./anthropicDecode.js"
import * as media from "./anthropicMedia.js"
import { provider } from "./anthropicMedia.js"
import * as json from "./json.js"
import * as options from "./options.js"
import * as results from "./results.js"

/** @internal */
export interface Wire extends json.JsonRecord {
  readonly role: string
  readonly content: unknown
}

/** What encoding of a conversation needs everywhere. */
interface Context {
  readonly format: string
  readonly lost: options.Ledger
}

const fieldsOf = (of: { readonly options: Message.ProviderOptions }): json.JsonRecord =>
  options.kept(options.get(of, provider), media.knownFields)

const textBlock = (part: Message.TextPart, { format }: Context): json.JsonRecord => {
  const marks = options.get(part, format)
  return marks.type === "compaction"
    ? {
      type: "compaction",
      content: marks.content === "null" && part.text === "" ? null : part.text,
      ...fieldsOf(part)
    }
    : { type: "text", text: part.text, ...fieldsOf(part) }
}

const fileBlock = (part: Message.FilePart, { format, lost }: Context): ReadonlyArray<json.JsonRecord> => {
  const block = media.write(part, format)
  if (block === undefined) lost.add("file of a type that is no image, PDF or text")
  return block === undefined ? [] : [block]
}

const reasoningBlock = (part: Message.ReasoningPart, { format, lost }: Context): ReadonlyArray<json.JsonRecord> => {
  const fields = fieldsOf(part)
  const { type } = options.get(part, format)
  if (type === "redacted_thinking" || (type === undefined && json.isString(fields.data))) {
    return [{ type: "redacted_thinking", ...fields }]
  }
  if (json.isString(fields.signature) || type === "thinking") {
    return [{ type: "thinking", thinking: part.text, ...fields }]
  }
  lost.add("reasoning without a signature")
  return []
}

const callBlock = (part: Message.ToolCallPart, { format, lost }: Context): ReadonlyArray<json.JsonRecord> => {
  const { type } = options.get(part, format)
  if (part.providerExecuted && type === undefined) {
    lost.add("call that another provider ran itself")
    return []
  }
  return [{ type: type ?? "tool_use", id: part.id, name: part.name, input: part.params, ...fieldsOf(part) }]
}

const resultContent = (result: unknown, form: unknown, lost: options.Ledger): unknown => {
  if ((form === "null" || form === "absent") && result === "") return form === "null" ? null : undefined
  if (json.isString(result) || isBlockList(result) || (form === "list" && Array.isArray(result))) return result
  return results.resultText(result, lost)
}

const resultBlock = (part: Message.ToolResultPart, { format, lost }: Context): ReadonlyArray<json.JsonRecord> => {
  const marks = options.get(part, format)
  if (part.providerExecuted) {
    if (!json.isString(marks.type)) lost.add("result of a call that another provider ran itself")
    const content = marks.content === "absent" && part.result === null ? undefined : part.result
    return json.isString(marks.type)
      ? [json.compact({ type: marks.type, tool_use_id: part.id, content, ...fieldsOf(part) })]
      : []
  }
  return [json.compact({
    type: "tool_result",
    tool_use_id: part.id,
    content: resultContent(part.result, marks.content, lost),
    is_error: part.isFailure ? true : undefined,
    ...fieldsOf(part)
  })]
}

const partBlocks = (part: Message.Part, context: Context): ReadonlyArray<json.JsonRecord> => {
  switch (part.type) {
    case "text":
      return [textBlock(part, context)]
    case "file":
      return fileBlock(part, context)
    case "reasoning":
      return reasoningBlock(part, context)
    case "tool-call":
      return callBlock(part, context)
    case "tool-result":
      return resultBlock(part, context)
  }
}

const systemBlock = (message: Message.SystemMessage): json.JsonRecord => {
  const { block, message: _, ...fields } = fieldsOf(message)
  return json.isRecord(block) ? block : { type: "text", text: message.content, ...fields }
}

const wireRole = (message: Message.Message): string => message.role === "tool" ? "user" : message.role

const content = (items: ReadonlyArray<json.JsonRecord>, first: Message.Message, format: string): unknown => {
  const form = options.get(first, format).content
  if (form === "empty" && items.length === 1 && items[0].text === "") return []
  return options.shape(items, options.plainText(items), form, "list")
}

/** Results that an assistant message holds belong to the user, unless they were read there. */
const isMisplaced = (part: Message.Part, format: string): boolean =>
  part.type === "tool-result" && !part.providerExecuted && options.get(part, format).type !== "tool_result"

/**
 * One wire message, or two where an assistant message holds results.
 *
 * @internal
 */
export const wire = (group: ReadonlyArray<Message.Message>, context: Context): ReadonlyArray<Wire> => {
  const [first] = group
  const kept = fieldsOf(first).message
  const misplaced: Array<Message.Part> = []
  const items = group.flatMap((message) => {
    if (message.role === "system") return [systemBlock(message)]
    return (message.content as ReadonlyArray<Message.Part>).flatMap((part) => {
      if (message.role !== "assistant" || !isMisplaced(part, context.format)) return partBlocks(part, context)
      misplaced.push(part)
      return []
    })
  })
  const role = wireRole(first)
  const own = { role, content: content(items, first, context.format), ...(json.isRecord(kept) ? kept : {}) }
  return misplaced.length === 0
    ? [own]
    : [own, { role: "user", content: misplaced.flatMap((part) => partBlocks(part, context)) }]
}

/**
 * Messages that stand in one wire message.
 *
 * @internal
 */
export const groups = (
  messages: ReadonlyArray<Message.Message>,
  format: string
): ReadonlyArray<ReadonlyArray<Message.Message>> => {
  const out: Array<Array<Message.Message>> = []
  for (const message of messages) {
    const group = out[out.length - 1]
    const previous = group?.[group.length - 1]
    const { joins } = options.get(message, format)
    const joined = previous !== undefined && wireRole(previous) === wireRole(message) &&
      (typeof joins === "boolean" ? joins : joinsByDefault(previous.role, message.role))
    if (joined) group.push(message)
    else out.push([message])
  }
  return out
}

/**
 * The system prompt before all other messages, and how many messages it is.
 *
 * @internal
 */
export const system = (
  messages: ReadonlyArray<Message.Message>,
  format: string
): { readonly system: unknown; readonly length: number } => {
  const end = messages.findIndex((message) =>
    message.role !== "system" || options.get(message, format).place === "messages"
  )
  const prompt = messages.slice(0, end < 0 ? messages.length : end) as ReadonlyArray<Message.SystemMessage>
  if (prompt.length === 0) return { system: undefined, length: 0 }
  return { system: content(prompt.map(systemBlock), prompt[0], format), length: prompt.length }
}
