/**
 * Images and documents of Anthropic messages.
 */
import * as Either from "effect/Either"
import * as Encoding from "effect/Encoding"
import * as Message from "effect-memory/Message"
import type * as wire from "./anthropicSchema.js"
import * as json from "./json.js"
import * as media from "./media.js"
import * as options from "./options.js"

/** @internal */
export const provider = "anthropic"

/**
 * Fields of `options.anthropic` that have a meaning by themselves.
 *
 * @internal
 */
export const knownFields = [
  "signature",
  "data",
  "cache_control",
  "citations",
  "context",
  "caller",
  "server_name",
  "is_error",
  "block",
  "source",
  "message"
]

const isImage = (mediaType: string): boolean => mediaType.startsWith("image/")

/** @internal */
export const read = (block: wire.Media, format: string): Message.FilePart => {
  const { source } = block
  const sourceRest = json.rest(source, ["type", "media_type", "data", "url"])
  const kept = {
    ...json.rest(block, ["type", "source", "title"]),
    source: Object.keys(sourceRest).length === 0 ? undefined : sourceRest
  }
  const make = (mediaType: string, data: string | URL, marks: json.JsonRecord = {}) =>
    Message.file({
      mediaType,
      data,
      ...(json.isString(block.title) ? { fileName: block.title } : {}),
      options: options.make({
        [provider]: options.keep(kept, knownFields),
        [format]: { ...marks, type: isImage(mediaType) === (block.type === "image") ? undefined : block.type }
      })
    })
  if (source.type === "base64" && source.media_type !== undefined && source.data !== undefined) {
    return make(source.media_type, source.data)
  }
  if (source.type === "url" && source.url !== undefined) {
    const data = media.link(source.url)
    const unusual = typeof data === "string" || data.href !== source.url
    return make(block.type === "image" ? "image/*" : "application/pdf", data, {
      url: unusual ? source.url : undefined,
      media: source.media_type
    })
  }
  // Text whose base64 form does not give it back, such as half an emoji, stays as it is.
  if (source.type === "text" && source.data !== undefined && source.data.isWellFormed()) {
    return make(source.media_type ?? "text/plain", Encoding.encodeBase64(source.data), { source: "text" })
  }
  return media.opaque(provider, block)
}

const sourceOf = (part: Message.FilePart, marks: json.JsonRecord): json.JsonRecord | undefined => {
  if (part.data instanceof URL || json.isString(marks.url)) {
    const url = typeof part.data === "string" || part.data instanceof URL ? media.linkText(part.data, marks.url) : ""
    return isImage(part.mediaType) || part.mediaType === "application/pdf"
      ? json.compact({ type: "url", url, media_type: marks.media })
      : undefined
  }
  const data = media.base64(part.data)
  if (marks.source === "text" || (part.mediaType.startsWith("text/") && marks.type === undefined)) {
    const decoded = Encoding.decodeBase64String(data)
    return Either.isRight(decoded) ? { type: "text", media_type: part.mediaType, data: decoded.right } : undefined
  }
  const accepted = isImage(part.mediaType) || part.mediaType === "application/pdf" || marks.type !== undefined
  return accepted ? { type: "base64", media_type: part.mediaType, data } : undefined
}

/**
 * The block of a file, or `undefined` where there is none for it.
 *
 * @internal
 */
export const write = (part: Message.FilePart, format: string): json.JsonRecord | undefined => {
  const { block, source: sourceRest, ...fields } = options.kept(options.get(part, provider), knownFields)
  if (json.isRecord(block)) return block
  const marks = options.get(part, format)
  const source = sourceOf(part, marks)
  if (source === undefined) return undefined
  return json.compact({
    type: marks.type ?? (isImage(part.mediaType) ? "image" : "document"),
    source: { ...source, ...(json.isRecord(sourceRest) ? sourceRest : {}) },
    title: isImage(part.mediaType) ? undefined : part.fileName,
    ...fields
  })
}
