/**
 * `UIMessage`s into messages.
 */
import * as Message from "effect-memory/Message"
import * as json from "./json.js"
import { append } from "./lists.js"
import * as media from "./media.js"
import * as options from "./options.js"
import * as metadata from "./vercelMetadata.js"
import type * as wire from "./vercelUiSchema.js"

/** @internal */
export const format = "vercel-ui"

interface State {
  previous: Message.Message["role"] | undefined
}

/** @internal */
export const state = (): State => ({ previous: undefined })

const own = (
  part: wire.Part & { readonly providerMetadata?: unknown },
  known: ReadonlyArray<string>,
  marks: json.JsonRecord = {}
): Message.ProviderOptions =>
  metadata.read(
    part.providerMetadata,
    format,
    { ...marks, fields: json.unlessEmpty(json.rest(part, ["type", "providerMetadata", ...known])) },
    part.type === "reasoning"
  )

const file = (part: wire.Part, url: string): Message.FilePart => {
  const named = part.filename === undefined ? {} : { fileName: part.filename }
  const mediaType = part.mediaType ?? "application/octet-stream"
  const inline = media.fromDataUrl(url)
  const known = ["url", "mediaType", "filename"]
  const marks = { media: part.mediaType === undefined ? "none" : undefined }
  if (inline !== undefined && inline.mediaType === mediaType) {
    return Message.file({ ...inline, ...named, options: own(part, known, marks) })
  }
  const data = media.link(url)
  const unusual = typeof data === "string" || data.href !== url
  return Message.file({
    mediaType,
    data,
    ...named,
    options: own(part, known, { ...marks, url: unusual ? url : undefined })
  })
}

const plainPart = (part: wire.Part): Message.UserPart => {
  if (part.type === "text" && part.text !== undefined) return Message.text(part.text, own(part, ["text"]))
  if (part.type === "file" && part.url !== undefined) return file(part, part.url)
  return media.opaque(format, part)
}

const toolPrefix = "tool-"

interface ToolPart extends wire.Part {
  readonly toolCallId: string
  readonly callProviderMetadata?: unknown
  readonly resultProviderMetadata?: unknown
}

const isTool = (part: wire.Part): part is ToolPart =>
  part.toolCallId !== undefined &&
  (part.type.startsWith(toolPrefix) || (part.type === "dynamic-tool" && part.toolName !== undefined))

const toolFields = [
  "type",
  "toolCallId",
  "toolName",
  "state",
  "input",
  "output",
  "errorText",
  "providerExecuted",
  "callProviderMetadata",
  "resultProviderMetadata"
]

/**
 * The state in which a call is written where nothing else was read.
 *
 * @internal
 */
export const usualState = (result: Message.ToolResultPart | undefined): string =>
  result === undefined ? "input-available" : result.isFailure ? "output-error" : "output-available"

const toolParts = (
  part: ToolPart
): { readonly call: Message.ToolCallPart; readonly result: Message.ToolResultPart | undefined } => {
  const dynamic = part.type === "dynamic-tool"
  const name = dynamic ? part.toolName ?? "unknown" : part.type.slice(toolPrefix.length)
  const providerExecuted = part.providerExecuted === true
  const failed = part.errorText !== undefined && part.output === undefined
  const shared = { id: part.toolCallId, name, providerExecuted }
  const result = failed || part.output !== undefined
    ? Message.toolResult({
      ...shared,
      result: failed ? part.errorText : part.output,
      isFailure: failed,
      options: metadata.read(part.resultProviderMetadata, format, {})
    })
    : undefined
  const fields = {
    ...json.rest(part, toolFields),
    ...(part.providerExecuted === false ? { providerExecuted: false } : {}),
    ...(!failed && part.errorText !== undefined ? { errorText: part.errorText } : {})
  }
  const call = Message.toolCall({
    ...shared,
    params: part.input ?? {},
    options: metadata.read(part.callProviderMetadata, format, {
      fields: json.unlessEmpty(fields),
      dynamic: dynamic ? true : undefined,
      input: part.input === undefined ? "absent" : part.input === null ? "null" : undefined,
      state: part.state === usualState(result) ? undefined : part.state ?? "absent"
    })
  })
  return { call, result }
}

/** The messages of one step: what the assistant said and called, and what the client's tools answered. */
const step = (parts: ReadonlyArray<wire.Part>, marked: boolean): ReadonlyArray<Message.Message> => {
  const content: Array<Message.AssistantPart> = []
  const results: Array<Message.ToolResultPart> = []
  for (const part of parts) {
    if (isTool(part)) {
      const { call, result } = toolParts(part)
      content.push(call)
      if (result !== undefined) (result.providerExecuted ? content : results).push(result)
    } else if (part.type === "reasoning" && part.text !== undefined) {
      content.push(Message.reasoning(part.text, own(part, ["text"])))
    } else {
      content.push(plainPart(part))
    }
  }
  const marks = options.make({ [format]: { step: marked ? undefined : "none" } })
  return [Message.assistant(content, marks), ...(results.length > 0 ? [Message.tool(results)] : [])]
}

const isStepStart = (part: wire.Part): boolean => part.type === "step-start" && Object.keys(part).length === 1

const assistantMessages = (parts: ReadonlyArray<wire.Part>): ReadonlyArray<Message.Message> => {
  const out: Array<Message.Message> = []
  let current: Array<wire.Part> = []
  let marked = false
  for (const part of parts) {
    if (!isStepStart(part)) {
      current.push(part)
      continue
    }
    if (marked || current.length > 0) append(out, step(current, marked))
    current = []
    marked = true
  }
  return marked || current.length > 0 || out.length === 0 ? [...out, ...step(current, marked)] : out
}

const systemMessages = (parts: ReadonlyArray<wire.Part>): ReadonlyArray<Message.Message> =>
  parts.length === 0
    ? [Message.system("", options.make({ [format]: { parts: "empty" } }))]
    : parts.map((part) =>
      part.type === "text" && part.text !== undefined
        ? Message.system(part.text, own(part, ["text"]))
        : Message.system("", options.make({ [format]: { block: part } }))
    )

/**
 * What the assistant said and what tools answered belongs into one message, until the user speaks.
 *
 * @internal
 */
export const joinsByDefault = (previous: Message.Message["role"] | undefined, role: Message.Message["role"]): boolean =>
  (previous === "assistant" || previous === "tool") && (role === "assistant" || role === "tool")

/** @internal */
export const messages = (message: wire.Message, current: State): ReadonlyArray<Message.Message> => {
  const found = message.role === "system"
    ? systemMessages(message.parts)
    : message.role === "user"
    ? [Message.user(message.parts.map(plainPart))]
    : assistantMessages(message.parts)
  const fields = json.unlessEmpty(json.rest(message, ["role", "parts"]))
  return found.map((one, i) => {
    const expected = joinsByDefault(current.previous, one.role)
    current.previous = one.role
    return {
      ...one,
      options: options.make({
        ...one.options,
        [format]: {
          ...options.get(one, format),
          message: i === 0 ? fields : undefined,
          joins: (i > 0) === expected ? undefined : i > 0
        }
      })
    }
  })
}
