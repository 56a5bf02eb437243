/**
 * One conversation as it stands in a file: its messages, and what the file says about them.
 *
 * @since 0.1.0
 */
import * as Predicate from "effect/Predicate"
import type * as Message from "effect-memory/Message"

/**
 * What a provider billed for one request, in tokens.
 *
 * @since 0.1.0
 * @category models
 */
export interface Usage {
  /** How many messages of the conversation, from the first, the prompt held; 0 for an answer without its prompt. */
  readonly messages: number
  /** The whole prompt, cached tokens included. */
  readonly inputTokens: number
  /** The reply; absent where only the prompt was counted. */
  readonly outputTokens?: number | undefined
}

/**
 * Something that is not in the messages, and how often it occurred.
 *
 * @since 0.1.0
 * @category models
 */
export interface Note {
  /** `skipped`: a record or field of the file that is no part of the conversation. `lost`: what a format cannot carry. */
  readonly kind: "skipped" | "lost"
  /** What it is, without content. */
  readonly what: string
  /** How often. */
  readonly count: number
}

/**
 * The record around the messages, kept so that it can be written back.
 *
 * @since 0.1.0
 * @category models
 */
export interface Envelope {
  /** Name of the field that held the messages; empty where the record was the list itself. */
  readonly at: string
  /** The other fields of the record, such as `model` and `tools`. */
  readonly fields: { readonly [key: string]: unknown }
}

/**
 * @since 0.1.0
 * @category models
 */
export interface Conversation {
  readonly _tag: "Conversation"
  /** Id of the format it was read from. */
  readonly format: string
  /** Place among the conversations of the file, from 0. */
  readonly index: number
  /** Physical line where its record begins, from 1. */
  readonly line: number
  readonly messages: ReadonlyArray<Message.Message>
  /** What a recorded exchange was answered with; the messages do not hold it. */
  readonly response: ReadonlyArray<Message.Message>
  /** Recorded usage, in the order of the requests. */
  readonly usage: ReadonlyArray<Usage>
  /** What was skipped, and what the messages could not carry. */
  readonly notes: ReadonlyArray<Note>
  readonly envelope: Envelope
}

/**
 * A conversation that was not read from a file.
 *
 * @example
 * ```ts
 * import { strictEqual } from "node:assert"
 * import { Conversation } from "@effect-memory/formats"
 * import { Message } from "effect-memory"
 *
 * strictEqual(Conversation.make([Message.user("hi")]).messages.length, 1)
 * ```
 *
 * @since 0.1.0
 * @category constructors
 */
export const make = (messages: ReadonlyArray<Message.Message>): Conversation => ({
  _tag: "Conversation",
  format: "native",
  index: 0,
  line: 0,
  messages,
  response: [],
  usage: [],
  notes: [],
  envelope: { at: "", fields: {} }
})

/**
 * Whether something that was read is a conversation, and not the error of a bad record.
 *
 * @since 0.1.0
 * @category guards
 */
export const isConversation = (value: unknown): value is Conversation => Predicate.isTagged(value, "Conversation")
