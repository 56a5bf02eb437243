/**
 * Messages into Gemini contents.
 */
import * as Message from "effect-memory/Message"
import { format, joinsByDefault, knownFields, provider } from "./geminiDecode.js"
import * as answer from "./geminiResult.js"
import * as json from "./json.js"
import { append } from "./lists.js"
import * as media from "./media.js"
import * as options from "./options.js"

type Owner = { readonly options: Message.ProviderOptions }

const marksOf = (of: Owner): json.JsonRecord => options.get(of, format)

const fieldsOf = (
  of: Owner
): { readonly inner: json.JsonRecord; readonly block: unknown; readonly outer: json.JsonRecord } => {
  const { block, content: _, inner, ...outer } = options.kept(options.get(of, provider), knownFields)
  return { block, inner: json.record(inner), outer }
}

const file = (part: Message.FilePart): json.JsonRecord => {
  const { block, inner, outer } = fieldsOf(part)
  if (json.isRecord(block)) return block
  const marks = marksOf(part)
  const mimeType = marks.media === "none" ? undefined : part.mediaType
  const shared = json.compact({ mimeType, displayName: part.fileName })
  if (part.data instanceof URL || json.isString(marks.url)) {
    const fileUri = typeof part.data === "string" || part.data instanceof URL
      ? media.linkText(part.data, marks.url)
      : ""
    return { fileData: { ...shared, fileUri, ...inner }, ...outer }
  }
  return { inlineData: { ...shared, data: media.base64(part.data), ...inner }, ...outer }
}

const call = (part: Message.ToolCallPart, lost: options.Ledger): ReadonlyArray<json.JsonRecord> => {
  const marks = marksOf(part)
  const { inner, outer } = fieldsOf(part)
  const id = marks.id === "none" ? {} : { id: part.id }
  if (json.isString(marks.type)) return [{ [marks.type]: { ...id, ...json.record(part.params) }, ...outer }]
  if (part.providerExecuted) {
    lost.add("call that another provider ran itself")
    return []
  }
  // Arguments are an object: what else a call may hold stands under a name.
  const args = json.isRecord(part.params) ? part.params : { input: part.params }
  const given = marks.args === "absent" && Object.keys(args).length === 0 ? {} : { args }
  return [{ functionCall: { ...id, name: part.name, ...given, ...inner }, ...outer }]
}

const result = (part: Message.ToolResultPart, lost: options.Ledger): ReadonlyArray<json.JsonRecord> => {
  const marks = marksOf(part)
  const { inner, outer } = fieldsOf(part)
  const id = marks.id === "none" ? {} : { id: part.id }
  if (json.isString(marks.type)) return [{ [marks.type]: { ...id, ...json.record(part.result) }, ...outer }]
  if (part.providerExecuted) {
    lost.add("result of a call that another provider ran itself")
    return []
  }
  const given = marks.response === "absent"
    ? {}
    : { response: marks.response === undefined ? answer.write(part.result, part.isFailure) : part.result }
  return [{ functionResponse: { ...id, name: part.name, ...given, ...inner }, ...outer }]
}

const reasoning = (part: Message.ReasoningPart, lost: options.Ledger): ReadonlyArray<json.JsonRecord> => {
  const { outer } = fieldsOf(part)
  if (marksOf(part).thought !== true && !("thoughtSignature" in outer)) {
    lost.add("reasoning of another provider")
    return []
  }
  return [{ text: part.text, thought: true, ...outer }]
}

const parts = (message: Message.Message, lost: options.Ledger): ReadonlyArray<json.JsonRecord> =>
  Message.parts(message).flatMap((part) => {
    switch (part.type) {
      case "text":
        return [{ text: part.text, ...fieldsOf(part).outer }]
      case "file":
        return [file(part)]
      case "reasoning":
        return reasoning(part, lost)
      case "tool-call":
        return call(part, lost)
      case "tool-result":
        return result(part, lost)
    }
  })

const content = (message: Message.Message, items: ReadonlyArray<json.JsonRecord>): json.JsonRecord => {
  const marks = marksOf(message)
  const role = message.role === "assistant" ? "model" : marks.role ?? "user"
  return json.compact({
    role: role === "absent" ? undefined : role,
    parts: marks.parts === "absent" && items.length === 0 ? undefined : items,
    ...json.record(options.get(message, provider).content)
  })
}

const isMisplaced = (part: Message.Part): boolean => part.type === "tool-result" && !part.providerExecuted

/** Results in an assistant message belong to the user. */
const split = (message: Message.Message): ReadonlyArray<Message.Message> => {
  if (message.role !== "assistant" || !message.content.some(isMisplaced)) return [message]
  return [
    { ...message, content: message.content.filter((part) => !isMisplaced(part)) },
    Message.tool(Message.toolResults(message))
  ]
}

/** @internal */
export const contents = (
  messages: ReadonlyArray<Message.Message>,
  lost: options.Ledger
): ReadonlyArray<json.JsonRecord> => {
  const out: Array<{ readonly first: Message.Message; readonly items: Array<json.JsonRecord> }> = []
  let previous: Message.Message | undefined
  for (const message of messages.flatMap(split)) {
    const { joins } = marksOf(message)
    const user = message.role !== "assistant"
    const joined = previous !== undefined && user === (previous.role !== "assistant") &&
      (typeof joins === "boolean" ? joins : joinsByDefault(previous.role, message.role))
    if (joined) append(out[out.length - 1].items, parts(message, lost))
    else out.push({ first: message, items: [...parts(message, lost)] })
    previous = message
  }
  return out.map(({ first, items }) => content(first, items))
}

/**
 * The system instruction: all system messages, as there is no other place for them.
 *
 * @internal
 */
export const system = (
  messages: ReadonlyArray<Message.Message>,
  lost: options.Ledger
): { readonly instruction: json.JsonRecord; readonly others: ReadonlyArray<Message.Message> } => {
  const prompt = messages.filter((message) => message.role === "system")
  const others = messages.filter((message) => message.role !== "system")
  if (prompt.length === 0) return { instruction: {}, others }
  lost.add("place of a system message", messages.slice(prompt.length).filter(({ role }) => role === "system").length)
  const items = prompt.map((message) => {
    const { outer } = fieldsOf(message)
    return marksOf(message).part === "none" && message.content === "" ? outer : { text: message.content, ...outer }
  })
  const key = String(marksOf(prompt[0]).key ?? "systemInstruction")
  return { instruction: { [key]: { parts: items, ...json.record(options.get(prompt[0], provider).content) } }, others }
}
