/**
 * OpenAI Responses items into messages.
 *
 * Every item is a part, and what the model produced in a row is one assistant message. The fields of an item are kept
 * in `options.openai.item`, those of a content part in `options.openai.content`.
 */
import * as Either from "effect/Either"
import * as Message from "effect-memory/Message"
import type { Issue } from "../Codec.js"
import * as decode from "./decode.js"
import * as json from "./json.js"
import { append } from "./lists.js"
import * as media from "./media.js"
import * as options from "./options.js"
import * as wire from "./responsesSchema.js"
import * as results from "./results.js"

/** @internal */
export const provider = "openai"

/** @internal */
export const format = "openai-responses"

const own = (
  fields: { readonly item?: json.JsonRecord; readonly content?: json.JsonRecord },
  marks: json.JsonRecord = {}
): Message.ProviderOptions =>
  options.make({
    [provider]: { item: json.unlessEmpty(fields.item ?? {}), content: json.unlessEmpty(fields.content ?? {}) },
    [format]: marks
  })

/** Collects parts into messages. */
interface State {
  readonly names: results.Names
  readonly executed: Set<string>
  readonly messages: Array<Message.Message>
  assistant: Array<Message.AssistantPart>
}

const state = (): State => ({ names: results.names(), executed: new Set(), messages: [], assistant: [] })

const flush = (current: State): void => {
  if (current.assistant.length > 0) current.messages.push(Message.assistant(current.assistant))
  current.assistant = []
}

const push = (current: State, message: Message.Message): void => {
  flush(current)
  current.messages.push(message)
}

const pushResult = (current: State, result: Message.ToolResultPart): void => {
  if (result.providerExecuted) current.assistant.push(result)
  else push(current, Message.tool([result]))
}

// =============================================================================
// Messages
// =============================================================================

const file = (part: wire.Part, content: json.JsonRecord): Message.FilePart => {
  const image = part.type === "input_image"
  const url = image ? part.image_url : part.file_url
  const inline = media.fromDataUrl((image ? part.image_url : part.file_data) ?? "")
  const named = json.isString(part.filename) ? { fileName: part.filename } : {}
  const marks = { type: part.type }
  if (inline !== undefined) return Message.file({ ...inline, ...named, options: own({ content }, marks) })
  if (json.isString(url)) {
    const data = media.link(url)
    const unusual = typeof data === "string" || data.href !== url
    return Message.file({
      mediaType: image ? "image/*" : "application/octet-stream",
      data,
      ...named,
      options: own({ content }, { ...marks, url: unusual ? url : undefined })
    })
  }
  return Message.file({
    mediaType: image ? "image/*" : "application/octet-stream",
    data: part.file_data ?? "",
    ...named,
    options: own({ content }, { ...marks, data: json.isString(part.file_data) ? "bare" : "none" })
  })
}

const texts = ["input_text", "output_text", "text"]

const part = (one: wire.Part, standard: string): Message.UserPart => {
  if (texts.includes(one.type) && json.isString(one.text)) {
    return Message.text(
      one.text,
      own({ content: json.rest(one, ["type", "text"]) }, { type: one.type === standard ? undefined : one.type })
    )
  }
  if (one.type === "refusal" && json.isString(one.refusal)) {
    return Message.text(one.refusal, own({ content: json.rest(one, ["type", "refusal"]) }, { type: "refusal" }))
  }
  if (one.type === "input_image") return file(one, json.rest(one, ["type", "image_url"]))
  if (one.type === "input_file") return file(one, json.rest(one, ["type", "file_data", "file_url", "filename"]))
  return Message.file({
    mediaType: "application/octet-stream",
    data: "",
    options: own({}, { part: one })
  })
}

const isPlain = (parts: ReadonlyArray<Message.UserPart>): boolean =>
  parts.length === 1 && parts[0].type === "text" && Object.keys(parts[0].options).length === 0

