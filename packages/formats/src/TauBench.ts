/**
 * tau-bench trajectories: chat messages in `traj`, with the task and its reward beside them. What is not carried when
 * written: as `OpenAiChat`.
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
  id: "tau-bench",
  title: "tau-bench trajectory",
  at: ["traj"],
  match: (value) => json.isRecord(value) && chat.matchAt(value, "traj") > 0 ? "task_id" in value ? 3 : 2 : 0
})
