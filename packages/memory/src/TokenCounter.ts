/**
 * Counting tokens. A counter may be local or remote; content can never make it fail or hang.
 *
 * @example
 * ```ts
 * import { strictEqual } from "node:assert"
 * import { Effect } from "effect"
 * import { Message, TokenCounter } from "effect-memory"
 *
 * const tokens = Effect.gen(function*() {
 *   const counter = yield* TokenCounter.TokenCounter
 *   return yield* counter.countMessage(Message.user("hello"))
 * }).pipe(Effect.provide(TokenCounter.layerCharacters))
 *
 * strictEqual(Effect.runSync(tokens), 2)
 * ```
 *
 * @since 0.1.0
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import { dual } from "effect/Function"
import * as Layer from "effect/Layer"
import * as Ref from "effect/Ref"
import type * as Schedule from "effect/Schedule"
import { countCharacters } from "./internal/characters.js"
import * as json from "./internal/json.js"
import { TokenCountError } from "./MemoryError.js"
import type * as Message from "./Message.js"

/**
 * @since 0.1.0
 * @category models
 */
export interface Service {
  /** Names the counting convention; counts are kept under it. */
  readonly id: string
  /** Tokens that a conversation costs beside its messages, such as the priming of the reply. */
  readonly overhead: number
  /** Tokens of a text, a whole number ≥ 0. */
  readonly count: (text: string) => Effect.Effect<number, TokenCountError>
  /** Tokens of a message with all its parts and its framing, a whole number ≥ 0. */
  readonly countMessage: (message: Message.Message) => Effect.Effect<number, TokenCountError>
}

/**
 * @since 0.1.0
 * @category tags
 */
export class TokenCounter extends Context.Tag("effect-memory/TokenCounter")<TokenCounter, Service>() {}

/**
 * @since 0.1.0
 * @category models
 */
export interface Options {
  /** Names the counting convention, such as `o200k_base`. Change it when counts change. */
  readonly id: string
  /** Tokens of a text. */
  readonly count: (text: string) => Effect.Effect<number, TokenCountError>
  /** Tokens that a conversation costs beside its messages. Default 0. */
  readonly overhead?: number | undefined
  /** Tokens that a message costs beside its parts. Default 0. */
  readonly messageOverhead?: number | undefined
  /** Tokens of an image or another file. Default 1,000 each. */
  readonly countFile?: ((file: Message.FilePart) => number) | undefined
}

const checked = (id: string, tokens: number): Effect.Effect<number, TokenCountError> =>
  Number.isFinite(tokens) && tokens >= 0
    ? Effect.succeed(Math.ceil(tokens))
    : Effect.fail(
      new TokenCountError({ counter: id, reason: `it answered ${tokens}: a count is a finite number of at least 0` })
    )

/**
 * The texts of a message that are counted: every part, a call's name and arguments, a result; no ids, no names of
 * results.
 */
const textsOf = (message: Message.Message): ReadonlyArray<string> =>
  message.role === "system"
    ? [message.content]
    : (message.content as ReadonlyArray<Message.Part>).flatMap((part) => {
      switch (part.type) {
        case "text":
        case "reasoning":
          return [part.text]
        case "tool-call":
          return [part.name, json.stringify(part.params)]
        case "tool-result":
          return [json.stringify(part.result)]
        case "file":
          return []
      }
    })

/**
 * A counter from a way to count text: message counting is derived. Fails with `TokenCountError` when `count` does, or
 * when it answers with something that is not a finite number ≥ 0.
 *
 * @example
 * ```ts
 * import { strictEqual } from "node:assert"
 * import { Effect } from "effect"
 * import { Message, TokenCounter } from "effect-memory"
 *
 * const words = TokenCounter.make({
 *   id: "words",
 *   count: (text) => Effect.succeed(text.split(" ").length),
 *   messageOverhead: 3
 * })
 *
 * strictEqual(Effect.runSync(words.countMessage(Message.user("one two"))), 5)
 * ```
 *
 * @since 0.1.0
 * @category constructors
 */
