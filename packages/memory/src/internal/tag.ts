/**
 * What this library writes into the `options` of messages and parts that it made itself.
 */
import type { Message, ProviderOptions, ToolResultPart } from "../Message.js"

/** @internal */
export const namespace = "effect-memory"

const get = (options: ProviderOptions, key: string): unknown => options[namespace]?.[key]

/** @internal */
export const make = (key: string, value: unknown): ProviderOptions => ({ [namespace]: { [key]: value } })

/** A message that stands for others. @internal */
export const isSummary = (message: Message): boolean => get(message.options, "summary") !== undefined

/** A user message that carries what others said: a summary, a system message, a file of the assistant. @internal */
export const isStandIn = (message: Message): boolean =>
  isSummary(message) || get(message.options, "context") !== undefined

/** Adds to what a summary says of itself; other messages stay as they are. @internal */
export const describeSummary = (message: Message, more: { readonly [key: string]: unknown }): Message => {
  const summary = get(message.options, "summary")
  return typeof summary !== "object"
    ? message
    : { ...message, options: { ...message.options, ...make("summary", { ...summary, ...more }) } }
}

/** A result that closes a call nobody answered. @internal */
export const isClosing = (part: ToolResultPart): boolean => get(part.options, "closes") !== undefined

/** A result that was replaced by a placeholder. @internal */
export const isCleared = (part: ToolResultPart): boolean => get(part.options, "cleared") !== undefined
