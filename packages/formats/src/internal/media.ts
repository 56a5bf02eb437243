/**
 * Files inside messages.
 */
import * as Encoding from "effect/Encoding"
import type * as Message from "effect-memory/Message"

const dataUrl = /^data:([^;,]+);base64,/

/**
 * The media type and base64 text of a plain data URL.
 *
 * @internal
 */
export const fromDataUrl = (url: string): { readonly mediaType: string; readonly data: string } | undefined => {
  const match = dataUrl.exec(url)
  return match === null ? undefined : { mediaType: match[1], data: url.slice(match[0].length) }
}

/** @internal */
export const toDataUrl = (mediaType: string, data: string): string => `data:${mediaType};base64,${data}`

/**
 * A link as `URL`, or as it stands where it is none.
 *
 * @internal
 */
export const link = (url: string): URL | string => URL.canParse(url) ? new URL(url) : url

/** @internal */
export const base64 = (data: string | Uint8Array): string =>
  typeof data === "string" ? data : Encoding.encodeBase64(data)

/**
 * The text of a link: the one that was read, as long as it still means the same.
 *
 * @internal
 */
export const linkText = (data: URL | string, read: unknown): string => {
  const href = typeof data === "string" ? data : data.href
  return typeof read === "string" && (read === href || (URL.canParse(read) && new URL(read).href === href))
    ? read
    : href
}

/**
 * A block that no part can hold, kept as it is.
 *
 * @internal
 */
export const opaque = (provider: string, block: object): Message.FilePart => ({
  type: "file",
  mediaType: "application/octet-stream",
  data: "",
  options: { [provider]: { block } }
})
