/**
 * Messages into `UIMessage`s.
 */
import * as Message from "effect-memory/Message"
import * as json from "./json.js"
import { type Queues, queues } from "./lists.js"
import * as media from "./media.js"
import * as options from "./options.js"
import { resultText } from "./results.js"
import * as metadata from "./vercelMetadata.js"
import { format, joinsByDefault, usualState } from "./vercelUiDecode.js"

type Owner = { readonly options: Message.ProviderOptions }

const marksOf = (of: Owner): json.JsonRecord => options.get(of, format)

/** What stands beside the fields of a part. */
const extras = (of: Owner): json.JsonRecord =>
  json.compact({ ...json.record(marksOf(of).fields), providerMetadata: metadata.write(of, format) })

const file = (part: Message.FilePart): json.JsonRecord => {
  const marks = marksOf(part)
  if (json.isRecord(marks.block)) return marks.block
  const url = part.data instanceof URL || json.isString(marks.url)
    ? media.linkText(part.data instanceof URL || json.isString(part.data) ? part.data : "", marks.url)
    : media.toDataUrl(part.mediaType, media.base64(part.data))
  const mediaType = marks.media === "none" ? undefined : part.mediaType
  return json.compact({ type: "file", mediaType, filename: part.fileName, url, ...extras(part) })
}

/** A result answers a call of its id that the same side ran. */
const keyOf = (part: Message.ToolCallPart | Message.ToolResultPart): string => `${part.providerExecuted} ${part.id}`

const outcome = (result: Message.ToolResultPart | undefined, lost: options.Ledger): json.JsonRecord => {
  if (result === undefined) return {}
  return result.isFailure ? { errorText: resultText(result.result, lost) } : { output: result.result }
}

const tool = (
  call: Message.ToolCallPart,
  result: Message.ToolResultPart | undefined,
  lost: options.Ledger
): json.JsonRecord => {
  const marks = marksOf(call)
  const dynamic = marks.dynamic === true
  const empty = json.same(call.params, {})
  const state = marks.state ?? usualState(result)
  return json.compact({
    type: dynamic ? "dynamic-tool" : `tool-${call.name}`,
    toolName: dynamic ? call.name : undefined,
    toolCallId: call.id,
    state: state === "absent" ? undefined : state,
    input: marks.input === "absent" && empty ? undefined : marks.input === "null" && empty ? null : call.params,
    ...outcome(result, lost),
    providerExecuted: call.providerExecuted ? true : undefined,
    callProviderMetadata: metadata.write(call, format),
    resultProviderMetadata: result === undefined ? undefined : metadata.write(result, format),
    ...json.record(marks.fields)
  })
}

const assistant = (
  message: Message.AssistantMessage,
  results: Queues<Message.ToolResultPart>,
  lost: options.Ledger
): ReadonlyArray<json.JsonRecord> => {
  const parts = message.content.flatMap((part): ReadonlyArray<json.JsonRecord> => {
    switch (part.type) {
      case "text":
      case "reasoning":
        return [{ type: part.type, text: part.text, ...extras(part) }]
      case "file":
        return [file(part)]
      case "tool-call":
        return [tool(part, results.take(keyOf(part)), lost)]
      case "tool-result":
        return []
    }
  })
  return marksOf(message).step === "none" ? parts : [{ type: "step-start" }, ...parts]
}

const systemPart = (message: Message.SystemMessage): ReadonlyArray<json.JsonRecord> => {
  const { block, parts } = marksOf(message)
  if (parts === "empty" && message.content === "") return []
  return [json.isRecord(block) ? block : { type: "text", text: message.content, ...extras(message) }]
}

const group = (messages: ReadonlyArray<Message.Message>, lost: options.Ledger): json.JsonRecord => {
  const [first] = messages
  const head = json.record(marksOf(first).message)
  const role = first.role === "tool" ? "assistant" : first.role
  const found = messages.flatMap((message) =>
    message.role === "tool" || message.role === "assistant"
      ? (message.content as ReadonlyArray<Message.Part>).filter(Message.isToolResult)
      : []
  )
  const results = queues(keyOf, found)
  const parts = messages.flatMap((message) => {
    switch (message.role) {
      case "system":
        return systemPart(message)
      case "user":
        return message.content.map((part) =>
          part.type === "text" ? { type: "text", text: part.text, ...extras(part) } : file(part)
        )
      case "assistant":
        return assistant(message, results, lost)
      case "tool":
        return []
    }
  })
  lost.add("result that answers no call before it", results.size())
  return { id: "", ...head, role, parts }
}

const side = (message: Message.Message): string => message.role === "tool" ? "assistant" : message.role

/** @internal */
export const messages = (
  all: ReadonlyArray<Message.Message>,
  lost: options.Ledger
): ReadonlyArray<json.JsonRecord> => {
  const groups: Array<Array<Message.Message>> = []
  for (const message of all) {
    const current = groups[groups.length - 1]
    const previous = current?.[current.length - 1]
    const { joins } = marksOf(message)
    const joined = previous !== undefined && side(previous) === side(message) &&
      (typeof joins === "boolean" ? joins : joinsByDefault(previous.role, message.role))
    if (joined) current.push(message)
    else groups.push([message])
  }
  return groups.map((messages) => group(messages, lost))
}
