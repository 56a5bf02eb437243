/**
 * Reads and writes transcripts in any known format.
 *
 * A file may hold one conversation, one request body, a lone response, or many of them: lines, lists, recorded
 * exchanges of request, usage and response. Each comes out as a conversation of its own. Files that hold a record a
 * line are read record by record, everything else is read whole.
 *
 * @example
 * ```ts
 * import { deepStrictEqual } from "node:assert"
 * import { Conversation, Format } from "@effect-memory/formats"
 * import { Chunk, Effect, Stream } from "effect"
 *
 * const text = JSON.stringify({ model: "gpt-4o", messages: [{ role: "user", content: "hi" }] })
 *
 * const program = Effect.gen(function*() {
 *   const found = yield* Stream.runCollect(Format.read(Stream.make(text), { file: "chat.json" }))
 *   const [conversation] = Chunk.toReadonlyArray(found).filter(Conversation.isConversation)
 *   const written = yield* Format.encode(conversation)
 *   return { format: conversation.format, text: written.text }
 * })
 *
 * deepStrictEqual(Effect.runSync(program), { format: "openai-chat", text: `${text}\n` })
 * ```
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import { dual } from "effect/Function"
import * as Predicate from "effect/Predicate"
import * as Stream from "effect/Stream"
import * as AnthropicMessages from "./AnthropicMessages.js"
import * as ClaudeCode from "./ClaudeCode.js"
import type { Codec } from "./Codec.js"
import type { Conversation, Note } from "./Conversation.js"
import { FormatError, UnknownFormat } from "./FormatError.js"
import * as Gemini from "./Gemini.js"
import * as GeminiCli from "./GeminiCli.js"
import * as frames from "./internal/frames.js"
import * as json from "./internal/json.js"
import * as reader from "./internal/reader.js"
import * as sample from "./internal/sample.js"
import * as LangChain from "./LangChain.js"
import * as MiniSweAgent from "./MiniSweAgent.js"
import * as MtBench from "./MtBench.js"
import * as Native from "./Native.js"
import * as Oasst from "./Oasst.js"
import * as OpenAiChat from "./OpenAiChat.js"
import * as OpenAiResponses from "./OpenAiResponses.js"
import * as OpenHands from "./OpenHands.js"
import * as Pi from "./Pi.js"
import * as ShareGpt from "./ShareGpt.js"
import * as SweAgent from "./SweAgent.js"
import * as TauBench from "./TauBench.js"
import * as VercelModel from "./VercelModel.js"
import * as VercelUi from "./VercelUi.js"

// =============================================================================
// Registry
// =============================================================================

/**
 * The formats, by precedence: where a text could be of several, the first one is taken.
 *
 * @since 0.1.0
 * @category registry
 */
export const all: ReadonlyArray<Codec> = [
  OpenHands.codec,
  SweAgent.codec,
  MiniSweAgent.codec,
  TauBench.codec,
  OpenAiChat.codec,
  AnthropicMessages.codec,
  OpenAiResponses.codec,
  Gemini.codec,
  ClaudeCode.codec,
  GeminiCli.codec,
  Pi.codec,
  VercelUi.codec,
  VercelModel.codec,
  LangChain.codec,
  ShareGpt.codec,
  Oasst.codec,
  MtBench.codec,
  Native.codec
]

const known = all.map(({ id }) => id)

/**
 * The format of a name. Fails with `UnknownFormat`, which lists the names there are.
 *
 * @example
 * ```ts
 * import { ok } from "node:assert"
 * import { Format } from "@effect-memory/formats"
 * import { Effect } from "effect"
 *
 * const error = Effect.runSync(Effect.flip(Format.find("word")))
 *
 * ok(error.message.includes("openai-chat"))
 * ```
 *
 * @since 0.1.0
 * @category registry
 */
