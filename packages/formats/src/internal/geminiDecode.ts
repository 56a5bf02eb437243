/**
 * Gemini contents into messages. Responses of functions stand in `tool` messages of their own.
 */
import * as Message from "effect-memory/Message"
import * as answer from "./geminiResult.js"
import type * as wire from "./geminiSchema.js"
import * as json from "./json.js"
import { type Queues, queues } from "./lists.js"
import * as media from "./media.js"
import * as options from "./options.js"
import { userRuns } from "./roles.js"

/** @internal */
export const provider = "google"

/** @internal */
export const format = "gemini"

/**
 * Fields of `options.google` that have a meaning by themselves.
 *
 * @internal
 */
export const knownFields = ["thoughtSignature", "inner", "block", "content"]

interface Owed {
  readonly id: string
  readonly name: string
}

/** What decoding of a conversation remembers: calls that wait for their result, as older models give them no id. */
interface State {
  calls: number
  /** Calls by id, and by name. */
  readonly waiting: Queues<Owed>
  readonly named: Queues<Owed>
  readonly answered: Set<Owed>
  executed: string
  previous: Message.Message["role"] | undefined
}

/** @internal */
export const state = (): State => ({
  calls: 0,
  waiting: queues((call) => call.id),
  named: queues((call) => call.name),
  answered: new Set(),
  executed: "",
  previous: undefined
})

const own = (fields: json.JsonRecord, marks: json.JsonRecord = {}): Message.ProviderOptions =>
  options.make({ [provider]: options.keep(json.compact(fields), knownFields), [format]: marks })

const partOptions = (
  part: wire.Part,
  key: keyof wire.Part,
  inner: json.JsonRecord = {},
  marks: json.JsonRecord = {}
): Message.ProviderOptions => own({ ...json.rest(part, [key]), inner: json.unlessEmpty(inner) }, marks)

const filePart = (part: wire.Part): Message.FilePart | undefined => {
  if (part.inlineData !== undefined) {
    const { data, displayName, mimeType } = part.inlineData
    return Message.file({
      mediaType: mimeType ?? "application/octet-stream",
      data,
      ...(displayName === undefined ? {} : { fileName: displayName }),
      options: partOptions(part, "inlineData", json.rest(part.inlineData, ["mimeType", "data", "displayName"]), {
        media: mimeType === undefined ? "none" : undefined
      })
    })
  }
  if (part.fileData === undefined) return undefined
  const { displayName, fileUri, mimeType } = part.fileData
  const data = media.link(fileUri)
  const unusual = typeof data === "string" || data.href !== fileUri
  return Message.file({
    mediaType: mimeType ?? "application/octet-stream",
    data,
    ...(displayName === undefined ? {} : { fileName: displayName }),
    options: partOptions(part, "fileData", json.rest(part.fileData, ["mimeType", "fileUri", "displayName"]), {
      media: mimeType === undefined ? "none" : undefined,
      url: unusual ? fileUri : undefined
    })
  })
}

const textPart = (part: wire.Part & { readonly text: string }): Message.TextPart =>
  Message.text(part.text, partOptions(part, "text"))

const hasText = (part: wire.Part): part is wire.Part & { readonly text: string } => part.text !== undefined

const userPart = (part: wire.Part): Message.UserPart =>
  hasText(part) ? textPart(part) : filePart(part) ?? media.opaque(provider, part)

const newId = (current: State, given: string | undefined): string => given ?? `call_${current.calls}`

const functionCall = (part: wire.Part, current: State): Message.ToolCallPart | undefined => {
  const { functionCall: call } = part
  if (call === undefined) return undefined
  const id = newId(current, call.id)
  current.calls++
  const owed = { id, name: call.name }
  current.waiting.add(id, owed)
  current.named.add(call.name, owed)
  return Message.toolCall({
    id,
    name: call.name,
    params: call.args ?? {},
    options: partOptions(part, "functionCall", json.rest(call, ["id", "name", "args"]), {
      id: call.id === undefined ? "none" : undefined,
      args: call.args === undefined ? "absent" : undefined
    })
  })
}

const executedKeys = ["executableCode", "toolCall"] as const

const outcomeKeys = ["codeExecutionResult", "toolResponse"] as const

