/**
 * OpenAI Chat Completions: request bodies, lists of messages, responses, and the trajectories of agents that keep their
 * messages in this form.
 *
 * Fields that only OpenAI knows are kept in `options.openai`. The arguments of a call come back byte-identical, also
 * where they are not valid JSON; `null` in an optional field is read as absence.
 *
 * Not carried when written: whether a tool failed, reasoning (but for the `reasoning_content` that was read), calls that
 * a provider ran itself, files of the assistant, files in results, and where calls stood between texts.
 *
 * @since 0.1.0
 */
import type { Codec } from "./Codec.js"
import * as chat from "./internal/openAiChat.js"

/**
 * @since 0.1.0
 * @category codecs
 */
export const codec: Codec = chat.make({
  id: "openai-chat",
  title: "OpenAI Chat Completions",
  rules: "openai",
  at: ["messages", "traj"],
  match: chat.match
})
