/**
 * What is told about a conversation that was written.
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"

/**
 * Something that is in one file and not in the other, and how often.
 *
 * @since 0.1.0
 * @category models
 */
export const Note = Schema.Struct({
  /** `skipped`: it was no part of the conversation. `lost`: the format cannot carry it. */
  kind: Schema.Literal("skipped", "lost"),
  /** What it is, without content. */
  what: Schema.String,
  count: Schema.Number
})

/**
 * @since 0.1.0
 * @category models
 */
export type Note = typeof Note.Type

/**
 * Where a conversation comes from and what it was written as.
 *
 * @since 0.1.0
 * @category models
 */
export const Written = Schema.Struct({
  /** Place of the conversation in the file, from 1. */
  conversation: Schema.Number,
  /** The format that it was read from. */
  from: Schema.String,
  /** The format that it was written in. */
  to: Schema.String,
  notes: Schema.Array(Note)
})

/**
 * @since 0.1.0
 * @category models
 */
export type Written = typeof Written.Type

/**
 * A conversation that was written in another format.
 *
 * @since 0.1.0
 * @category models
 */
export const Converted = Schema.TaggedStruct("Converted", {
  ...Written.fields,
  messages: Schema.Number
})

/**
 * @since 0.1.0
 * @category models
 */
export type Converted = typeof Converted.Type
