/**
 * Messages by role, as formats write and read them whose wire has other bounds.
 */
import * as Message from "effect-memory/Message"
import { append } from "./lists.js"

/**
 * Writes messages one after another. System messages that were one on the wire become one again.
 *
 * @internal
 */
export const write = <A>(
  all: ReadonlyArray<Message.Message>,
  joins: (message: Message.SystemMessage) => boolean,
  by: {
    readonly system: (group: ReadonlyArray<Message.SystemMessage>) => A
    readonly user: (message: Message.UserMessage) => A
    readonly assistant: (message: Message.AssistantMessage) => ReadonlyArray<A>
    readonly tool: (message: Message.ToolMessage) => ReadonlyArray<A>
  }
): ReadonlyArray<A> => {
  const out: Array<A> = []
  for (let i = 0; i < all.length; i++) {
    const one = all[i]
    switch (one.role) {
      case "system": {
        const group = [one]
        for (let next = all[i + 1]; next?.role === "system" && joins(next); next = all[i + 1]) {
          group.push(next)
          i++
        }
        out.push(by.system(group))
        break
      }
      case "user":
        out.push(by.user(one))
        break
      case "assistant":
        append(out, by.assistant(one))
        break
      case "tool":
        append(out, by.tool(one))
    }
  }
  return out
}

/**
 * Cuts what the user sends where results begin or end; one message at least.
 *
 * @internal
 */
export const userRuns = (
  parts: ReadonlyArray<Message.UserPart | Message.ToolResultPart>
): ReadonlyArray<Message.Message> => {
  const out: Array<Message.Message> = []
  let results: Array<Message.ToolResultPart> = []
  let others: Array<Message.UserPart> = []
  const flush = () => {
    if (results.length > 0) out.push(Message.tool(results))
    if (others.length > 0) out.push(Message.user(others))
    results = []
    others = []
  }
  for (const part of parts) {
    if (part.type === "tool-result" ? others.length > 0 : results.length > 0) flush()
    if (part.type === "tool-result") results.push(part)
    else others.push(part)
  }
  flush()
  return out.length > 0 ? out : [Message.user([])]
}
