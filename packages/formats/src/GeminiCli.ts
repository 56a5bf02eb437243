/**
 * Sessions of the Gemini CLI: one object, whose `messages` are of type `user` and `gemini`.
 *
 * A message of the model holds its thoughts, its text, its calls and their results: results become a `tool` message.
 * Messages of other types, such as `info`, are skipped and counted.
 *
 * Not carried when written: system messages, files, results whose call is missing, calls that a provider ran itself, and
 * the order of texts and calls in a message.
 *
 * @since 0.1.0
 */
import type { DocumentCodec } from "./Codec.js"
import * as decode from "./internal/geminiCliDecode.js"
import * as encode from "./internal/geminiCliEncode.js"

/**
 * @since 0.1.0
 * @category codecs
 */
export const codec: DocumentCodec = {
  id: decode.format,
  title: "Gemini CLI session",
  rules: "gemini",
  layout: "document",
  match: decode.match,
  decode: decode.read,
  encode: encode.encode
}
