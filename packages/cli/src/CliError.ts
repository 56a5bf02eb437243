/**
 * What can go wrong on the command line, beside what the libraries report.
 *
 * @since 0.1.0
 */
import { FormatError } from "@effect-memory/formats/FormatError"
import * as Schema from "effect/Schema"

/**
 * A file that cannot be read or written.
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

/** A sentence for each, and how many there are beside them. */
const listed = (first: ReadonlyArray<Error>, more: number): string => {
  const sentences = first.map(({ message }) => message).join("\n")
  return more === 0 ? sentences : `${sentences} (${more} more like it)`
}

/**
 * Records that cannot be read. The others were.
 *
 * @since 0.1.0
 * @category errors
 */
export class UnreadableRecords
  extends Schema.TaggedError<UnreadableRecords>("@effect-memory/cli/CliError/UnreadableRecords")("UnreadableRecords", {
    /** What is wrong with the first ones. */
    first: Schema.Array(FormatError),
    /** How many there are beside those. */
    more: Schema.Number
  })
{
  /**
   * A sentence for each record.
   *
   * @since 0.1.0
   */
  override get message(): string {
    return listed(this.first, this.more)
  }
}

/**
 * Several things that are wrong, each of them told.
 *
 * @since 0.1.0
 * @category errors
 */
export class Several extends Schema.TaggedError<Several>("@effect-memory/cli/CliError/Several")("Several", {
  /** A sentence for each. */
  sentences: Schema.Array(Schema.String)
}) {
  /**
   * @since 0.1.0
   */
  override get message(): string {
    return this.sentences.join("\n")
  }
}

/**
 * A conversation that cannot be brought within its budget. What was written is over it.
 *
 * @since 0.1.0
 * @category errors
 */
export class OverBudget extends Schema.TaggedError<OverBudget>("@effect-memory/cli/CliError/OverBudget")("OverBudget", {
  file: Schema.String,
  /** Place of the conversation in the file, from 1. */
  conversation: Schema.Number,
  strategy: Schema.String,
  /** Tokens that are left. */
  tokens: Schema.Number,
  maxTokens: Schema.Number,
  /** Who counted them, where that is a service. */
  service: Schema.optional(Schema.String)
}) {
  /**
   * @since 0.1.0
   */
  override get message(): string {
    const remedy = this.strategy === "cascade" ? "" : ", or clear and shorten with --strategy cascade"
    const what = this.service === undefined
      ? `what must stay takes ${this.tokens} tokens`
      : `what is left takes ${this.tokens} tokens as ${this.service} counts it`
    return `${this.file}, conversation ${this.conversation}: ${what}, over the ` +
      `budget of ${this.maxTokens}: raise --max-tokens${remedy}`
  }
}

/**
 * Conversations that cannot be brought within their budget.
 *
 * @since 0.1.0
 * @category errors
 */
export class SeveralOverBudget
  extends Schema.TaggedError<SeveralOverBudget>("@effect-memory/cli/CliError/SeveralOverBudget")("SeveralOverBudget", {
    first: Schema.Array(OverBudget),
    /** How many there are beside those. */
    more: Schema.Number
  })
{
  /**
   * A sentence for each conversation.
   *
   * @since 0.1.0
   */
  override get message(): string {
    return listed(this.first, this.more)
  }
}

/**
 * Conversations that cannot be sent as they are.
 *
 * @since 0.1.0
 * @category errors
 */
export class FindingsFound
  extends Schema.TaggedError<FindingsFound>("@effect-memory/cli/CliError/FindingsFound")("FindingsFound", {
    file: Schema.String,
    findings: Schema.Number
  })
{
  /**
   * @since 0.1.0
   */
  override get message(): string {
    const findings = `${this.findings} ${this.findings === 1 ? "finding" : "findings"}`
    return `${this.file}: ${findings}, so that it cannot be sent as it is: repair it with --fix --output FILE`
  }
}

/**
 * A second conversation for a format whose files hold one.
 *
 * @since 0.1.0
 * @category errors
 */
