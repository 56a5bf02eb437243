/**
 * Neighbours of one role as one message.
 */
import type * as Message from "../Message.js"
import { boundEnd, isOwed, isText } from "./diagnoseProvider.js"
import type { Repaired } from "./repairRound.js"
import { asks, type Rules } from "./rules.js"
import * as tag from "./tag.js"

/** Messages of one role; a system message is alone. @internal */
export interface Run {
  readonly messages: Array<Message.Message>
  /** Index of the message that the first one comes from. */
  readonly source: number
}

/** The run as one message: the same reference where there is nothing to do. @internal */
export const finish = ({ messages, source }: Run, rules: Rules): Repaired => {
  const [first] = messages
  if (first.role === "system") return { message: first, source }
  const message = messages.length === 1 ? first : merge(messages, first)
  if (message.role !== "assistant") return { message, source }
  const content = bound(ordered(message.content, rules), rules)
  return { message: content === message.content ? message : { ...message, content }, source }
}

const merge = <M extends Message.Message>(messages: ReadonlyArray<Message.Message>, first: M): M => ({
  ...first,
  content: messages.flatMap((message) => message.content as ReadonlyArray<Message.Part>),
  options: mergeOptions(messages)
})

/** Settings of all, the last one's first; our own marks only where all have them. */
const mergeOptions = (messages: ReadonlyArray<Message.Message>): Message.ProviderOptions => {
  const all = messages.flatMap(({ options }) => Object.entries(options))
  const others = all.filter(([provider]) => provider !== tag.namespace)
  return Object.fromEntries(
    messages.every(tag.isStandIn)
      ? [...others, [
        tag.namespace,
        Object.fromEntries(messages.flatMap(({ options }) => Object.entries(options[tag.namespace] ?? {})))
      ]]
      : others
  )
}

type Parts = ReadonlyArray<Message.AssistantPart>

/** Text before calls; reasoning goes with what it led to. */
const ordered = (parts: Parts, rules: Rules): Parts => {
  const firstCall = parts.findIndex(isOwed)
  if (firstCall < 0 || !asks(rules, "TextAfterCall")) return parts
  const early: Array<Message.AssistantPart> = []
  const late: Array<Message.AssistantPart> = []
  let target = late
  for (let i = parts.length - 1; i >= firstCall; i--) {
    if (parts[i].type !== "reasoning") target = isText(parts[i]) ? early : late
    target.push(parts[i])
  }
  return early.length === 0 ? parts : [...parts.slice(0, firstCall), ...early.reverse(), ...late.reverse()]
}

/** Without reasoning that led to nothing. */
const bound = (parts: Parts, rules: Rules): Parts => {
  const end = boundEnd(parts)
  return end === parts.length || !asks(rules, "LooseReasoning") ? parts : parts.slice(0, end)
}
