/**
 * What repair makes of messages, told apart and found again, so that it need not be counted again.
 */
import * as Message from "../Message.js"
import type { Repaired } from "./repairRound.js"

/**
 * What repair has made of a recorded message, by the ids in it: it may stand in several places. Where the same is made
 * again, the former one is taken, so that it need not be counted again.
 *
 * @internal
 */
export type Forms = WeakMap<Message.Message, Map<string, Message.Message>>

const samePart = (a: Message.Part, b: Message.Part): boolean => {
  if (a === b) return true
  if (a.type === "tool-call" && b.type === "tool-call") {
    return a.id === b.id && a.name === b.name && a.params === b.params
  }
  return a.type === "tool-result" && b.type === "tool-result" &&
    a.id === b.id && a.name === b.name && a.isFailure === b.isFailure && a.result === b.result
}

const sameOptions = (a: Message.ProviderOptions, b: Message.ProviderOptions): boolean =>
  a === b || (Object.keys(a).length === 0 && Object.keys(b).length === 0)

/** Of what repair has made of the same messages: of equal parts only ids differ. @internal */
export const sameMessage = (a: Message.Message, b: Message.Message): boolean =>
  a.role === b.role && a.role !== "system" && b.role !== "system" && sameOptions(a.options, b.options) &&
  a.content.length === b.content.length && a.content.every((part, i) => samePart(part, b.content[i]))

/** What tells the forms of one message apart: role and ids. @internal */
export const formOf = (message: Message.Message): string =>
  Message.parts(message).reduce<string>(
    (key, part) => part.type === "tool-call" || part.type === "tool-result" ? `${key} ${part.type} ${part.id}` : key,
    message.role
  )

const firstPart = (message: Message.Message): unknown => {
  const part = message.content[0]
  return typeof part === "object" && (part.type === "tool-call" || part.type === "tool-result")
    ? `${message.role} ${part.type} ${part.id}`
    : part
}

/**
 * Rewritten messages are made anew each time a sequence is repaired: where nothing changed, the former one is taken, so
 * that it need not be counted again.
 *
 * @internal
 */
export const reuse = (
  previous: ReadonlyArray<{ readonly message: Message.Message }>,
  next: ReadonlyArray<Repaired>
): ReadonlyArray<Repaired> => {
  if (previous.length === 0) return next
  const former = new Map(previous.map(({ message }) => [firstPart(message), message]))
  return next.map(({ message, source }) => {
    const candidate = former.get(firstPart(message))
    return { source, message: candidate !== undefined && sameMessage(candidate, message) ? candidate : message }
  })
}