/** The form of the content, and the `type` of the item where it is written out. */
const itemMarks = (item: wire.Message, parts: ReadonlyArray<Message.UserPart>): json.JsonRecord => ({
  content: options.unusualForm(
    options.formOf(item.content),
    parts.length,
    isPlain(parts) ? "" : undefined,
    "list"
  ),
  type: item.type
})

const message = (item: wire.Message, current: State): void => {
  const standard = item.role === "assistant" ? "output_text" : "input_text"
  const parts = typeof item.content === "string"
    ? [Message.text(item.content)]
    : item.content.map((one) => part(one, standard))
  const fields = { item: json.rest(item, ["type", "role", "content"]) }
  const marks = itemMarks(item, parts)
  if (item.role === "user") return push(current, Message.user(parts, own(fields, marks)))
  if (item.role === "assistant") {
    const empty = parts.length === 0 ? [Message.text("", own({}, { empty: true }))] : parts
    append(
      current.assistant,
      empty.map((one, i) => ({
        ...one,
        options: options.make({
          [provider]: { ...options.get(one, provider), ...(i === 0 ? { item: json.unlessEmpty(fields.item) } : {}) },
          [format]: {
            ...options.get(one, format),
            ...(i === 0 ? { message: json.unlessEmpty(json.compact(marks)) } : { joins: true })
          }
        })
      }))
    )
    return
  }
  flush(current)
  const raw: ReadonlyArray<wire.Part> = typeof item.content === "string" ? [] : item.content
  const role = item.role === "developer" ? item.role : undefined
  const head = { item: json.unlessEmpty(fields.item) }
  const shown = parts.length === 0 ? [Message.text("", own({}, { empty: true }))] : parts
  append(
    current.messages,
    shown.map((one, i) =>
      Message.system(
        one.type === "text" ? one.text : "",
        options.make({
          [provider]: { ...(one.type === "text" ? options.get(one, provider) : {}), ...(i === 0 ? head : {}) },
          [format]: {
            ...(i === 0 ? { ...marks, role } : { joins: true }),
            part: one.type === "text" ? json.unlessEmpty({ ...options.get(one, format) }) : { part: raw[i] }
          }
        })
      )
    )
  )
}

// =============================================================================
// Reasoning, calls and results
// =============================================================================

const reasoning = (item: wire.Reasoning): Message.ReasoningPart => {
  const text = [...(item.content ?? []), ...(item.summary ?? [])].flatMap((one) => one.text ?? []).join("\n")
  return Message.reasoning(text, own({ item: json.rest(item, ["type"]) }))
}

const call = (
  current: State,
  made: { readonly id: string; readonly name: string; readonly params: unknown; readonly providerExecuted: boolean },
  item: json.JsonRecord,
  marks: json.JsonRecord
): void => {
  current.names.set(made.id, made.name)
  if (made.providerExecuted) current.executed.add(made.id)
  current.assistant.push(Message.toolCall({ ...made, options: own({ item }, marks) }))
}

const outputParts = ["input_text", "input_image", "input_file"]

/**
 * Whether a result is a list of parts as it stands.
 *
 * @internal
 */
export const isOutputList = (result: unknown): result is ReadonlyArray<json.JsonRecord> =>
  Array.isArray(result) && result.length > 0 &&
  result.every((one) => json.isRecord(one) && outputParts.includes(String(one.type)))

const output = (item: wire.Output, current: State): void =>
  pushResult(
    current,
    Message.toolResult({
      id: item.call_id,
      name: current.names.get(item.call_id),
      result: item.output,
      providerExecuted: current.executed.has(item.call_id),
      options: own(
        { item: json.rest(item, ["type", "call_id", "output"]) },
        {
          type: item.type === "function_call_output" ? undefined : item.type,
          output: typeof item.output === "string" || isOutputList(item.output) ? undefined : "list"
        }
      )
    })
  )

const ownFields = ["id", "status"]

const pick = (item: object, keys: ReadonlyArray<string>): json.JsonRecord =>
  Object.fromEntries(Object.entries(item).filter(([key]) => keys.includes(key)))

