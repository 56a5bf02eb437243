/**
 * Where the tokens of a conversation are.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import type { TokenCountError } from "effect-memory/MemoryError"
import type * as Message from "effect-memory/Message"
import type * as TokenCounter from "effect-memory/TokenCounter"
import * as Transcript from "effect-memory/Transcript"

/**
 * What counts are told of.
 *
 * @since 0.1.0
 * @category models
 */
export type By = "message" | "round" | "role" | "part"

/**
 * The tokens of a message, a round, a role or a kind of part.
 *
 * @since 0.1.0
 * @category models
 */
export const Row = Schema.TaggedStruct("Count", {
  /** Place of the conversation in the file, from 1. */
  conversation: Schema.Number,
  by: Schema.Literal("message", "round", "role", "part"),
  /**
   * The number of a message or round, from 1, a role, or a kind of part. `preamble` is no round; `framing` is what
   * messages cost beside their parts, `overhead` what the conversation costs beside its messages.
   */
  key: Schema.String,
  /** The role of a message. */
  role: Schema.optional(Schema.String),
  /** How many messages or parts. */
  items: Schema.Number,
  tokens: Schema.Number
})

/**
 * @since 0.1.0
 * @category models
 */
export type Row = typeof Row.Type

/**
 * The tokens of a conversation.
 *
 * @since 0.1.0
 * @category models
 */
export const Total = Schema.TaggedStruct("Total", {
  /** Place of the conversation in the file, from 1. */
  conversation: Schema.Number,
  messages: Schema.Number,
  /** The preamble is none. */
  rounds: Schema.Number,
  /** Overhead included. The sum over the messages, as the rows tell it. */
  tokens: Schema.Number,
  /** Id of the counter of messages. */
  counter: Schema.String,
  /** Tokens of the conversation as a service counts the whole of it. */
  exact: Schema.optional(Schema.Number)
})

/**
 * @since 0.1.0
 * @category models
 */
export type Total = typeof Total.Type

/**
 * @since 0.1.0
 * @category models
 */
export interface Counted {
  readonly rows: ReadonlyArray<Row>
  readonly total: Total
}

type Messages = ReadonlyArray<Message.Message>

type Line = Pick<Row, "key" | "role" | "items" | "tokens">

const sum = (numbers: ReadonlyArray<number>): number => numbers.reduce((total, n) => total + n, 0)

/** One line for each key, in the order of appearance. */
const grouped = (lines: ReadonlyArray<Line>): ReadonlyArray<Line> => {
  const groups = new Map<string, Line>()
  for (const line of lines) {
    const before = groups.get(line.key) ?? { key: line.key, items: 0, tokens: 0 }
    groups.set(line.key, { ...before, items: before.items + line.items, tokens: before.tokens + line.tokens })
  }
  return Array.from(groups.values())
}

const byMessage = (messages: Messages, tokens: ReadonlyArray<number>): ReadonlyArray<Line> =>
  messages.map(({ role }, i) => ({ key: String(i + 1), role, items: 1, tokens: tokens[i] }))

const byRole = (messages: Messages, tokens: ReadonlyArray<number>): ReadonlyArray<Line> =>
  grouped(messages.map(({ role }, i) => ({ key: role, items: 1, tokens: tokens[i] })))

const byRound = (messages: Messages, tokens: ReadonlyArray<number>): ReadonlyArray<Line> => {
  const rounds = Transcript.rounds(messages)
  const first = rounds[0]?.preamble === true ? 0 : 1
  return rounds.map(({ end, preamble, start }, i) => ({
    key: preamble ? "preamble" : String(i + first),
    items: end - start,
    tokens: sum(tokens.slice(start, end))
  }))
}

/** A message with one of its parts, or with none. */
const only = (message: Message.Message, part: ReadonlyArray<Message.Part>): Message.Message =>
  ({ ...message, content: message.role === "system" ? "" : part }) as Message.Message

/** What a part adds to its message; the rest is framing. */
const byPart = Effect.fnUntraced(function*(
  messages: Messages,
  tokens: ReadonlyArray<number>,
  counter: TokenCounter.Service
): Effect.fn.Return<ReadonlyArray<Line>, TokenCountError> {
  const lines = yield* Effect.forEach(messages, (message, i) =>
    Effect.gen(function*() {
      const empty = yield* counter.countMessage(only(message, []))
      if (message.role === "system") return [{ key: "text", items: 1, tokens: tokens[i] - empty }, framing(empty)]
      const parts = yield* Effect.forEach(message.content, (part) =>
        Effect.map(counter.countMessage(only(message, [part])), (tokens) => ({
          key: part.type,
          items: 1,
          tokens: tokens - empty
        })))
      return [
        ...parts,
        framing(
          tokens[i] - sum(parts.map((part) =>
            part.tokens
          ))
        )
      ]
    }))
  const all = grouped(lines.flat())
  return [
    ...all.filter(({ key }) => key !== "framing"),
    ...all.filter(({ key, tokens }) => key === "framing" && tokens > 0)
  ]
})

const framing = (tokens: number): Line => ({ key: "framing", items: 1, tokens })

/**
 * Counts a conversation, as a whole and by what is asked for. Fails as the counter does.
 *
 * @since 0.1.0
 * @category counting
 */
export const count = Effect.fnUntraced(function*(
  messages: ReadonlyArray<Message.Message>,
  options: {
    /** Place of the conversation in the file, from 1. */
    readonly conversation: number
    /** Default: no rows. */
    readonly by: By | undefined
    readonly counter: TokenCounter.Service
    /** Runs after each message. */
    readonly advance: Effect.Effect<void>
  }
): Effect.fn.Return<Counted, TokenCountError> {
  const { advance, by, conversation, counter } = options
  const tokens = yield* Effect.forEach(messages, (message) => Effect.zipLeft(counter.countMessage(message), advance))
  const linesBy: { readonly [K in By]: Effect.Effect<ReadonlyArray<Line>, TokenCountError> } = {
    message: Effect.sync(() => byMessage(messages, tokens)),
    round: Effect.sync(() => byRound(messages, tokens)),
    role: Effect.sync(() => byRole(messages, tokens)),
    part: byPart(messages, tokens, counter)
  }
  const overhead = { key: "overhead", items: 1, tokens: counter.overhead }
  const lines = by === undefined ? [] : [...yield* linesBy[by], ...(counter.overhead > 0 ? [overhead] : [])]
  return {
    rows: lines.map((line) => Row.make({ conversation, by: by!, ...line })),
    total: Total.make({
      conversation,
      messages: messages.length,
      rounds: Transcript.rounds(messages).filter(({ preamble }) => !preamble).length,
      tokens: counter.overhead + sum(tokens),
      counter: counter.id
    })
  }
})
