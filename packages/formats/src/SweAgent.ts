/**
 * SWE-agent trajectories (`.traj`), and lists of messages with an instance beside them, as SWE-smith has them.
 *
 * The messages are the `history`; thoughts, actions and the name of the agent stay in `options.openai`, the steps of the
 * `trajectory` in the envelope. Agents without structured calls put them into assistant text and the observation into a
 * user message: they are read as such. What is not carried when written: as `OpenAiChat`.
 *
 * @since 0.1.0
 */
import type { DocumentCodec } from "./Codec.js"
import * as json from "./internal/json.js"
import * as chat from "./internal/openAiChat.js"

/**
 * @since 0.1.0
 * @category codecs
 */
export const codec: DocumentCodec = chat.make({
  id: "swe-agent",
  title: "SWE-agent trajectory",
  at: ["history", "messages"],
  match: (value) => {
    if (!json.isRecord(value)) return 0
    if (!("messages" in value) && chat.matchAt(value, "history") > 0) {
      return "trajectory" in value || "info" in value ? 3 : 2
    }
    return "instance_id" in value && "traj_id" in value && chat.matchAt(value, "messages") > 0 ? 3 : 0
  }
})
