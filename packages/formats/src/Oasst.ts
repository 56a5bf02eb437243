/**
 * OpenAssistant: trees of messages, whole or as lists and lines of nodes that name their parent.
 *
 * A tree is one conversation: from its root, the reply of the best rank is followed, or the first one where there is no
 * rank. Replies that are not followed are counted.
 *
 * Not carried when written: system messages, calls, results, files and reasoning, and the replies that were not followed.
 *
 * @since 0.1.0
 */
import type { SessionCodec } from "./Codec.js"
import * as tree from "./internal/oasst.js"
import * as encode from "./internal/oasstEncode.js"

/**
 * @since 0.1.0
 * @category codecs
 */
export const codec: SessionCodec = {
  id: tree.format,
  title: "OpenAssistant trees",
  layout: "session",
  many: true,
  match: tree.match,
  open: tree.open,
  encode: encode.encode
}
