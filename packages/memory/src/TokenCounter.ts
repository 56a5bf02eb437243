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
import * as Exit from "effect/Exit"
import { dual } from "effect/Function"
import * as Layer from "effect/Layer"
import * as Ref from "effect/Ref"
import type * as Schedule from "effect/Schedule"
import * as calibrating from "./internal/calibration.js"
import { countCharacters } from "./internal/characters.js"
import { chain, guarded, isCount, notACount } from "./internal/counting.js"
import * as json from "./internal/json.js"
import type { TokenCountError } from "./MemoryError.js"
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
  /**
   * Tokens of a whole conversation that can be sent, exactly, as a service counts it. A memory asks at most once for
   * one context, and only where the sum over the messages could lie on either side of the budget; where it fails, the
   * sum is taken to be too low by `margin`, until it may be asked again by the memory's `backoff`.
   */
  readonly countConversation?:
    | ((messages: ReadonlyArray<Message.Message>) => Effect.Effect<number, TokenCountError>)
    | undefined
  /**
   * How far the sum over the messages and `countConversation` may be apart: with 0.25, the default, neither is more than
   * a quarter above the other.
   */
  readonly margin?: number | undefined
  /** What has been learned from bills, where the counter is {@link calibrated}. */
  readonly calibration?: Calibration | undefined
}

/**
 * Counts whole conversations: what a remote service can.
 *
 * @since 0.1.0
 * @category models
 */
export interface ConversationCounter {
  /** Tokens of a conversation that can be sent. */
  readonly countConversation: (
    messages: ReadonlyArray<Message.Message>
  ) => Effect.Effect<number, TokenCountError>
}

/**
 * @since 0.1.0
 * @category models
 */
export interface VerifiedOptions {
  /** Counts messages. */
  readonly local: Service
  /**
   * How far the local sum and the exact count may be apart: with 0.25, the default, neither is more than a quarter above
   * the other.
   */
  readonly margin?: number | undefined
}

/**
 * A context as it was counted, and the prompt as the provider billed it. In tokens.
 *
 * @since 0.1.0
 * @category models
 */
export interface Observation {
  readonly counted: number
  readonly billed: number
}

/**
 * How bills relate to counts. Counts stay what they are; it is the budget that is translated.
 *
 * @since 0.1.0
 * @category models
 */
export interface Calibration {
  /** Learns from two successive bills of one conversation. */
  readonly observe: (before: Observation | undefined, now: Observation) => Effect.Effect<void>
  /** The most tokens that may be counted so that the next bill stays within `budget`, given the last one. */
  readonly limit: (last: Observation | undefined, budget: number) => Effect.Effect<number>
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
  /**
   * Tokens of a text. Where it answers with an `Exit`, such as `Effect.succeed`, the memory takes that at once; then it is
   * the call that counts, not the run.
   */
  readonly count: (text: string) => Effect.Effect<number, TokenCountError>
  /** Tokens that a conversation costs beside its messages. Default 0. */
  readonly overhead?: number | undefined
  /** Tokens that a message costs beside its parts, or a function of the message. Default 0. */
  readonly messageOverhead?: number | ((message: Message.Message) => number) | undefined
  /** Tokens of an image or another file. Default 1,000 each. */
  readonly countFile?: ((file: Message.FilePart) => number) | undefined
}

/** Adds a count to whole tokens. */
const plus = (id: string, before: number, tokens: number): Exit.Exit<number, TokenCountError> =>
  isCount(tokens) ? Exit.succeed(before + Math.ceil(tokens)) : notACount(id, tokens)

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
  const overheadOf = typeof messageOverhead === "number" ? () => messageOverhead : messageOverhead
  const countAfter = (before: number, text: string) => chain(options.count(text), (tokens) => plus(id, before, tokens))
  const countFiles = (message: Message.Message): number =>
    message.role === "user" || message.role === "assistant"
      ? (message.content as ReadonlyArray<Message.Part>)
        .reduce((sum, part) => part.type === "file" ? sum + countFile(part) : sum, 0)
      : 0
  return {
    id,
    overhead,
    count: (text) => countAfter(0, text),
    countMessage: (message) =>
      textsOf(message).reduce<Effect.Effect<number, TokenCountError>>(
        (sum, text) => chain(sum, (before) => countAfter(before, text)),
        plus(id, 0, overheadOf(message) + countFiles(message))
      )
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
  count: (text) => Exit.succeed(countCharacters(text))
})