export const make = (options: Options): Service => {
  const { countFile = () => 1000, id, messageOverhead = 0, overhead = 0 } = options
  const count = (text: string) => Effect.flatMap(options.count(text), (tokens) => checked(id, tokens))
  const countFiles = (message: Message.Message): number =>
    message.role === "user" || message.role === "assistant"
      ? (message.content as ReadonlyArray<Message.Part>)
        .reduce((sum, part) => part.type === "file" ? sum + countFile(part) : sum, 0)
      : 0
  return {
    id,
    overhead,
    count,
    countMessage: (message) =>
      Effect.suspend(() => {
        const texts = textsOf(message)
        const fixed = messageOverhead + countFiles(message)
        return texts.length === 1
          ? Effect.flatMap(count(texts[0]), (tokens) => checked(id, tokens + fixed))
          : Effect.flatMap(
            Effect.reduce(texts, fixed, (sum, text) => Effect.map(count(text), (tokens) => sum + tokens)),
            (tokens) => checked(id, tokens)
          )
      })
  }
}

/**
 * The heuristic counter: a CJK ideograph is one token, four other code points are one.
 *
 * @since 0.1.0
 * @category constructors
 */
export const characters: Service = make({
  id: "characters",
  count: (text) => Effect.sync(() => countCharacters(text))
})

/**
 * Retries a counter by a schedule, as a remote one needs it.
 *
 * @since 0.1.0
 * @category combinators
 */
export const retry: {
  (policy: Schedule.Schedule<unknown, TokenCountError>): (self: Service) => Service
  (self: Service, policy: Schedule.Schedule<unknown, TokenCountError>): Service
} = dual(2, (self: Service, policy: Schedule.Schedule<unknown, TokenCountError>): Service => ({
  ...self,
  count: (text) => Effect.retry(self.count(text), policy),
  countMessage: (message) => Effect.retry(self.countMessage(message), policy)
}))

/**
 * Asks another counter where the first one fails. The `id` of the first one stays: a fallback is an estimate of it.
 *
 * @example
 * ```ts
 * import { strictEqual } from "node:assert"
 * import { Effect } from "effect"
 * import { MemoryError, TokenCounter } from "effect-memory"
 *
 * const down = TokenCounter.make({
 *   id: "remote",
 *   count: () => Effect.fail(new MemoryError.TokenCountError({ counter: "remote", reason: "no answer" }))
 * })
 * const counter = TokenCounter.orElse(down, TokenCounter.characters)
 *
 * strictEqual(Effect.runSync(counter.count("hello")), 2)
 * ```
 *
 * @since 0.1.0
 * @category combinators
 */
export const orElse: {
  (fallback: Service): (self: Service) => Service
  (self: Service, fallback: Service): Service
} = dual(2, (self: Service, fallback: Service): Service => ({
  ...self,
  overhead: Math.max(self.overhead, fallback.overhead),
  count: (text) => Effect.catchAll(self.count(text), () => fallback.count(text)),
  countMessage: (message) => Effect.catchAll(self.countMessage(message), () => fallback.countMessage(message))
}))

/**
 * The default counter, {@link characters}.
 *
 * @since 0.1.0
 * @category layers
 */
export const layerCharacters: Layer.Layer<TokenCounter> = Layer.succeed(TokenCounter, characters)

/**
 * The texts that a test counter was asked about.
 *
 * @since 0.1.0
 * @category testing
 */
export class TestCalls extends Context.Tag("effect-memory/TokenCounter/TestCalls")<
  TestCalls,
  {
    /** Every text counted so far, in order. */
    readonly texts: Effect.Effect<ReadonlyArray<string>>
  }
>() {}

/**
 * A counter for tests: `count` is a plain function, one token a text by default, and every call is recorded.
 *
 * @example
 * ```ts
 * import { deepStrictEqual } from "node:assert"
 * import { Effect } from "effect"
 * import { TokenCounter } from "effect-memory"
 *
 * const texts = Effect.gen(function*() {
 *   const counter = yield* TokenCounter.TokenCounter
 *   const calls = yield* TokenCounter.TestCalls
 *   yield* counter.count("hello")
 *   return yield* calls.texts
 * }).pipe(Effect.provide(TokenCounter.layerTest()))
 *
 * deepStrictEqual(Effect.runSync(texts), ["hello"])
 * ```
 *
 * @since 0.1.0
 * @category testing
 */
export const layerTest = (count: (text: string) => number = () => 1): Layer.Layer<TokenCounter | TestCalls> =>
  Layer.effectContext(
    Effect.map(Ref.make<ReadonlyArray<string>>([]), (texts) =>
      Context.make(TestCalls, { texts: Ref.get(texts) }).pipe(
        Context.add(
          TokenCounter,
          make({
            id: "test",
            count: (text) => Effect.as(Ref.update(texts, (seen) => [...seen, text]), count(text))
          })
        )
      ))
  )
