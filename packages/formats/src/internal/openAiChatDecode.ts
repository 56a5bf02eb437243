/**
 * OpenAI chat messages into messages.
 */
import * as Message from "effect-memory/Message"
import * as json from "./json.js"
import { append } from "./lists.js"
import * as media from "./media.js"
import type * as wire from "./openAiChatSchema.js"
import { isKnown } from "./openAiChatSchema.js"
import * as options from "./options.js"
import * as results from "./results.js"

/** @internal */
export const provider = "openai"

/** @internal */
export const format = "openai-chat"

/**
 * Fields of `options.openai` that have a meaning by themselves.
 *
 * @internal
 */
export const knownFields = ["role", "name", "detail", "file_id", "function", "block"]

/** What decoding of a conversation remembers from message to message. */
interface State {
  readonly names: results.Names
  calls: number
  /** Id that the last call in the old form was given, for the message that answers it. */
  functionCall: string
}

/** @internal */
export const state = (): State => ({ names: results.names(), calls: 0, functionCall: "" })

const own = (fields: json.JsonRecord, marks: json.JsonRecord = {}): Message.ProviderOptions =>
  options.make({ [provider]: options.keep(fields, knownFields), [format]: marks })

/** Fields of a message that no part takes; `null` is absence. */
const extras = (message: wire.Message, known: ReadonlyArray<string>): json.JsonRecord =>
  Object.fromEntries(Object.entries(json.rest(message, known)).filter(([, value]) => value !== null))

const filePart = (part: wire.Part): Message.FilePart | Message.TextPart => {
  if (!isKnown(part)) return media.opaque(provider, part)
  switch (part.type) {
    case "text":
      return Message.text(part.text, own(json.rest(part, ["type", "text"])))
    case "refusal":
      return Message.text(part.refusal, own(json.rest(part, ["type", "refusal"]), { refusal: "part" }))
    case "image_url": {
      const { url } = part.image_url
      const kept = { ...json.rest(part, ["type", "image_url"]), ...json.rest(part.image_url, ["url"]) }
      const inline = media.fromDataUrl(url)
      if (inline !== undefined) {
        return Message.file({
          ...inline,
          options: own(kept, { type: inline.mediaType.startsWith("image/") ? undefined : "image_url" })
        })
      }
      const data = media.link(url)
      const unusual = typeof data === "string" || data.href !== url
      return Message.file({ mediaType: "image/*", data, options: own(kept, { url: unusual ? url : undefined }) })
    }
    case "input_audio":
      return Message.file({
        mediaType: `audio/${part.input_audio.format}`,
        data: part.input_audio.data,
        options: own(json.rest(part, ["type", "input_audio"]))
      })
    case "file": {
      const { file_data: data, filename } = part.file
      const kept = { ...json.rest(part, ["type", "file"]), ...json.rest(part.file, ["file_data", "filename"]) }
      const inline = data === undefined ? undefined : media.fromDataUrl(data)
      const mediaType = inline?.mediaType ?? "application/octet-stream"
      return Message.file({
        mediaType,
        data: inline?.data ?? data ?? "",
        ...(filename === undefined ? {} : { fileName: filename }),
        options: own(kept, {
          type: "file",
          data: inline === undefined ? data === undefined ? "none" : "bare" : undefined
        })
      })
    }
  }
}

const contentParts = (content: wire.Message["content"], empty: boolean): ReadonlyArray<Message.UserPart> =>
  content === undefined || content === null
    ? []
    : json.isString(content)
    ? content === "" && empty ? [] : [Message.text(content)]
    : content.map(filePart)

const plainText = (parts: ReadonlyArray<Message.Part>): string | undefined =>
  parts.length === 1 && parts[0].type === "text" && Object.keys(parts[0].options).length === 0
    ? parts[0].text
    : undefined

const formMark = (message: wire.Message, parts: ReadonlyArray<Message.Part>, empty: options.Form): json.JsonRecord => ({
  content: options.unusualForm(options.formOf(message.content), parts.length, plainText(parts), empty)
})

