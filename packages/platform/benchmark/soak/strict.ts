/**
 * Contexts as Anthropic would be sent them, without any repair.
 */
import { AnthropicMessages, Conversation } from "@effect-memory/formats"
import { Message } from "effect-memory"
import { refusal } from "./services.js"

/** Calls that are open at the end are answered, and the user has the last word. */
const finished = (context: ReadonlyArray<Message.Message>): ReadonlyArray<Message.Message> => {
  const answered = new Set(context.flatMap(Message.toolResults).map(({ id }) => id))
  const open = context.flatMap(Message.toolCalls).filter(({ id }) => !answered.has(id))
  if (open.length > 0) {
    return [...context, Message.tool(open.map(({ id, name }) => Message.toolResult({ id, name, result: "none" })))]
  }
  return context[context.length - 1]?.role === "assistant" ? [...context, Message.user("Continue.")] : context
}

/** Why the service would refuse a context; nothing where it takes it. */
export const refusalOf = (context: ReadonlyArray<Message.Message>): string | undefined => {
  // Before the first word of the user there is nothing to send.
  if (context.every(({ role }) => role === "system")) return undefined
  const { notes, values: [value] } = AnthropicMessages.codec.encode(Conversation.make(finished(context)))
  if (notes.length > 0) return "something cannot be written"
  return typeof value === "object" && value !== null ? refusal(value) : "nothing to send"
}