export const find = (id: string): Effect.Effect<Codec, UnknownFormat> => {
  const codec = all.find((codec) => codec.id === id)
  return codec === undefined ? Effect.fail(new UnknownFormat({ given: id, known })) : Effect.succeed(codec)
}

const resolve = (format: string | Codec): Effect.Effect<Codec, UnknownFormat> =>
  Predicate.isString(format) ? find(format) : Effect.succeed(format)

/**
 * The format of a text, or of the beginning of one: it is enough where it holds a whole message or two. Fails with
 * `UnknownFormat` where the text is of none.
 *
 * @example
 * ```ts
 * import { strictEqual } from "node:assert"
 * import { Format } from "@effect-memory/formats"
 * import { Effect } from "effect"
 *
 * const format = Effect.runSync(Format.detect(`{"messages":[{"role":"user","content":"a long te`))
 *
 * strictEqual(format.id, "openai-chat")
 * ```
 *
 * @since 0.1.0
 * @category registry
 */
export const detect = (text: string): Effect.Effect<Codec, UnknownFormat> =>
  Effect.suspend(() => {
    const codec = reader.detect(all, sample.values(text))
    return codec === undefined ? Effect.fail(new UnknownFormat({ known })) : Effect.succeed(codec)
  })

// =============================================================================
// Reading
// =============================================================================

/**
 * @since 0.1.0
 * @category models
 */
export interface ReadOptions {
  /** Name of the format, or a codec of one's own. Default: found by content. */
  readonly format?: string | Codec | undefined
  /** Name of the file, for errors. */
  readonly file?: string | undefined
  /** Whether the first bad record ends the stream as a failure. Default false: it is an element of the stream. */
  readonly strict?: boolean | undefined
}

const decodeText = <E, R>(input: Stream.Stream<string | Uint8Array, E, R>): Stream.Stream<string, E, R> =>
  Stream.suspend(() => {
    const decoder = new TextDecoder()
    return Stream.concat(
      Stream.map(
        input,
        (chunk) => Predicate.isString(chunk) ? decoder.decode() + chunk : decoder.decode(chunk, { stream: true })
      ),
      Stream.sync(() => decoder.decode())
    )
  })

const outputs = <E, R>(
  input: Stream.Stream<string | Uint8Array, E, R>,
  codec: Codec | undefined,
  file: string | undefined
): Stream.Stream<reader.Output, E, R> =>
  Stream.suspend(() => {
    const framer = frames.make()
    const records = reader.make({ codecs: all, codec, file })
    return Stream.concat(
      Stream.mapConcat(decodeText(input), (text) => framer.push(text).flatMap(records.push)),
      Stream.mapConcat(
        Stream.make(undefined),
        () => [...framer.end().flatMap(records.push), ...records.end()]
      )
    )
  })

/**
 * The conversations of a text, in order, with an error in the place of each record that cannot be read.
 *
 * Bytes that are no UTF-8 are read as U+FFFD. Fails with `UnknownFormat` where the text is of no format, and, where `strict` is set, with the `FormatError` of the
 * first bad record.
 *
 * @example
 * ```ts
 * import { deepStrictEqual } from "node:assert"
 * import { Format } from "@effect-memory/formats"
 * import { Effect, Stream } from "effect"
 *
 * const lines = Stream.make(`{"messages":[{"role":"user","content":"hi"}]}\n`, `{"messages":[{"role":"us\n`)
 *
 * const found = Effect.runSync(Stream.runCollect(Format.read(lines, { file: "log.jsonl" })))
 *
 * deepStrictEqual(Array.from(found, (one) => one._tag), ["Conversation", "FormatError"])
 * ```
 *
 * @since 0.1.0
 * @category reading
 */
