/**
 * What can go wrong on the command line, beside what the libraries report.
 *
 * @since 0.1.0
 */
import { FormatError } from "@effect-memory/formats/FormatError"
import * as Schema from "effect/Schema"

/**
 * A file that cannot be read.
 *
 * @since 0.1.0
 * @category errors
 */
export class FileError extends Schema.TaggedError<FileError>("@effect-memory/cli/CliError/FileError")("FileError", {
  /** The file, as it was given. */
  file: Schema.String,
  /** What is wrong and what to do. */
  reason: Schema.String,
  cause: Schema.optional(Schema.Defect)
}) {
  /**
   * @since 0.1.0
   */
  override get message(): string {
    return `${this.file}: ${this.reason}`
  }
}

/**
 * A conversation that the file does not hold.
 *
 * @since 0.1.0
 * @category errors
 */
export class NoSuchConversation
  extends Schema.TaggedError<NoSuchConversation>("@effect-memory/cli/CliError/NoSuchConversation")(
    "NoSuchConversation",
    {
      file: Schema.String,
      /** The number that was asked for. */
      given: Schema.Number,
      /** How many there are. */
      conversations: Schema.Number
    }
  )
{
  /**
   * @since 0.1.0
   */
  override get message(): string {
    return `${this.file}: there is no conversation ${this.given}: give a number from 1 to ${this.conversations}`
  }
}

/**
 * Records that cannot be read. The others were.
 *
 * @since 0.1.0
 * @category errors
 */
export class UnreadableRecords
  extends Schema.TaggedError<UnreadableRecords>("@effect-memory/cli/CliError/UnreadableRecords")("UnreadableRecords", {
    first: FormatError,
    /** How many there are beside the first one. */
    more: Schema.Number
  })
{
  /**
   * @since 0.1.0
   */
  override get message(): string {
    return `${this.first.message} (${this.more} more like it)`
  }
}

/**
 * Standard output did not take what was written.
 *
 * @since 0.1.0
 * @category errors
 */
export class OutputError extends Schema.TaggedError<OutputError>("@effect-memory/cli/CliError/OutputError")(
  "OutputError",
  {
    /** The code of the system, such as `EPIPE`. */
    code: Schema.String,
    cause: Schema.optional(Schema.Defect)
  }
) {
  /**
   * Whether the reader went away, as `head` does, which is no fault.
   *
   * @since 0.1.0
   */
  get isClosedPipe(): boolean {
    return this.code === "EPIPE" || this.code === "ERR_STREAM_DESTROYED"
  }

  /**
   * @since 0.1.0
   */
  override get message(): string {
    return `the output cannot be written (${this.code}): make room, or write elsewhere`
  }
}
