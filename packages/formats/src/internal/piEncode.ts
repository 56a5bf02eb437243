/**
 * Messages into sessions of pi.
 */
import * as Message from "effect-memory/Message"
import type { Encoded } from "../Codec.js"
import type { Conversation } from "../Conversation.js"
import * as envelope from "./envelope.js"
import * as json from "./json.js"
import * as media from "./media.js"
import * as options from "./options.js"
import { format } from "./piDecode.js"
import { resultText } from "./results.js"

type Owner = { readonly options: Message.ProviderOptions }

const marksOf = (of: Owner): json.JsonRecord => options.get(of, format)

const part = (one: Message.Part, lost: options.Ledger): ReadonlyArray<json.JsonRecord> => {
  const marks = marksOf(one)
  const fields = json.record(marks.fields)
  switch (one.type) {
    case "text":
      return [{ type: "text", text: one.text, ...fields }]
    case "file":
      if (json.isRecord(marks.block)) return [marks.block]
      if (one.data instanceof URL) {
        lost.add("link to a file")
        return []
      }
      return [{ type: "image", data: media.base64(one.data), mimeType: one.mediaType, ...fields }]
    case "reasoning":
      return [{ type: "thinking", thinking: one.text, ...fields }]
    case "tool-call":
      if (one.providerExecuted) {
        lost.add("call that the provider ran itself")
        return []
      }
      return [{ type: "toolCall", id: one.id, name: one.name, arguments: one.params, ...fields }]
    case "tool-result":
      if (one.providerExecuted) lost.add("result of a call that the provider ran itself")
      return []
  }
}

const entry = (message: json.JsonRecord, of: Owner): json.JsonRecord => ({
  ...json.record(marksOf(of).entry),
  type: "message",
  message: { ...message, ...json.record(marksOf(of).fields) }
})

const spoken = (message: Message.UserMessage | Message.AssistantMessage, lost: options.Ledger): json.JsonRecord => {
  const items = (message.content as ReadonlyArray<Message.Part>).flatMap((one) => part(one, lost))
  const plain = items.length === 1 && items[0].type === "text" && Object.keys(items[0]).length === 2
  const content = marksOf(message).content === "string" && plain ? items[0].text : items
  return entry({ role: message.role, content }, message)
}

const isContentPart = (item: unknown): boolean =>
  json.isRecord(item) &&
  (item.type === "text"
    ? json.isString(item.text)
    : item.type === "image" && json.isString(item.data) && json.isString(item.mimeType))

const isContent = (value: unknown): value is ReadonlyArray<unknown> =>
  Array.isArray(value) && value.every(isContentPart)

const result = (lost: options.Ledger) => (one: Message.ToolResultPart): json.JsonRecord => {
  const marks = marksOf(one)
  const text = resultText(one.result, lost)
  const content = isContent(one.result) ? one.result : marks.content === "string" ? text : [{ type: "text", text }]
  return entry(
    json.compact({
      role: "toolResult",
      toolCallId: one.id,
      toolName: one.name,
      content,
      isError: marks.flag === "none" && !one.isFailure ? undefined : one.isFailure
    }),
    one
  )
}

/** @internal */
export const encode = (conversation: Conversation): Encoded => {
  const lost = options.ledger("lost")
  const { fields } = envelope.own(conversation, format, "", lost)
  const header = json.isRecord(fields.session) ? [fields.session] : []
  const entries = conversation.messages.flatMap((message): ReadonlyArray<json.JsonRecord> => {
    switch (message.role) {
      case "system":
        lost.add("system message")
        return []
      case "user": {
        const [only, ...more] = message.content
        const summary = marksOf(message).compactSummary === true && more.length === 0 && only?.type === "text"
        return summary
          ? [{ type: "compaction", ...json.record(marksOf(message).entry), summary: only.text }]
          : [spoken(message, lost)]
      }
      case "assistant":
        return [spoken(message, lost), ...Message.toolResults(message).map(result(lost))]
      case "tool":
        return message.content.map(result(lost))
    }
  })
  return { values: [...header, ...entries], notes: lost.notes() }
}
