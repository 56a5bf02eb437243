/**
 * Messages into OpenAI chat messages.
 */
import type * as Message from "effect-memory/Message"
import * as json from "./json.js"
import * as media from "./media.js"
import { format, knownFields, provider } from "./openAiChatDecode.js"
import * as options from "./options.js"
import * as results from "./results.js"
import * as roles from "./roles.js"

const marksOf = (of: { readonly options: Message.ProviderOptions }): json.JsonRecord => options.get(of, format)

const fieldsOf = (of: { readonly options: Message.ProviderOptions }): json.JsonRecord =>
  options.kept(options.get(of, provider), knownFields)

const text = (part: Message.TextPart): json.JsonRecord =>
  marksOf(part).refusal === "part"
    ? { type: "refusal", refusal: part.text, ...fieldsOf(part) }
    : { type: "text", text: part.text, ...fieldsOf(part) }

const file = (part: Message.FilePart): json.JsonRecord | undefined => {
  const { block, ...fields } = fieldsOf(part)
  if (json.isRecord(block)) return block
  const marks = marksOf(part)
  if (part.data instanceof URL || json.isString(marks.url)) {
    const url = json.isString(part.data) || part.data instanceof URL ? media.linkText(part.data, marks.url) : ""
    return part.mediaType.startsWith("image/") ? { type: "image_url", image_url: { url, ...fields } } : undefined
  }
  const data = media.base64(part.data)
  if (marks.type === "image_url" || (part.mediaType.startsWith("image/") && marks.type === undefined)) {
    return { type: "image_url", image_url: { url: media.toDataUrl(part.mediaType, data), ...fields } }
  }
  if (part.mediaType.startsWith("audio/") && marks.type === undefined) {
    return { type: "input_audio", input_audio: { data, format: part.mediaType.slice("audio/".length) }, ...fields }
  }
  const named = part.fileName === undefined ? {} : { filename: part.fileName }
  const held = marks.data === "none"
    ? {}
    : { file_data: marks.data === "bare" ? data : media.toDataUrl(part.mediaType, data) }
  return { type: "file", file: { ...held, ...named, ...fields } }
}

const contentParts = (parts: ReadonlyArray<Message.Part>, lost: options.Ledger): ReadonlyArray<json.JsonRecord> =>
  parts.flatMap((part) => {
    if (part.type === "text") return [text(part)]
    const block = part.type === "file" ? file(part) : undefined
    if (block === undefined) lost.add("link to a file that is no image")
    return block === undefined ? [] : [block]
  })

const message = (role: string, fields: json.JsonRecord): json.JsonRecord => json.compact({ role, ...fields })

const system = (group: ReadonlyArray<Message.SystemMessage>): json.JsonRecord => {
  const [first] = group
  const { role = "system", ...fields } = fieldsOf(first)
  const marks = marksOf(first)
  const items = group.map((one) => {
    const part = marksOf(one).part
    if (json.isRecord(part) && json.isRecord(part.block) && one.content === "") return part.block
    return { type: "text", text: one.content, ...(json.isRecord(part) ? part : {}) }
  })
  if (marks.content === "empty" && first.content === "") return message(String(role), { content: [], ...fields })
  if ((marks.content === "null" || marks.content === "absent") && first.content === "") {
    return message(String(role), { content: marks.content === "null" ? null : undefined, ...fields })
  }
  return message(String(role), {
    content: options.shape(items, options.plainText(items), marks.content, "string"),
    ...fields
  })
}

const user = (one: Message.UserMessage, lost: options.Ledger): json.JsonRecord => {
  const items = contentParts(one.content, lost)
  return message("user", {
    content: options.shape(items, options.plainText(items), marksOf(one).content, "list"),
    ...fieldsOf(one)
  })
}

const called = (call: Message.ToolCallPart): json.JsonRecord => {
  const marks = marksOf(call)
  const extra = fieldsOf(call).function
  const given = marks.form === "json"
    ? call.params
    : marks.form === "absent" && json.same(call.params, {})
    ? undefined
    : results.writeArguments(call.params, marks.arguments)
  return json.compact({ name: call.name, arguments: given, ...(json.isRecord(extra) ? extra : {}) })
}

const toolCall = (call: Message.ToolCallPart): json.JsonRecord => {
  const { type } = marksOf(call)
  const fields = json.rest(fieldsOf(call), ["function"])
  if (type === "custom" && json.isString(call.params)) {
    return { id: call.id, type, custom: { name: call.name, input: call.params }, ...fields }
  }
  return json.compact({
    id: call.id,
    type: type === "none" ? undefined : type === "custom" ? "function" : type ?? "function",
    function: called(call),
    ...fields
  })
}

const result = (part: Message.ToolResultPart, lost: options.Ledger): json.JsonRecord => {
  const marks = marksOf(part)
  const legacy = marks.role === "function"
  if (part.isFailure) lost.add("whether a tool failed")
  const content = (marks.content === "null" || marks.content === "absent") && part.result === ""
    ? marks.content === "null" ? null : undefined
    : results.isTextList(part.result) || (marks.content === "list" && Array.isArray(part.result))
    ? part.result
    : results.resultText(part.result, lost)
  return message(legacy ? "function" : "tool", {
    tool_call_id: legacy || marks.id !== undefined ? undefined : part.id,
    tool_call_ids: marks.id === "list" ? [part.id] : undefined,
    content,
    ...fieldsOf(part)
  })
}

const assistant = (one: Message.AssistantMessage, lost: options.Ledger): ReadonlyArray<json.JsonRecord> => {
  const content: Array<json.JsonRecord> = []
  const calls: Array<json.JsonRecord> = []
  const answers: Array<json.JsonRecord> = []
  const fields: Record<string, unknown> = {}
  for (const part of one.content) {
    const marks = marksOf(part)
    switch (part.type) {
      case "text":
        if (marks.refusal === "field") fields.refusal = part.text
        else content.push(text(part))
        break
      case "reasoning":
        if (marks.field === "reasoning_content") fields.reasoning_content = part.text
        else lost.add("reasoning")
        break
      case "file": {
        const { block } = fieldsOf(part)
        if (json.isRecord(block)) content.push(block)
        else lost.add("file of the assistant")
        break
      }
      case "tool-call":
        if (part.providerExecuted) lost.add("call that the provider ran itself")
        else if (marks.legacy === true) fields.function_call = called(part)
        else calls.push(toolCall(part))
        break
      case "tool-result":
        if (part.providerExecuted) lost.add("result of a call that the provider ran itself")
        else answers.push(result(part, lost))
    }
  }
  const marks = marksOf(one)
  return [
    message("assistant", {
      content: options.shape(content, options.plainText(content), marks.content, "null"),
      ...fields,
      tool_calls: calls.length > 0 || marks.calls === "empty" ? calls : undefined,
      ...fieldsOf(one)
    }),
    ...answers
  ]
}

/** @internal */
export const messages = (
  all: ReadonlyArray<Message.Message>,
  lost: options.Ledger
): ReadonlyArray<json.JsonRecord> =>
  roles.write(all, (one) => marksOf(one).joins === true, {
    system,
    user: (one) => user(one, lost),
    assistant: (one) => assistant(one, lost),
    tool: (one) => one.content.map((part) => result(part, lost))
  })
