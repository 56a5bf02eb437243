/**
 * Messages into `lc: 1` constructors of LangChain.
 */
import type * as Message from "effect-memory/Message"
import type { Encoded } from "../Codec.js"
import type { Conversation } from "../Conversation.js"
import * as envelope from "./envelope.js"
import * as json from "./json.js"
import { format, usualId } from "./langchainDecode.js"
import { append } from "./lists.js"
import * as media from "./media.js"
import * as options from "./options.js"
import { resultText } from "./results.js"
import * as roles from "./roles.js"

type Owner = { readonly options: Message.ProviderOptions }

const marksOf = (of: Owner): json.JsonRecord => options.get(of, format)

const constructor = (message: Message.Message, kwargs: json.JsonRecord): json.JsonRecord => {
  const marks = marksOf(message)
  return {
    lc: 1,
    type: "constructor",
    id: Array.isArray(marks.id) ? marks.id : usualId(message.role),
    kwargs: json.compact({ ...kwargs, ...json.record(marks.kwargs) }),
    ...json.record(marks.fields)
  }
}

const text = (part: Message.TextPart): unknown => {
  const marks = marksOf(part)
  return marks.bare === true ? part.text : { type: "text", text: part.text, ...json.record(marks.fields) }
}

const file = (part: Message.FilePart, lost: options.Ledger): ReadonlyArray<unknown> => {
  const { block } = marksOf(part)
  if (json.isRecord(block)) return [block]
  if (!part.mediaType.startsWith("image/")) {
    lost.add("file that is no image")
    return []
  }
  const url = part.data instanceof URL ? part.data.href : media.toDataUrl(part.mediaType, media.base64(part.data))
  return [{ type: "image_url", image_url: { url } }]
}

const reasoning = (part: Message.ReasoningPart, lost: options.Ledger): ReadonlyArray<unknown> => {
  const { fields, key } = marksOf(part)
  if (json.isString(key)) return [{ type: key, [key]: part.text, ...json.record(fields) }]
  lost.add("reasoning of another format")
  return []
}

const call = (part: Message.ToolCallPart): json.JsonRecord => {
  const marks = marksOf(part)
  return json.compact({
    name: part.name,
    args: part.params,
    id: marks.id === "none" ? undefined : part.id,
    type: marks.type === "none" ? undefined : "tool_call",
    ...json.record(marks.fields)
  })
}

/** The block that repeats a call, with what the call says now. */
const callBlock = (part: Message.ToolCallPart): ReadonlyArray<unknown> => {
  const { block } = marksOf(part)
  if (!json.isRecord(block)) return []
  return ["input" in block && json.isRecord(block.input) ? { ...block, input: part.params } : block]
}

const assistant = (message: Message.AssistantMessage, lost: options.Ledger): ReadonlyArray<json.JsonRecord> => {
  const content: Array<unknown> = []
  const calls: Array<json.JsonRecord> = []
  const results: Array<Message.ToolResultPart> = []
  for (const part of message.content) {
    switch (part.type) {
      case "text":
        content.push(text(part))
        break
      case "file":
        if (json.isRecord(marksOf(part).block)) content.push(marksOf(part).block)
        else lost.add("file of the assistant")
        break
      case "reasoning":
        append(content, reasoning(part, lost))
        break
      case "tool-call":
        if (part.providerExecuted) {
          lost.add("call that the provider ran itself")
        } else {
          calls.push(call(part))
          append(content, callBlock(part))
        }
        break
      case "tool-result":
        if (part.providerExecuted) lost.add("result of a call that the provider ran itself")
        else results.push(part)
    }
  }
  const kwargs = {
    content: contentOf(content, marksOf(message).content),
    tool_calls: calls.length === 0 && marksOf(message).calls === "absent" ? undefined : calls
  }
  return [
    constructor(message, kwargs),
    ...results.map((part) => tool(part, { role: "tool", content: [part], options: {} }, lost))
  ]
}

const isPlain = (item: unknown): item is { readonly text: string } =>
  json.isRecord(item) && item.type === "text" && Object.keys(item).length === 2

const contentOf = (items: ReadonlyArray<unknown>, form: unknown): unknown => {
  if (form === "absent" && items.length === 0) return undefined
  if (form === "list") return items
  const [only, ...more] = items
  if (only === undefined) return ""
  return more.length === 0 && isPlain(only) ? only.text : items
}

const tool = (part: Message.ToolResultPart, message: Message.Message, lost: options.Ledger): json.JsonRecord => {
  const marks = marksOf(part)
  const content = json.isString(part.result) || (Array.isArray(part.result) && marksOf(message).content === "list")
    ? part.result
    : resultText(part.result, lost)
  const { status } = marks
  return constructor(message, {
    content: marksOf(message).content === "absent" && content === "" ? undefined : content,
    tool_call_id: part.id,
    name: marks.name === "none" ? undefined : part.name,
    status: status === "none" && !part.isFailure ? undefined : part.isFailure ? "error" : "success"
  })
}

const system = (group: ReadonlyArray<Message.SystemMessage>): json.JsonRecord => {
  const [first] = group
  const items = group.flatMap((one): ReadonlyArray<unknown> => {
    const part = json.record(marksOf(one).part)
    if (marksOf(one).empty === true && one.content === "") return []
    if (json.isRecord(part.block) && one.content === "") return [part.block]
    return [part.bare === true ? one.content : { type: "text", text: one.content, ...json.record(part.fields) }]
  })
  return constructor(first, { content: contentOf(items, marksOf(first).content) })
}

/** @internal */
export const encode = (conversation: Conversation): Encoded => {
  const lost = options.ledger("lost")
  const { at, fields } = envelope.own(conversation, format, "messages", lost)
  const list = roles.write(conversation.messages, (message) => marksOf(message).joins === true, {
    system,
    user: (message) => {
      const items = message.content.flatMap((part) => part.type === "text" ? [text(part)] : file(part, lost))
      return constructor(message, { content: contentOf(items, marksOf(message).content) })
    },
    assistant: (message) => assistant(message, lost),
    tool: (message) => message.content.map((part) => tool(part, message, lost))
  })
  return { values: [envelope.wrap(at, fields, list)], notes: lost.notes() }
}