export class OneConversation
  extends Schema.TaggedError<OneConversation>("@effect-memory/cli/CliError/OneConversation")("OneConversation", {
    file: Schema.String,
    format: Schema.String
  })
{
  /**
   * @since 0.1.0
   */
  override get message(): string {
    return `${this.file} holds several conversations, and a file of ${this.format} holds one: ` +
      `choose one with --conversation, or another format with --to`
  }
}

/**
 * Options that do not go together.
 *
 * @since 0.1.0
 * @category errors
 */
export class InvalidOptions
  extends Schema.TaggedError<InvalidOptions>("@effect-memory/cli/CliError/InvalidOptions")("InvalidOptions", {
    reason: Schema.String
  })
{
  /**
   * @since 0.1.0
   */
  override get message(): string {
    return this.reason
  }
}

/**
 * An option that takes one of a few names, and was given another.
 *
 * @since 0.1.0
 * @category errors
 */
export class UnknownChoice
  extends Schema.TaggedError<UnknownChoice>("@effect-memory/cli/CliError/UnknownChoice")("UnknownChoice", {
    /** The option, as it was given. */
    option: Schema.String,
    given: Schema.String,
    /** The names there are. */
    known: Schema.Array(Schema.String)
  })
{
  /**
   * @since 0.1.0
   */
  override get message(): string {
    return `${this.option} is ${JSON.stringify(this.given)}: give one of ${this.known.join(", ")}`
  }
}

/**
 * A counter that there is not.
 *
 * @since 0.1.0
 * @category errors
 */
export class UnknownCounter
  extends Schema.TaggedError<UnknownCounter>("@effect-memory/cli/CliError/UnknownCounter")("UnknownCounter", {
    given: Schema.String,
    /** The models that this kind of counter knows; empty where the kind is unknown. */
    known: Schema.Array(Schema.String)
  })
{
  /**
   * @since 0.1.0
   */
  override get message(): string {
    const remedy = this.known.length === 0
      ? "give characters, tiktoken:MODEL or estimate:MODEL, or a service: anthropic:MODEL, openai:MODEL, " +
        "gemini:MODEL, vllm:MODEL, llamacpp or tgi"
      : `give one of ${this.known.join(", ")} for the model`
    return `--counter is ${JSON.stringify(this.given)}: ${remedy}`
  }
}

/**
 * A summarizer that there is not.
 *
 * @since 0.1.0
 * @category errors
 */
export class UnknownSummarizer
  extends Schema.TaggedError<UnknownSummarizer>("@effect-memory/cli/CliError/UnknownSummarizer")("UnknownSummarizer", {
    given: Schema.String
  })
{
  /**
   * @since 0.1.0
   */
  override get message(): string {
    return `--summarizer is ${
      JSON.stringify(this.given)
    }: give extractive, or a service: anthropic:MODEL, openai:MODEL ` +
      "or gemini:MODEL"
  }
}

/**
 * Conversations that the service of the counter did not count.
 *
 * @since 0.1.0
 * @category errors
 */
export class NotCounted extends Schema.TaggedError<NotCounted>("@effect-memory/cli/CliError/NotCounted")("NotCounted", {
  file: Schema.String,
  /** Place of the first one in the file, from 1. */
  conversation: Schema.Number,
  /** Why, and what to do. */
  reason: Schema.String,
  /** How many there are beside that. */
  more: Schema.Number
}) {
  /**
   * @since 0.1.0
   */
  override get message(): string {
    const more = this.more === 0 ? "" : ` (${this.more} more like it)`
    return `${this.file}, conversation ${this.conversation}: ${this.reason}${more}`
  }
}

/**
 * A part of the program that is not there.
 *
 * @since 0.1.0
 * @category errors
 */
export class BrokenInstallation
  extends Schema.TaggedError<BrokenInstallation>("@effect-memory/cli/CliError/BrokenInstallation")(
    "BrokenInstallation",
    {
      /** What could not be loaded. */
      part: Schema.String,
      cause: Schema.optional(Schema.Defect)
    }
  )
{
  /**
   * @since 0.1.0
   */
  override get message(): string {
    return `${this.part} cannot be loaded: install effect-memory again`
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
