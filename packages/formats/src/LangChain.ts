/**
 * LangChain and LangGraph: messages as `lc: 1` constructors, in lists, and in the `messages` of states.
 *
 * `usage_metadata`, response metadata, chunks and other arguments of the constructors are kept in `options.langchain`.
 * Messages that are no part of a conversation, such as `RemoveMessage`, are skipped and counted.
 *
 * Not carried when written: files of the assistant, and reasoning and blocks of other providers.
 *
 * @since 0.1.0
 */
import type { DocumentCodec } from "./Codec.js"
import * as decode from "./internal/langchainDecode.js"
import * as encode from "./internal/langchainEncode.js"
import { usage } from "./internal/langchainUsage.js"

/**
 * @since 0.1.0
 * @category codecs
 */
export const codec: DocumentCodec = {
  id: decode.format,
  title: "LangChain messages",
  layout: "document",
  match: decode.match,
  decode: decode.read,
  usage,
  encode: encode.encode
}
