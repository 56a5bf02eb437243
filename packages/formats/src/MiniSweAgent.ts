/**
 * mini-swe-agent trajectories: chat messages, by themselves or with an `info` beside them.
 *
 * The agent has no structured calls: commands stand in assistant text, and what they printed in user messages. What is
 * not carried when written: as `OpenAiChat`.
 *
 * @since 0.1.0
 */
import type { DocumentCodec } from "./Codec.js"
import * as json from "./internal/json.js"
import * as chat from "./internal/openAiChat.js"

const isObservation = (message: unknown): boolean =>
  json.isRecord(message) && message.role === "user" && json.isString(message.content) &&
  message.content.startsWith("<returncode>")

/**
 * @since 0.1.0
 * @category codecs
 */
export const codec: DocumentCodec = chat.make({
  id: "mini-swe-agent",
  title: "mini-swe-agent trajectory",
  at: ["messages"],
  match: (value) => {
    if (Array.isArray(value)) return chat.matchMessages(value) > 0 && value.some(isObservation) ? 3 : 0
    return json.isRecord(value) && String(value.trajectory_format).startsWith("mini-swe-agent") &&
        chat.matchAt(value, "messages") > 0
      ? 3
      : 0
  }
})
