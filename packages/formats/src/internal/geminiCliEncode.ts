/**
 * Messages into sessions of the Gemini CLI.
 */
import * as Message from "effect-memory/Message"
import type { Encoded } from "../Codec.js"
import type { Conversation } from "../Conversation.js"
import * as envelope from "./envelope.js"
import { format } from "./geminiCliDecode.js"
import * as answer from "./geminiResult.js"
import * as json from "./json.js"
import { append, type Queues, queues } from "./lists.js"
import * as options from "./options.js"

type Owner = { readonly options: Message.ProviderOptions }

const marksOf = (of: Owner): json.JsonRecord => options.get(of, format)

const fieldsOf = (of: Owner): json.JsonRecord => {
  const { fields } = marksOf(of)
  return json.isRecord(fields) ? fields : {}
}

const thought = (part: Message.ReasoningPart): unknown => {
  const read = marksOf(part).thought
  return json.isRecord(read) ? read : { description: part.text }
}

const call = (part: Message.ToolCallPart, result: Message.ToolResultPart | undefined): json.JsonRecord => {
  const marks = marksOf(part)
  const args = marks.args === "absent" && json.same(part.params, {}) ? undefined : part.params
  const status = result === undefined ? marks.status : marks.status ?? (result.isFailure ? "error" : "success")
  return json.compact({
    id: part.id,
    name: part.name,
    args,
    result: result === undefined ? undefined : resultOf(part, result),
    status,
    ...fieldsOf(part)
  })
}

const resultOf = (part: Message.ToolCallPart, result: Message.ToolResultPart): unknown => {
  const marks = marksOf(result)
  if (marks.raw === true) return result.result
  const response = answer.write(result.result, marks.flagged === true ? false : result.isFailure)
  return [{ functionResponse: { id: part.id, name: part.name, response } }]
}

const content = (message: Message.Message, lost: options.Ledger): unknown => {
  const items = Message.parts(message).flatMap((part): ReadonlyArray<json.JsonRecord> => {
    if (part.type === "text") return [{ text: part.text }]
    if (part.type !== "file") return []
    const { block } = marksOf(part)
    if (!json.isRecord(block)) lost.add("file")
    return json.isRecord(block) ? [block] : []
  })
  if (marksOf(message).content === "list" || items.some((item) => !("text" in item))) return items
  return items.map((item) => item.text).join("\n")
}

const list = (items: ReadonlyArray<unknown>, mark: unknown): ReadonlyArray<unknown> | undefined =>
  items.length > 0 || mark === "empty" ? items : undefined

const model = (
  message: Message.AssistantMessage,
  results: Queues<Message.ToolResultPart>,
  lost: options.Ledger
): json.JsonRecord => {
  const calls = Message.toolCalls(message).map((part) => call(part, results.take(part.id)))
  lost.add("call that a provider ran itself", message.content.filter(Message.isToolCall).length - calls.length)
  const thoughts = message.content.flatMap((part) => part.type === "reasoning" ? [thought(part)] : [])
  const marks = marksOf(message)
  return json.compact({
    type: "gemini",
    content: content(message, lost),
    thoughts: list(thoughts, marks.thoughts),
    toolCalls: list(calls, marks.toolCalls),
    ...fieldsOf(message)
  })
}

/** @internal */
export const encode = (conversation: Conversation): Encoded => {
  const lost = options.ledger("lost")
  const { at, fields } = envelope.own(conversation, format, "messages", lost)
  const { messages } = conversation
  const out: Array<json.JsonRecord> = []
  for (let i = 0; i < messages.length; i++) {
    const message = messages[i]
    if (message.role === "system") lost.add("system message")
    else if (message.role === "user") out.push({ type: "user", content: content(message, lost), ...fieldsOf(message) })
    else if (message.role === "tool") lost.add("result that answers no call before it", message.content.length)
    else {
      // The results that follow belong into the message of their calls.
      const results = [...Message.toolResults(message)]
      for (let next = messages[i + 1]; next?.role === "tool"; next = messages[i + 1]) {
        append(results, next.content)
        i++
      }
      const waiting = queues((result) => result.id, results)
      out.push(model(message, waiting, lost))
      lost.add("result that answers no call before it", waiting.size())
    }
  }
  const envelopeFields = Object.keys(fields).length === 0 ? { sessionId: "" } : fields
  return { values: [envelope.wrap(at, envelopeFields, out)], notes: lost.notes() }
}
