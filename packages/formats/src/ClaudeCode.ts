/**
 * Session files of Claude Code: JSON lines, of which those of type `user` and `assistant` are the conversation.
 *
 * The lines of one assistant message are brought together by its id, also where others stand between them. Records of
 * other types, repeated lines, side conversations and the client's own view of a result (`toolUseResult`) are skipped
 * and counted. In `options["claude-code"]` a message has `synthetic: true` when the client wrote it itself, and
 * `compactSummary: true` when it is a summary that replaced what came before.
 *
 * Not carried when written: system messages, and what `AnthropicMessages` does not carry. Interleaved lines of a message
 * are written together.
 *
 * @since 0.1.0
 */
import type { SessionCodec } from "./Codec.js"
import * as decode from "./internal/claudeCodeDecode.js"
import * as encode from "./internal/claudeCodeEncode.js"
import * as json from "./internal/json.js"

const otherTypes = ["summary", "system", "progress", "file-history-snapshot", "queue-operation", "attachment"]

const otherFields = ["sessionId", "leafUuid", "snapshot", "parentUuid"]

/**
 * @since 0.1.0
 * @category codecs
 */
export const codec: SessionCodec = {
  id: "claude-code",
  title: "Claude Code session",
  layout: "session",
  many: false,
  match: (value) => {
    if (!json.isRecord(value)) return 0
    if (value.type === "user" || value.type === "assistant") {
      return json.isRecord(value.message) && value.message.role === value.type ? 3 : 0
    }
    return otherTypes.includes(String(value.type)) && otherFields.some((field) => field in value) ? 2 : 0
  },
  open: decode.open,
  encode: encode.encode
}
