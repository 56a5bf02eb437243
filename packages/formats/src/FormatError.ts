/**
 * What can go wrong when transcripts are read or written. No message carries the content of a conversation.
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"

/**
 * A record that cannot be read, or a conversation that cannot be written.
 *
 * @since 0.1.0
 * @category errors
 */
export class FormatError extends Schema.TaggedError<FormatError>("@effect-memory/formats/FormatError")("FormatError", {
  /** The file, where the caller named one. */
  file: Schema.optional(Schema.String),
  /** Id of the format, where it is known. */
  format: Schema.optional(Schema.String),
  /** The physical line, from 1; 0 where there is none. */
  line: Schema.Number,
  /** Path of the field at fault, such as `messages.3.content`; empty for the record as a whole. */
  field: Schema.String,
  /** What is wrong, without content. */
  reason: Schema.String,
  /** What to do. */
  hint: Schema.String
}) {
  /**
   * @since 0.1.0
   */
  override get message(): string {
    const line = this.line > 0 ? `line ${this.line}` : ""
    const place = [[this.file, line].filter(Boolean).join(", "), this.field].filter(Boolean).join(": ")
    return `${place === "" ? "" : `${place} `}${this.reason}: ${this.hint}`
  }
}

/**
 * A format that is not in the registry, or a text that no format recognises.
 *
 * @since 0.1.0
 * @category errors
 */
export class UnknownFormat
  extends Schema.TaggedError<UnknownFormat>("@effect-memory/formats/FormatError/UnknownFormat")("UnknownFormat", {
    /** The file, where the caller named one. */
    file: Schema.optional(Schema.String),
    /** The name that was asked for; absent where the format was to be found by content. */
    given: Schema.optional(Schema.String),
    /** Ids of the formats there are. */
    known: Schema.Array(Schema.String)
  })
{
  /**
   * @since 0.1.0
   */
  override get message(): string {
    const place = this.file === undefined ? "" : `${this.file}: `
    const what = this.given === undefined
      ? "the content is of no known format: name one"
      : `there is no format ${JSON.stringify(this.given.slice(0, 40))}: take one`
    return `${place}${what} of ${this.known.join(", ")}`
  }
}