const mapConversation = (
  { countConversation, id }: Service,
  f: (
    counted: Effect.Effect<number, TokenCountError>,
    messages: ReadonlyArray<Message.Message>
  ) => Effect.Effect<number, TokenCountError>
): Service["countConversation"] =>
  countConversation === undefined
    ? undefined
    : (messages) => f(guarded(id, () => countConversation(messages)), messages)

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
  countMessage: (message) => Effect.retry(self.countMessage(message), policy),
  countConversation: mapConversation(self, (counted) => Effect.retry(counted, policy))
}))

/**
 * Asks another counter where the first one fails or dies. The `id` of the first one stays: a fallback is an estimate of it.
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
  count: (text) => Effect.catchAll(guarded(self.id, () => self.count(text)), () => fallback.count(text)),
  countMessage: (message) =>
    Effect.catchAll(guarded(self.id, () => self.countMessage(message)), () => fallback.countMessage(message)),
  // Without an exact count of the fallback, a memory goes by the sum and the margin.
  countConversation: mapConversation(
    self,
    (counted, messages) =>
      Effect.catchAll(counted, (error) => fallback.countConversation?.(messages) ?? Effect.fail(error))
  )
}))

/**
 * Counts messages locally, and whole conversations by what counts them exactly, where the local sum cannot decide.
 * The counter keeps the `id` of the local one: it is whose counts are kept.
 *
 * @example
 * ```ts
 * import { deepStrictEqual } from "node:assert"
 * import { Effect, Layer } from "effect"
 * import { Memory, MemoryStore, Message, TokenCounter, TrimStrategy } from "effect-memory"
 *
 * // A service that counts 3 tokens more for each message than the characters tell.
 * const counter = TokenCounter.verified({
 *   countConversation: (messages) => Effect.succeed(messages.length * 4)
 * }, { local: TokenCounter.characters, margin: 3 })
 *
 * const context = Effect.gen(function*() {
 *   const memory = yield* Memory.Memory
 *   yield* memory.recordAll([Message.user("u1"), Message.assistant("a1"), Message.user("u2")])
 *   return yield* memory.context
 * }).pipe(
 *   Effect.provide(
 *     Memory.layer({ maxTokens: 11 }).pipe(
 *       Layer.provide([
 *         Layer.succeed(TokenCounter.TokenCounter, counter),
 *         TrimStrategy.layerWindowDrop,
 *         MemoryStore.layerMemory
 *       ])
 *     )
 *   )
 * )
 *
 * deepStrictEqual(Effect.runSync(context), [Message.user("u2")])
 * ```
 *
 * @since 0.1.0
 * @category combinators
 */
export const verified: {
  (options: VerifiedOptions): (remote: ConversationCounter) => Service
  (remote: ConversationCounter, options: VerifiedOptions): Service
} = dual(2, (remote: ConversationCounter, { local, margin }: VerifiedOptions): Service => ({
  ...local,
  countConversation: remote.countConversation,
  margin
}))

/**
 * A counter that learns from what providers bill: `Memory.observeUsage` tells it, and the memory holds its budget
 * by the bill that is to be expected. The factor between count and bill is learned from differences of successive
 * bills, a high quantile of them; what else is in the prompt is taken from the last bill.
 *
 * @example
 * ```ts
 * import { strictEqual } from "node:assert"
 * import { Effect } from "effect"
 * import { TokenCounter } from "effect-memory"
 *
 * const limit = Effect.gen(function*() {
 *   const { calibration } = yield* TokenCounter.calibrated(TokenCounter.characters)
 *   const first = { counted: 1000, billed: 3000 }
 *   const second = { counted: 2000, billed: 4500 }
 *   yield* calibration.observe(first, second)
 *   // 1,500 tokens are left, and each counted one is billed 1.5 times.
 *   return yield* calibration.limit(second, 6000)
 * })
 *
 * strictEqual(Effect.runSync(limit), 3000)
 * ```
 *
 * @since 0.1.0
 * @category combinators
 */
export const calibrated = (self: Service): Effect.Effect<Service & { readonly calibration: Calibration }> =>
  Effect.map(Ref.make(calibrating.nothing), (factors) => ({
    ...self,
    calibration: {
      observe: (before, now) => Ref.update(factors, (known) => calibrating.learn(known, before, now)),
      limit: (last, budget) => Effect.map(Ref.get(factors), (known) => calibrating.limit(known, last, budget))
    }
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