/**
 * Items of the provider's own tools, and those that nobody here knows. What the client has to answer has a `call_id`; the
 * others hold their result themselves.
 */
const other = (item: wire.Other, current: State): void => {
  const marks = { type: item.type }
  const server = item.execution === "server"
  if (item.type === "compaction") {
    current.assistant.push(Message.reasoning("", own({ item: json.rest(item, ["type"]) }, marks)))
  } else if (json.isString(item.call_id) && item.type.endsWith("_call")) {
    const params = json.rest(item, ["type", "call_id", "name", ...ownFields])
    const name = item.name ?? item.type
    call(
      current,
      { id: item.call_id, name, params, providerExecuted: server },
      pick(item, ownFields),
      { ...marks, name: json.isString(item.name) ? undefined : "none" }
    )
  } else if (json.isString(item.call_id) && /_(output|result|response)$/.test(item.type)) {
    pushResult(
      current,
      Message.toolResult({
        id: item.call_id,
        name: current.names.get(item.call_id),
        result: json.rest(item, ["type", "call_id", ...ownFields]),
        providerExecuted: server,
        options: own({ item: pick(item, ownFields) }, marks)
      })
    )
  } else if (json.isString(item.role)) {
    flush(current)
    const shown = Either.getOrElse(json.stringify(json.rest(item, ["type", "role"])), () => "")
    current.messages.push(Message.system(shown, own({ item: { ...item } }, marks)))
  } else {
    // What is no call may name another item with its id.
    const own = /_(call|call_output|list_tools|request)$/.test(item.type) ? item.id : undefined
    const id = own ?? `item_${current.messages.length}_${current.assistant.length}`
    const params = json.rest(item, ["type", "name", ...ownFields])
    call(current, { id, name: item.name ?? item.type, params, providerExecuted: true }, pick(item, ownFields), {
      ...marks,
      id: "none",
      name: json.isString(item.name) ? undefined : "none"
    })
  }
}

// =============================================================================
// Items
// =============================================================================

const typed = <A>(check: (value: unknown) => Either.Either<A, Issue>, use: (item: A, current: State) => void) =>
(
  value: unknown,
  current: State
): Either.Either<void, Issue> => Either.map(check(value), (item) => use(item, current))

const readers: Readonly<Record<string, (value: unknown, current: State) => Either.Either<void, Issue>>> = {
  message: typed(decode.checker(wire.Message), message),
  reasoning: typed(decode.checker(wire.Reasoning), (item, current) => void current.assistant.push(reasoning(item))),
  function_call: typed(decode.checker(wire.FunctionCall), (item, current) => {
    const read = results.readArguments(item.arguments)
    const made = { id: item.call_id, name: item.name, params: read.params, providerExecuted: false }
    call(current, made, json.rest(item, ["type", "call_id", "name", "arguments"]), { arguments: read.text })
  }),
  custom_tool_call: typed(decode.checker(wire.CustomCall), (item, current) => {
    const made = { id: item.call_id, name: item.name, params: item.input, providerExecuted: false }
    call(current, made, json.rest(item, ["type", "call_id", "name", "input"]), { type: item.type })
  }),
  function_call_output: typed(decode.checker(wire.Output), output),
  custom_tool_call_output: typed(decode.checker(wire.Output), output)
}

const otherReader = typed(decode.checker(wire.Other), other)

const typeOf = (item: unknown): string => json.isRecord(item) && json.isString(item.type) ? item.type : "message"

/** @internal */
export const items = (
  list: ReadonlyArray<unknown>,
  path: string
): Either.Either<ReadonlyArray<Message.Message>, Issue> => {
  const current = state()
  const read = decode.each(list, path, (item) => {
    const type = typeOf(item)
    const reader = Object.hasOwn(readers, type) ? readers[type] : otherReader
    return reader(item, current)
  })
  return Either.map(read, () => {
    flush(current)
    return current.messages
  })
}
