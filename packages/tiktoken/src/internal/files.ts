/**
 * Tokens of images by their size in pixels, of other files by their size in bytes.
 *
 * @internal
 */
import type * as Message from "effect-memory/Message"
import type { ImageRule } from "../Model.js"
import { type Bytes, fromBase64, fromUint8Array, imageSize, type Size } from "./imageSize.js"

/** What an image is taken for that does not tell its size, such as one behind a URL. */
const TYPICAL: Size = { width: 1024, height: 1024 }

/** A file of which not even the bytes are known. */
const UNKNOWN_FILE = 1000

/** Bytes of a token, by media type. */
const bytesPerToken: ReadonlyArray<readonly [mediaType: RegExp, bytes: number]> = [
  [/^text\/|[/+](json|xml|yaml|csv|javascript)$/, 4],
  [/^(audio|video)\//, 500],
  // Documents are mostly pictures and fonts.
  [/^/, 50]
]

const bytesOf = (data: Message.FilePart["data"]): Bytes | undefined => {
  if (data instanceof Uint8Array) return fromUint8Array(data)
  const text = typeof data === "string" ? data : data.href
  if (text.startsWith("data:")) return fromBase64(text.slice(text.indexOf(",") + 1))
  // No base64 has a colon, and any other URL has one.
  return typeof data === "string" && !text.includes(":") ? fromBase64(text) : undefined
}

/** Shrinks by a scale; nothing grows. */
const fit = ({ height, width }: Size, scale: number): Size => ({
  width: width * Math.min(1, scale),
  height: height * Math.min(1, scale)
})

const countOf = ({ height, width }: Size, side: number): number => Math.ceil(width / side) * Math.ceil(height / side)

const countImage = (rule: ImageRule, size: Size, detail: unknown): number => {
  switch (rule.type) {
    case "tiles": {
      if (detail === "low") return rule.base
      const inBox = fit(size, 2048 / Math.max(size.width, size.height))
      return rule.base + rule.tile * countOf(fit(inBox, 768 / Math.min(inBox.width, inBox.height)), 512)
    }
    case "patches":
      return Math.ceil(rule.factor * Math.min(rule.max, countOf(size, rule.side)))
    case "crops": {
      const longer = Math.max(size.width, size.height)
      return rule.tile * (longer <= rule.small ? 1 : countOf(fit(size, rule.max / longer), rule.side))
    }
  }
}

/** Counts the tokens of a file. */
export const countFile = (rule: ImageRule) => (file: Message.FilePart): number => {
  const bytes = bytesOf(file.data)
  const type = file.mediaType.toLowerCase().split(";")[0].trim()
  if (type.startsWith("image/")) {
    const detail = file.options["openai"]?.["detail"] ?? file.options["openai"]?.["imageDetail"]
    return countImage(rule, bytes === undefined ? TYPICAL : imageSize(bytes) ?? TYPICAL, detail)
  }
  if (bytes === undefined) return UNKNOWN_FILE
  const [, size] = bytesPerToken.find(([mediaType]) => mediaType.test(type))!
  return Math.max(1, Math.ceil(bytes.length / size))
}
