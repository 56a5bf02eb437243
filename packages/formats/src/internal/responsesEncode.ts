/**
 * Messages into OpenAI Responses items.
 */
import type * as Message from "effect-memory/Message"
import * as json from "./json.js"
import { append } from "./lists.js"
import * as media from "./media.js"
import * as options from "./options.js"
import { format, isOutputList, provider } from "./responsesDecode.js"
import * as results from "./results.js"
import * as roles from "./roles.js"

type Owner = { readonly options: Message.ProviderOptions }

const marksOf = (of: Owner): json.JsonRecord => options.get(of, format)

const itemOf = (of: Owner): json.JsonRecord => json.record(options.get(of, provider).item)

const contentOf = (of: Owner): json.JsonRecord => json.record(options.get(of, provider).content)

const text = (part: Message.TextPart, standard: string): json.JsonRecord => {
  const { type = standard } = marksOf(part)
  return type === "refusal"
    ? { type, refusal: part.text, ...contentOf(part) }
    : { type, text: part.text, ...contentOf(part) }
}

const file = (part: Message.FilePart, lost: options.Ledger): ReadonlyArray<json.JsonRecord> => {
  const marks = marksOf(part)
  if (json.isRecord(marks.part)) return [marks.part]
  const fields = contentOf(part)
  const image = marks.type === "input_image" || (marks.type === undefined && part.mediaType.startsWith("image/"))
  const named = part.fileName === undefined ? {} : { filename: part.fileName }
  const type = image ? "input_image" : "input_file"
  if (marks.data === "none" && part.data === "") return [json.compact({ type, ...named, ...fields })]
  if (part.data instanceof URL || json.isString(marks.url)) {
    const url = typeof part.data === "string" || part.data instanceof URL ? media.linkText(part.data, marks.url) : ""
    return [image ? { type, image_url: url, ...fields } : { type, file_url: url, ...named, ...fields }]
  }
  const data = media.base64(part.data)
  if (data === "") {
    lost.add("file without data")
    return []
  }
  const url = marks.data === "bare" ? data : media.toDataUrl(part.mediaType, data)
  return [image ? { type, image_url: url, ...fields } : { type, file_data: url, ...named, ...fields }]
}

const item = (
  role: unknown,
  parts: ReadonlyArray<json.JsonRecord>,
  marks: json.JsonRecord,
  fields: json.JsonRecord
): json.JsonRecord => {
  const standard = role === "assistant" ? "output_text" : "input_text"
  const content = options.shape(parts, options.plainText(parts, standard), marks.content, "list")
  return json.compact({ type: marks.type, role, content, ...fields })
}

const user = (one: Message.UserMessage, lost: options.Ledger): json.JsonRecord => {
  const parts = one.content.flatMap((part) => part.type === "text" ? [text(part, "input_text")] : file(part, lost))
  return item("user", parts, marksOf(one), itemOf(one))
}

const system = (group: ReadonlyArray<Message.SystemMessage>): json.JsonRecord => {
  const [first] = group
  const marks = marksOf(first)
  const whole = itemOf(first)
  if (json.isString(marks.type) && marks.type !== "message" && json.isString(whole.type)) return whole
  const parts = group.flatMap((one) => {
    const kept = json.record(marksOf(one).part)
    if (kept.empty === true && one.content === "") return []
    if (json.isRecord(kept.part)) return [kept.part]
    return [{ type: kept.type ?? "input_text", text: one.content, ...contentOf(one) }]
  })
  return item(marks.role ?? "system", parts, marks, whole)
}

const call = (part: Message.ToolCallPart, lost: options.Ledger): ReadonlyArray<json.JsonRecord> => {
  const marks = marksOf(part)
  const fields = itemOf(part)
  if (marks.type === "custom_tool_call" && json.isString(part.params)) {
    return [{ type: marks.type, call_id: part.id, name: part.name, input: part.params, ...fields }]
  }
  if (json.isString(marks.type) && marks.type !== "custom_tool_call" && json.isRecord(part.params)) {
    const called = marks.id === "none" ? undefined : part.id
    const name = marks.name === "none" ? undefined : part.name
    return [{ ...json.compact({ type: marks.type, call_id: called, name }), ...part.params, ...fields }]
  }
  if (part.providerExecuted) {
    lost.add("call that another provider ran itself")
    return []
  }
  const args = results.writeArguments(part.params, marks.arguments)
  return [{ type: "function_call", call_id: part.id, name: part.name, arguments: args, ...fields }]
}

const result = (part: Message.ToolResultPart, lost: options.Ledger): ReadonlyArray<json.JsonRecord> => {
  const marks = marksOf(part)
  const fields = itemOf(part)
  if (json.isString(marks.type) && marks.type !== "custom_tool_call_output" && json.isRecord(part.result)) {
    return [{ type: marks.type, call_id: part.id, ...part.result, ...fields }]
  }
  if (part.providerExecuted && !json.isString(marks.type)) {
    lost.add("result of a call that another provider ran itself")
    return []
  }
  if (part.isFailure) lost.add("whether a tool failed")
  const output = isOutputList(part.result) || (marks.output === "list" && Array.isArray(part.result))
    ? part.result
    : results.resultText(part.result, lost)
  return [{ type: marks.type ?? "function_call_output", call_id: part.id, output, ...fields }]
}

const reasoning = (part: Message.ReasoningPart, lost: options.Ledger): ReadonlyArray<json.JsonRecord> => {
  const fields = itemOf(part)
  if (Object.keys(fields).length === 0) {
    lost.add("reasoning without its item")
    return []
  }
  return [{ type: marksOf(part).type ?? "reasoning", ...fields }]
}

const assistant = (one: Message.AssistantMessage, lost: options.Ledger): ReadonlyArray<json.JsonRecord> => {
  const out: Array<json.JsonRecord> = []
  const parts = one.content
  for (let i = 0; i < parts.length; i++) {
    const part = parts[i]
    const head = marksOf(part).message
    if (part.type === "text" || (part.type === "file" && json.isRecord(head))) {
      const group: Array<Message.AssistantPart> = [part]
      for (let next = parts[i + 1]; next !== undefined && marksOf(next).joins === true; next = parts[i + 1]) {
        group.push(next)
        i++
      }
      const items = group.flatMap((each) =>
        each.type === "text"
          ? marksOf(each).empty === true && each.text === "" ? [] : [text(each, "output_text")]
          : each.type === "file"
          ? file(each, lost)
          : []
      )
      out.push(item("assistant", items, json.record(head), itemOf(part)))
      continue
    }
    switch (part.type) {
      case "reasoning":
        append(out, reasoning(part, lost))
        break
      case "tool-call":
        append(out, call(part, lost))
        break
      case "tool-result":
        append(out, result(part, lost))
        break
      case "file":
        lost.add("file of the assistant")
    }
  }
  return out
}

/** @internal */
export const items = (
  all: ReadonlyArray<Message.Message>,
  lost: options.Ledger
): ReadonlyArray<json.JsonRecord> =>
  roles.write(all, (one) => marksOf(one).joins === true, {
    system,
    user: (one) => user(one, lost),
    assistant: (one) => assistant(one, lost),
    tool: (one) => one.content.flatMap((part) => result(part, lost))
  })