export const read: {
  (options?: ReadOptions): <E, R>(
    input: Stream.Stream<string | Uint8Array, E, R>
  ) => Stream.Stream<Conversation | FormatError, E | FormatError | UnknownFormat, R>
  <E, R>(
    input: Stream.Stream<string | Uint8Array, E, R>,
    options?: ReadOptions
  ): Stream.Stream<Conversation | FormatError, E | FormatError | UnknownFormat, R>
} = dual(
  (args) => Predicate.hasProperty(args[0], Stream.StreamTypeId),
  <E, R>(
    input: Stream.Stream<string | Uint8Array, E, R>,
    { file, format, strict = false }: ReadOptions = {}
  ): Stream.Stream<Conversation | FormatError, E | FormatError | UnknownFormat, R> => {
    const opened = (codec: Codec | undefined) =>
      Stream.mapEffect(
        outputs(input, codec, file),
        (output) =>
          output._tag === "UnknownFormat" || (strict && output._tag === "FormatError")
            ? Effect.fail(output)
            : Effect.succeed(output)
      )
    return format === undefined ? opened(undefined) : Stream.unwrap(Effect.map(resolve(format), opened))
  }
)

// =============================================================================
// Writing
// =============================================================================

/**
 * @since 0.1.0
 * @category models
 */
export interface WriteOptions {
  /** Name of the format, or a codec of one's own. Default: the one the conversation was read from. */
  readonly format?: string | Codec | undefined
}

/**
 * @since 0.1.0
 * @category models
 */
export interface Written {
  /** JSON, a record a line, with a line break at the end. */
  readonly text: string
  /** What the format could not carry. */
  readonly notes: ReadonlyArray<Note>
}

/**
 * A conversation as text. In a format whose record is a conversation it is one line, so that texts can be joined.
 *
 * Fails with `UnknownFormat`, and with `FormatError` where a message holds something that JSON cannot say.
 *
 * @since 0.1.0
 * @category writing
 */
export const encode: (
  conversation: Conversation,
  options?: WriteOptions
) => Effect.Effect<Written, FormatError | UnknownFormat> = Effect.fn("Format.encode")(
  function*(conversation: Conversation, options: WriteOptions = {}) {
    const codec = yield* resolve(options.format ?? conversation.format)
    const { notes, values } = codec.encode(conversation)
    const lines: Array<string> = []
    for (const value of values) {
      const line = json.stringify(value)
      if (Either.isLeft(line)) {
        return yield* new FormatError({
          format: codec.id,
          line: 0,
          field: `messages.${lines.length}`,
          reason: line.left,
          hint: "take such values out of the messages"
        })
      }
      lines.push(`${line.right}\n`)
    }
    return { text: lines.join(""), notes }
  }
)

/**
 * Conversations as text, one element each. Fails as {@link encode} does, and with `FormatError` where there is a second
 * conversation and the format holds one a file.
 *
 * @since 0.1.0
 * @category writing
 */
export const write: {
  (options?: WriteOptions): <E, R>(
    conversations: Stream.Stream<Conversation, E, R>
  ) => Stream.Stream<Written, E | FormatError | UnknownFormat, R>
  <E, R>(
    conversations: Stream.Stream<Conversation, E, R>,
    options?: WriteOptions
  ): Stream.Stream<Written, E | FormatError | UnknownFormat, R>
} = dual(
  (args) => Predicate.hasProperty(args[0], Stream.StreamTypeId),
  <E, R>(
    conversations: Stream.Stream<Conversation, E, R>,
    options: WriteOptions = {}
  ): Stream.Stream<Written, E | FormatError | UnknownFormat, R> =>
    Stream.mapEffect(
      Stream.zipWithIndex(conversations),
      ([conversation, index]) =>
        Effect.flatMap(resolve(options.format ?? conversation.format), (codec) =>
          codec.layout === "session" && !codec.many && index > 0
            ? Effect.fail(
              new FormatError({
                format: codec.id,
                line: 0,
                field: "",
                reason: `a file of ${codec.id} holds one conversation, and this is the second`,
                hint: "write each into a file of its own, or take a format that holds many"
              })
            )
            : encode(conversation, { format: codec }))
    )
)