/** Code and tools that the model ran itself. */
const executed = (part: wire.Part, current: State): Message.AssistantPart | undefined => {
  for (const key of executedKeys) {
    const inner = part[key]
    if (inner === undefined) continue
    current.executed = newId(current, inner.id)
    current.calls++
    return Message.toolCall({
      id: current.executed,
      name: key === "executableCode" ? "code_execution" : "server_tool",
      params: json.rest(inner, ["id"]),
      providerExecuted: true,
      options: partOptions(part, key, {}, { type: key, id: inner.id === undefined ? "none" : undefined })
    })
  }
  for (const key of outcomeKeys) {
    const inner = part[key]
    if (inner === undefined) continue
    return Message.toolResult({
      id: inner.id ?? current.executed,
      name: key === "codeExecutionResult" ? "code_execution" : "server_tool",
      result: json.rest(inner, ["id"]),
      isFailure: "outcome" in inner && inner.outcome !== "OUTCOME_OK",
      providerExecuted: true,
      options: partOptions(part, key, {}, { type: key, id: inner.id === undefined ? "none" : undefined })
    })
  }
  return undefined
}

const modelPart = (part: wire.Part, current: State): Message.AssistantPart => {
  if (hasText(part)) {
    return part.thought === true
      ? Message.reasoning(
        part.text,
        own(json.rest(part, ["text", "thought"]), { thought: true })
      )
      : textPart(part)
  }
  return functionCall(part, current) ?? executed(part, current) ?? filePart(part) ?? media.opaque(provider, part)
}

/** The next call of a queue that nothing has answered. */
const next = (queue: Queues<Owed>, key: string, current: State): Owed | undefined => {
  let call = queue.take(key)
  while (call !== undefined && current.answered.has(call)) call = queue.take(key)
  if (call !== undefined) current.answered.add(call)
  return call
}

/** The call that a response answers: the one of its id, or the oldest of its name. */
const answered = (response: wire.FunctionResponse, current: State): string => {
  const call = response.id === undefined
    ? next(current.named, response.name, current)
    : next(current.waiting, response.id, current)
  return response.id ?? call?.id ?? `call_${current.calls++}`
}

const functionResponse = (part: wire.Part, response: wire.FunctionResponse, current: State): Message.ToolResultPart =>
  Message.toolResult({
    id: answered(response, current),
    name: response.name,
    ...answer.read(response.response),
    options: partOptions(part, "functionResponse", json.rest(response, ["id", "name", "response"]), {
      id: response.id === undefined ? "none" : undefined,
      response: json.isRecord(response.response) ? undefined : options.formOf(response.response)
    })
  })

const sentPart = (part: wire.Part, current: State): Message.UserPart | Message.ToolResultPart => {
  const response = hasText(part) ? undefined : part.functionResponse
  return response === undefined ? userPart(part) : functionResponse(part, response, current)
}

/**
 * Responses belong into one content, and nothing else into it.
 *
 * @internal
 */
export const joinsByDefault = (previous: Message.Message["role"] | undefined, role: Message.Message["role"]): boolean =>
  previous === "tool" && role === "tool"

/** @internal */
export const messages = (content: wire.Content, current: State): ReadonlyArray<Message.Message> => {
  const parts = content.parts ?? []
  const model = content.role === "model"
  const found = model
    ? [Message.assistant(parts.map((part) => modelPart(part, current)))]
    : userRuns(parts.map((part) => sentPart(part, current)))
  const fields = json.unlessEmpty(json.rest(content, ["role", "parts"]))
  return found.map((message, i) => {
    const expected = joinsByDefault(current.previous, message.role)
    current.previous = message.role
    return {
      ...message,
      options: own({ content: i === 0 ? fields : undefined }, {
        joins: (i > 0) === expected ? undefined : i > 0,
        role: i > 0 || model || content.role === "user" ? undefined : content.role ?? "absent",
        parts: i === 0 && content.parts === undefined ? "absent" : undefined
      })
    }
  })
}

/**
 * The messages of a system instruction: one for each of its parts.
 *
 * @internal
 */
export const system = (content: wire.Content, key: string): ReadonlyArray<Message.SystemMessage> =>
  (content.parts ?? []).map((part, i) =>
    Message.system(
      part.text ?? "",
      own({
        ...json.rest(part, ["text"]),
        content: i === 0 ? json.unlessEmpty(json.rest(content, ["parts"])) : undefined
      }, {
        key: key === "systemInstruction" ? undefined : key,
        part: part.text === undefined ? "none" : undefined
      })
    )
  )
