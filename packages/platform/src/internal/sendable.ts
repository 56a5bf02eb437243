/**
 * Conversations as a service takes them.
 */
import type { Codec } from "@effect-memory/formats/Codec"
import * as Conversation from "@effect-memory/formats/Conversation"
import * as Either from "effect/Either"
import * as Predicate from "effect/Predicate"
import * as Message from "effect-memory/Message"
import * as Transcript from "effect-memory/Transcript"

/** @internal */
export interface Form {
  readonly codec: Codec
  readonly rules: Transcript.Rules
  /** Whether the last word must be the user's. */
  readonly userLast: boolean
}

const goOn = Message.user("Continue.")

/** A repaired conversation that can be answered now. */
const finished = (
  messages: ReadonlyArray<Message.Message>,
  { rules, userLast }: Form
): ReadonlyArray<Message.Message> => {
  if (messages[messages.length - 1]?.role === "user") {
    const repaired = Transcript.repair(messages, rules)
    if (repaired[repaired.length - 1]?.role === "user") return repaired
  }
  // When the user goes on, calls that are still open are closed.
  const closed = Transcript.repair([...messages, goOn], rules)
  if (closed[closed.length - 1] !== goOn) return closed
  const last = closed[closed.length - 2]
  return last !== undefined && userLast && last.role !== "tool" ? closed : closed.slice(0, -1)
}

const record = (value: unknown) => Predicate.isRecord(value) ? value : undefined

/**
 * The fields of a request that hold a conversation; none where there is nothing to send.
 *
 * @internal
 */
export const write = (
  messages: ReadonlyArray<Message.Message>,
  form: Form
): { readonly [field: string]: unknown } | undefined => {
  const { codec } = form
  const sent = finished(messages, form)
  if (sent.length === 0) return undefined
  const { notes, values: [value] } = codec.encode(Conversation.make(sent))
  if (notes.length > 0 && codec.layout === "document") {
    // What the format left out may have been all of a message: what is left is repaired again.
    const left = Either.map(codec.decode(value), (decoded) => finished(decoded.messages, form))
    if (Either.isRight(left)) {
      return left.right.length === 0
        ? undefined
        : record(codec.encode(Conversation.make(left.right)).values[0])
    }
  }
  return record(value)
}