const system = (message: wire.Message): ReadonlyArray<Message.Message> => {
  const role = message.role === "developer" ? "developer" : undefined
  const fields = { role, ...extras(message, ["role", "content"]) }
  if (!Array.isArray(message.content)) {
    const content = json.isString(message.content) ? message.content : ""
    return [
      Message.system(
        content,
        own(fields, json.isString(message.content) ? {} : { content: options.formOf(message.content) })
      )
    ]
  }
  const content = message.content as ReadonlyArray<wire.Part>
  if (content.length === 0) return [Message.system("", own(fields, { content: "empty" }))]
  return content.map((part, i) => {
    const marks = { content: "list", joins: i > 0 ? true : undefined }
    const text = isKnown(part) && part.type === "text" ? part.text : undefined
    const kept = text === undefined ? { block: part } : json.rest(part, ["type", "text"])
    return Message.system(
      text ?? "",
      options.make({
        [provider]: options.keep(i === 0 ? fields : { role }, knownFields),
        [format]: { ...marks, part: Object.keys(kept).length === 0 ? undefined : kept }
      })
    )
  })
}

const user = (message: wire.Message): Message.Message => {
  const parts = contentParts(message.content, false)
  return Message.user(parts, own(extras(message, ["role", "content"]), formMark(message, parts, "list")))
}

const toolCall = (call: wire.ToolCall, current: State): Message.ToolCallPart => {
  const id = call.id ?? `call_${current.calls}`
  current.calls++
  const kept = json.rest(call, ["id", "type", "function", "custom"])
  if (call.custom !== undefined) {
    current.names.set(id, call.custom.name)
    return Message.toolCall({
      id,
      name: call.custom.name,
      params: call.custom.input,
      options: own({ ...kept, ...json.rest(call.custom, ["name", "input"]) }, { type: "custom" })
    })
  }
  const { arguments: given, name } = call.function ?? { arguments: undefined, name: "unknown" }
  current.names.set(id, name)
  const read = json.isString(given) ? results.readArguments(given) : { params: given ?? {}, text: undefined }
  return Message.toolCall({
    id,
    name,
    params: read.params,
    options: own(
      { ...kept, function: json.unlessEmpty(json.rest(call.function ?? {}, ["name", "arguments"])) },
      {
        arguments: read.text,
        form: json.isString(given) ? undefined : given === undefined ? "absent" : "json",
        type: call.type === "function" ? undefined : call.type === undefined || call.type === null ? "none" : call.type
      }
    )
  })
}

const assistant = (message: wire.Message, current: State): Message.Message => {
  const parts: Array<Message.AssistantPart> = []
  if (json.isString(message.reasoning_content)) {
    parts.push(Message.reasoning(message.reasoning_content, own({}, { field: "reasoning_content" })))
  }
  const content = contentParts(message.content, true)
  append(parts, content)
  if (json.isString(message.refusal)) parts.push(Message.text(message.refusal, own({}, { refusal: "field" })))
  const calls = (message.tool_calls ?? []).map((call) => toolCall(call, current))
  append(parts, calls)
  const legacy = message.function_call
  if (legacy !== undefined && legacy !== null) {
    current.functionCall = `function_call_${current.calls}`
    const part = toolCall({ id: current.functionCall, type: "function", function: legacy }, current)
    const marks = options.get(part, format)
    parts.push({ ...part, options: { ...part.options, [format]: { ...marks, legacy: true } } })
  }
  const kept = extras(message, ["role", "content", "refusal", "reasoning_content", "tool_calls", "function_call"])
  return Message.assistant(
    parts,
    own(kept, {
      ...formMark(message, content, "null"),
      calls: Array.isArray(message.tool_calls) && calls.length === 0 ? "empty" : undefined
    })
  )
}

const tool = (message: wire.Message, current: State): Message.Message => {
  const legacy = message.role === "function"
  // SWE-agent names the call in a list of one.
  const listed = message.tool_call_ids?.length === 1 ? message.tool_call_ids[0] : undefined
  const id = message.tool_call_id ?? listed ?? (legacy ? current.functionCall : "unknown")
  const consumed = ["role", "content", "tool_call_id", ...(listed === undefined ? [] : ["tool_call_ids"])]
  const content = message.content
  return Message.tool([
    Message.toolResult({
      id,
      name: current.names.get(id),
      result: content ?? "",
      options: own(extras(message, consumed), {
        role: legacy ? "function" : undefined,
        content: json.isString(content) || results.isTextList(content) ? undefined : options.formOf(content),
        id: listed !== undefined ? "list" : json.isString(message.tool_call_id) || legacy ? undefined : "none"
      })
    })
  ])
}

/** @internal */
export const messages = (message: wire.Message, current: State): ReadonlyArray<Message.Message> => {
  switch (message.role) {
    case "system":
    case "developer":
      return system(message)
    case "user":
      return [user(message)]
    case "assistant":
      return [assistant(message, current)]
    case "tool":
    case "function":
      return [tool(message, current)]
  }
}
