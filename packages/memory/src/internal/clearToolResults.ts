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

/** What the provider has run itself goes back as it came. */
const isClearable = (part: Message.Part, exclude: ReadonlySet<string>): part is Message.ToolResultPart =>
  Message.isToolResult(part) && !part.providerExecuted && !exclude.has(part.name) && !tag.isCleared(part)

const clearPart = (part: Message.ToolResultPart): Message.ToolResultPart => ({
  ...part,
  result: placeholder,
  options: { ...part.options, ...tag.make("cleared", true) }
})

/**
 * Messages with results that may be cleared, oldest first: those of all but the newest `keep` groups that have results.
 * Groups with open calls are left alone.
 */
const clearable = (
  messages: ReadonlyArray<Message.Message>,
  keep: number,
  exclude: ReadonlySet<string>
): ReadonlyArray<number> => {
  const groups = groupsOf(messages).filter(({ items }) =>
    items.some((i) => Message.toolResults(messages[i]).length > 0)
  )
  const old = Math.max(0, groups.length - Math.max(1, keep))
  const alone = new Set(groups.flatMap(({ items, open }, g) => open || g >= old ? items : []))
  return Array.from(new Set(groups.slice(0, old).flatMap(({ items }) => items)))
    .filter((i) => !alone.has(i) && Message.parts(messages[i]).some((part) => isClearable(part, exclude)))
    .sort((a, b) => a - b)
}

const clear = (message: Message.Message, exclude: ReadonlySet<string>): Message.Message => {
  switch (message.role) {
    case "tool":
      return Message.tool(
        message.content.map((part) => isClearable(part, exclude) ? clearPart(part) : part),
        message.options
      )
    case "assistant":
      return Message.assistant(
        message.content.map((part) => isClearable(part, exclude) ? clearPart(part) : part),
        message.options
      )
    default:
      return message
  }
}

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
