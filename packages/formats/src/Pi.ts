/**
 * Sessions of the pi coding agent: JSON lines, of which those of type `message` are the conversation.
 *
 * A `compaction` entry becomes a user message with its summary, marked `compactSummary` in `options.pi`. Provider, model,
 * stop reason and usage of a message stay there too; other entries are skipped and counted.
 *
 * Not carried when written: system messages, links to files, and calls that a provider ran itself.
 *
 * @since 0.1.0
 */
import type { SessionCodec } from "./Codec.js"
import * as json from "./internal/json.js"
import * as decode from "./internal/piDecode.js"
import * as encode from "./internal/piEncode.js"

const roles = ["user", "assistant", "toolResult"]

const entries = ["compaction", "model_change", "thinking_level_change", "branch_summary"]

/**
 * @since 0.1.0
 * @category codecs
 */
export const codec: SessionCodec = {
  id: decode.format,
  title: "pi session",
  layout: "session",
  many: false,
  match: (value) => {
    if (!json.isRecord(value)) return 0
    if (value.type === "message") {
      return json.isRecord(value.message) && roles.includes(String(value.message.role))
        ? 3
        : 0
    }
    if (value.type === "session") return json.isString(value.id) && json.isString(value.cwd) ? 2 : 0
    return entries.includes(String(value.type)) ? 2 : 0
  },
  open: decode.open,
  encode: encode.encode
}
