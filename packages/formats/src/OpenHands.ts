/**
 * OpenHands trajectories: chat messages with an instance, a run and its outcome beside them.
 *
 * Their feedback sessions are in the form of `ShareGpt`. What is not carried when written: as `OpenAiChat`.
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
  id: "openhands",
  title: "OpenHands trajectory",
  at: ["messages"],
  match: (value) =>
    json.isRecord(value) && "instance_id" in value && ("run_id" in value || "test_result" in value) &&
      chat.matchAt(value, "messages") > 0
      ? 3
      : 0
})
