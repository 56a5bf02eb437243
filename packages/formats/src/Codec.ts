/**
 * What a format is made of: how its records are recognised, read and written. A new format is one module that exports
 * a codec, and one line in the registry of `Format`.
 *
 * @since 0.1.0
 */
import type * as Either from "effect/Either"
import type * as Message from "effect-memory/Message"
import type * as Transcript from "effect-memory/Transcript"
import type * as Conversation from "./Conversation.js"

/**
 * What is wrong with a record.
 *
 * @since 0.1.0
 * @category models
 */
export interface Issue {
  /** Path of the field at fault; empty for the record as a whole. */
  readonly field: string
  /** What is wrong, without content. */
  readonly reason: string
  /** What to do. */
  readonly hint: string
}

/**
 * What a record says.
 *
 * @since 0.1.0
 * @category models
 */
export interface Decoded {
  readonly messages: ReadonlyArray<Message.Message>
  /** Default: a record that is nothing but its messages. */
  readonly envelope?: Conversation.Envelope | undefined
  /** Default: none. */
  readonly usage?: ReadonlyArray<Conversation.Usage> | undefined
  /** Default: none. */
  readonly notes?: ReadonlyArray<Conversation.Note> | undefined
}

/**
 * JSON values, one a line, that stand for a conversation.
 *
 * @since 0.1.0
 * @category models
 */
export interface Encoded {
  readonly values: ReadonlyArray<unknown>
  /** What the format could not carry. */
  readonly notes: ReadonlyArray<Conversation.Note>
}

/**
 * How much a value looks like a format: 0 not at all, 1 it could be, 2 it is typical, 3 nothing else looks like it.
 *
 * @since 0.1.0
 * @category models
 */
export type Likeness = 0 | 1 | 2 | 3

interface Base {
  /** Name of the format, such as `openai-chat`. */
  readonly id: string
  /** Name for people. */
  readonly title: string
  /** Whose rules messages in this format must follow to be sent. Default `pairing`: what all providers ask. */
  readonly rules?: Transcript.Rules | undefined
  /** Looks at shape, not at every field. */
  readonly match: (value: unknown) => Likeness
  /** Writes a conversation, of this or any other format. */
  readonly encode: (conversation: Conversation.Conversation) => Encoded
}

/**
 * A format whose every JSON value is a conversation: a request body, a response, a document. Lists of them, lines of
 * them and recorded exchanges around them need no care of the format.
 *
 * @since 0.1.0
 * @category models
 */
export interface DocumentCodec extends Base {
  readonly layout: "document"
  readonly decode: (value: unknown) => Either.Either<Decoded, Issue>
  /** Normalises a provider's usage figures. */
  readonly usage?: ((value: unknown) => Omit<Conversation.Usage, "messages"> | undefined) | undefined
}

/**
 * Collects the records of one file.
 *
 * @since 0.1.0
 * @category models
 */
export interface Session {
  /** Takes the next record; answers what is wrong with it, if anything. */
  readonly push: (value: unknown, line: number) => Issue | undefined
  /** The conversations that no further record changes, each given out once. Default: none before the end. */
  readonly take?: (() => ReadonlyArray<Decoded>) | undefined
  /** The conversations that are left at the end of the file. */
  readonly end: () => ReadonlyArray<Decoded>
}

/**
 * A format whose records are parts of conversations.
 *
 * @since 0.1.0
 * @category models
 */
export interface SessionCodec extends Base {
  readonly layout: "session"
  /** Whether a file can hold several conversations. */
  readonly many: boolean
  readonly open: () => Session
}

/**
 * @since 0.1.0
 * @category models
 */
export type Codec = DocumentCodec | SessionCodec
