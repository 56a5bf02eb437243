/**
 * ShareGPT: `conversations` of `from` and `value`, and the form of `messages` whose content is text or a list of
 * `{ type, value }`.
 *
 * A `function_call` that is JSON of a name and arguments is a call, and the `observation` after it its result; ids are
 * made up. Where a call is plain text, both are read as text of the assistant and the user. Labels, tools and rejected
 * answers stay in the envelope.
 *
 * Not carried when written: ids, files, whether a tool failed, calls that a provider ran itself, and, in the form of
 * `conversations`, reasoning and the order of texts and calls in a message.
 *
 * @since 0.1.0
 */
import type { DocumentCodec } from "./Codec.js"
import * as sharegpt from "./internal/sharegptDecode.js"
import * as write from "./internal/sharegptEncode.js"

/**
 * @since 0.1.0
 * @category codecs
 */
export const codec: DocumentCodec = {
  id: sharegpt.format,
  title: "ShareGPT",
  layout: "document",
  match: sharegpt.match,
  decode: sharegpt.read,
  encode: write.encode
}
