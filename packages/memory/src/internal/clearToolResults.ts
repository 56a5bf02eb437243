/**
 * Results of old groups, replaced by a placeholder.
 */
import * as Effect from "effect/Effect"
import type { TokenCountError } from "../MemoryError.js"
import * as Message from "../Message.js"
import type { TrimInput, TrimResult } from "../TrimStrategy.js"
import { remembered, rewriteUntil, tokensToWin } from "./rewriting.js"
import { groupsOf } from "./settle.js"
import * as tag from "./tag.js"
import type * as window from "./window.js"

const placeholder = "[Result cleared to save space. Call the tool again if it is needed.]"

const clearPart = (part: Message.ToolResultPart): Message.ToolResultPart => ({
  ...part,
  result: placeholder,
  options: { ...part.options, ...tag.make("cleared", true) }
})

/**
 * Messages with results that may be cleared, oldest first: those of all but the newest `keep` groups that have results.
 */
const clearable = (
  messages: ReadonlyArray<Message.Message>,
  keep: number,
  exclude: ReadonlySet<string>
): ReadonlyArray<number> => {
  const groups = groupsOf(messages).filter((group) => group.items.length > 1)
  return groups.slice(0, Math.max(0, groups.length - Math.max(1, keep))).flatMap((group) =>
    group.items.slice(1).filter((i) =>
      Message.toolResults(messages[i]).some((part) => !exclude.has(part.name) && !tag.isCleared(part))
    )
  ).sort((a, b) => a - b)
}

const clear = (message: Message.Message, exclude: ReadonlySet<string>): Message.Message =>
  message.role === "tool"
    ? Message.tool(
      message.content.map((part) => exclude.has(part.name) || tag.isCleared(part) ? part : clearPart(part)),
      message.options
    )
    : message

/** @internal */
export const clearing = (exclude: ReadonlySet<string>, keep: number, minimum: number) => {
  const rewrite = remembered((message) => Effect.succeed(clear(message, exclude)))
  return (input: TrimInput, target: window.Target): Effect.Effect<TrimResult, TokenCountError> =>
    rewriteUntil(
      input,
      clearable(input.messages, keep, exclude),
      rewrite,
      tokensToWin(input, "keep", target),
      minimum,
      { strategy: "clearToolResults", action: "cleared" }
    )
}
