/**
 * `ModelMessage`s into messages.
 */
import * as Message from "effect-memory/Message"
import * as json from "./json.js"
import * as media from "./media.js"
import * as metadata from "./vercelMetadata.js"
import type * as wire from "./vercelModelSchema.js"
import { isKnown } from "./vercelModelSchema.js"

/** @internal */
export const format = "vercel-model"

/** Ids of calls that the provider ran: their results do not say so. */
interface State {
  readonly executed: Set<string>
}

/** @internal */
export const state = (): State => ({ executed: new Set() })

const own = (
  part: object & { readonly providerOptions?: unknown },
  known: ReadonlyArray<string>,
  marks: json.JsonRecord = {},
  reasoning = false
): Message.ProviderOptions =>
  metadata.read(
    part.providerOptions,
    format,
    { ...marks, fields: json.unlessEmpty(json.rest(part, ["type", "providerOptions", ...known])) },
    reasoning
  )

/** Data as text: a data URL, a link or base64. */
const fileOf = (
  part: object,
  data: unknown,
  key: string,
  mediaType: string | undefined,
  fileName: string | undefined
): Message.FilePart => {
  const known = [key, "mediaType", "filename"]
  const named = fileName === undefined ? {} : { fileName }
  const image = key === "image" ? true : undefined
  const marks = { image, media: mediaType === undefined ? "none" : undefined }
  const type = mediaType ?? "image/*"
  if (!json.isString(data)) {
    return Message.file({ mediaType: type, data: "", ...named, options: own(part, known, { ...marks, data }) })
  }
  const inline = media.fromDataUrl(data)
  if (inline !== undefined && (mediaType === undefined || inline.mediaType === mediaType)) {
    return Message.file({ ...inline, ...named, options: own(part, known, { ...marks, form: "dataUrl" }) })
  }
  if (/^[a-z][a-z0-9+.-]*:/i.test(data)) {
    const url = media.link(data)
    const unusual = typeof url === "string" || url.href !== data
    return Message.file({
      mediaType: type,
      data: url,
      ...named,
      options: own(part, known, { ...marks, url: unusual ? data : undefined })
    })
  }
  return Message.file({ mediaType: type, data, ...named, options: own(part, known, marks) })
}

const opaque = (part: object): Message.FilePart => media.opaque(format, part)

const result = (part: wire.Result, current: State): Message.ToolResultPart => {
  const { type, value } = part.output
  const fields = json.rest(part.output, ["type", "value"])
  const isFailure = type.startsWith("error") || type === "execution-denied"
  const usual = value !== undefined && type === outputType(value, isFailure)
  return Message.toolResult({
    id: part.toolCallId,
    name: part.toolName,
    result: value ?? null,
    isFailure,
    providerExecuted: current.executed.has(part.toolCallId),
    options: own(part, ["toolCallId", "toolName", "output"], {
      output: usual ? undefined : type,
      value: value === undefined ? "absent" : undefined,
      outputFields: json.unlessEmpty(fields)
    })
  })
}

/**
 * The type under which a result is written where nothing else was read.
 *
 * @internal
 */
export const outputType = (value: unknown, isFailure: boolean): string =>
  `${isFailure ? "error-" : ""}${json.isString(value) ? "text" : "json"}`

const assistantPart = (part: wire.Part, current: State): Message.AssistantPart => {
  if (!isKnown(part)) return opaque(part)
  switch (part.type) {
    case "text":
      return Message.text(part.text, own(part, ["text"]))
    case "reasoning":
      return Message.reasoning(part.text, own(part, ["text"], {}, true))
    case "file":
      return fileOf(part, part.data, "data", part.mediaType, part.filename)
    case "image":
      return fileOf(part, part.image, "image", part.mediaType, undefined)
    case "tool-call":
      if (part.providerExecuted === true) current.executed.add(part.toolCallId)
      return Message.toolCall({
        id: part.toolCallId,
        name: part.toolName,
        params: part.input ?? {},
        providerExecuted: part.providerExecuted === true,
        options: own(
          part,
          ["toolCallId", "toolName", "input", ...(part.providerExecuted === true ? ["providerExecuted"] : [])],
          { input: part.input === undefined ? "absent" : part.input === null ? "null" : undefined }
        )
      })
    case "tool-result":
      return result(part, current)
  }
}

const userPart = (part: wire.Part, current: State): Message.UserPart => {
  const found = assistantPart(part, current)
  return found.type === "text" || found.type === "file" ? found : opaque(part)
}

/** @internal */
export const messages = (message: wire.Message, current: State): ReadonlyArray<Message.Message> => {
  const { content, role } = message
  const kept = (marks: json.JsonRecord = {}) => own(message, ["role", "content"], marks)
  if (role === "system") return [Message.system(content, kept())]
  if (typeof content === "string") {
    const marks = kept({ content: "string" })
    return [role === "user" ? Message.user(content, marks) : Message.assistant(content, marks)]
  }
  if (role === "user") return [Message.user(content.map((part) => userPart(part, current)), kept())]
  if (role === "assistant") return [Message.assistant(content.map((part) => assistantPart(part, current)), kept())]
  const results = content.flatMap((part) => isKnown(part) && part.type === "tool-result" ? [result(part, current)] : [])
  // Approvals and the like are no results: they stand beside them.
  const others = content.length === results.length ? undefined : content
  return [Message.tool(results, kept({ parts: others }))]
}
