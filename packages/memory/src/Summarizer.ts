/**
 * Summarizing the part of a conversation that no longer fits.
 *
 * A summarizer is made from one function that asks a model, and improved by combinators: retries, a time limit, a
 * fallback, and pieces for a model with a small window. {@link extractive} needs no model.
 *
 * @example
 * ```ts
 * import { strictEqual } from "node:assert"
 * import { Effect, pipe, Schedule } from "effect"
 * import { Message, Summarizer, TokenCounter } from "effect-memory"
 *
 * const model = Summarizer.make(({ maxTokens }) =>
 *   Effect.succeed({ text: ` The user wants to go to Oslo. `, usage: { inputTokens: 300, outputTokens: maxTokens } })
 * )
 *
 * const summarizer = pipe(
 *   model,
 *   Summarizer.timeout("30 seconds"),
 *   Summarizer.retry(Schedule.recurs(2)),
 *   Summarizer.orElse(Summarizer.extractive(TokenCounter.characters))
 * )
 *
 * const summary = Effect.runSync(summarizer.summarize({
 *   messages: [Message.user("I want to go to Oslo."), Message.assistant("When?")],
 *   previous: undefined,
 *   maxTokens: 100
 * }))
 *
 * strictEqual(summary.text, "The user wants to go to Oslo.")
 * ```
 *
 * @since 0.1.0
 */
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import { dual } from "effect/Function"
import * as Layer from "effect/Layer"
import * as Ref from "effect/Ref"
import type * as Schedule from "effect/Schedule"
import * as fold from "./internal/chunkFold.js"
import { summarize as extract } from "./internal/extractive.js"
import { accept, isBlank, unchanged } from "./internal/reply.js"
import * as prompt from "./internal/summaryPrompt.js"
import { SummarizeError } from "./MemoryError.js"
import type * as Message from "./Message.js"
import * as TokenCounter from "./TokenCounter.js"

/**
 * @since 0.1.0
 * @category models
 */
export interface Request {
  /** What to summarize, in the order of the conversation. */
  readonly messages: ReadonlyArray<Message.Message>
  /** Text of the summary so far, to be worked into the new one. */
  readonly previous: string | undefined
  /** The new summary should be no longer than this, in tokens. */
  readonly maxTokens: number
  /** Instructions to the model in place of the default ones. */
  readonly prompt?: string | undefined
}

/**
 * What a model billed.
 *
 * @since 0.1.0
 * @category models
 */
export interface Usage {
  /** In tokens. */
  readonly inputTokens: number
  /** In tokens. */
  readonly outputTokens: number
}

/**
 * @since 0.1.0
 * @category models
 */
export interface Summary {
  /** Not blank, without blanks around it. */
  readonly text: string
  /** All requests together that it took; `undefined` where nobody said. */
  readonly usage: Usage | undefined
}

/**
 * @since 0.1.0
 * @category models
 */
export interface Service {
  /** Fails with `SummarizeError` when there is no summary that can be used. Its length is the caller's to check. */
  readonly summarize: (request: Request) => Effect.Effect<Summary, SummarizeError>
}

/**
 * @since 0.1.0
 * @category tags
 */
export class Summarizer extends Context.Tag("effect-memory/Summarizer")<Summarizer, Service>() {}

/**
 * What a model is asked.
 *
 * @since 0.1.0
 * @category models
 */
export interface Call {
  /** Instructions, for the system prompt. */
  readonly system: string
  /** The previous summary and the conversation, as data between marks that no text in them can close. */
  readonly user: string
  /** Limit of the reply, in tokens. */
  readonly maxTokens: number
}

/**
 * What a model answered.
 *
 * @since 0.1.0
 * @category models
 */
export interface Completion {
  /** Without reasoning. */
  readonly text: string
  readonly usage?: Usage | undefined
  /** Why the reply ended: by itself, at the limit of its length, or because the model declined. Default `stop`. */
  readonly finish?: "stop" | "length" | "refusal" | undefined
}

/**
 * A summarizer from a way to ask a model. The reply is trimmed and refused when it is blank (`empty`), was cut
 * (`truncated`) or declines (`refused`). Without messages, the model is not asked and the previous summary is returned.
 *
 * @example
 * ```ts
 * import { strictEqual } from "node:assert"
 * import { Effect } from "effect"
 * import { Message, Summarizer } from "effect-memory"
 *
 * const cut = Summarizer.make(() => Effect.succeed({ text: "The user wa", finish: "length" }))
 *
 * const error = Effect.runSync(Effect.flip(cut.summarize({
 *   messages: [Message.user("I want to go to Oslo.")],
 *   previous: undefined,
 *   maxTokens: 3
 * })))
 *
 * strictEqual(error.reason, "truncated")
 * ```
 *
 * @since 0.1.0
 * @category constructors
 */
export const make = (complete: (call: Call) => Effect.Effect<Completion, SummarizeError>): Service => ({
  summarize: Effect.fn("Summarizer.complete")((request: Request) =>
    request.messages.length === 0
      ? unchanged(request)
      : Effect.flatMap(complete(prompt.call(request)), (completion) => accept(completion, request.maxTokens))
  )
})

/**
 * A summarizer without a model: it keeps the lines that carry most, first of all goals and decisions, and lists the
 * identifiers, paths, URLs and numbers that they leave out. Its text is never longer than `maxTokens` by the counter,
 * and the same for the same input. Half of the room belongs to the previous summary; `prompt` means nothing to it.
 *
 * Fails with `SummarizeError` where not even one character fits (`empty`) or the counter fails (`provider`). It counts
 * many small texts, so give it a local counter.
 *
 * @example
 * ```ts
 * import { strictEqual } from "node:assert"
 * import { Effect } from "effect"
 * import { Message, Summarizer, TokenCounter } from "effect-memory"
 *
 * const summary = Effect.runSync(Summarizer.extractive(TokenCounter.characters).summarize({
 *   messages: [
 *     Message.user("Please fix the login test in test/login.ts. It is red since Monday."),
 *     Message.assistant("Sure."),
 *     Message.assistant("I decided to raise the time limit to 5000 ms.")
 *   ],
 *   previous: undefined,
 *   maxTokens: 40
 * }))
 *
 * strictEqual(
 *   summary.text,
 *   "user: Please fix the login test in test/login.ts.\n" +
 *     "user: It is red since Monday.\n" +
 *     "assistant: I decided to raise the time limit to 5000 ms."
 * )
 * ```
 *
 * @since 0.1.0
 * @category constructors
 */
export const extractive = (counter: TokenCounter.Service): Service => ({
  summarize: Effect.fn("Summarizer.extractive")((request: Request) =>
    request.messages.length === 0
      ? unchanged(request)
      : Effect.flatMap(
        Effect.mapError(
          extract(request.messages, request.previous, request.maxTokens, counter.count),
          fold.uncounted
        ),
        (text) =>
          isBlank(text)
            ? new SummarizeError({ reason: "empty", detail: `no text fits into ${request.maxTokens} tokens: raise it` })
            : Effect.succeed({ text, usage: undefined })
      )
  )
})

/** A second try can help: other failures come back for the same request. */
const isTransient = ({ reason }: SummarizeError): boolean =>
  reason === "empty" || reason === "timeout" || reason === "provider"

/**
 * Asks again by a schedule after `empty`, `timeout` and `provider`.
 *
 * @since 0.1.0
 * @category combinators
 */
export const retry: {
  (policy: Schedule.Schedule<unknown, SummarizeError>): (self: Service) => Service
  (self: Service, policy: Schedule.Schedule<unknown, SummarizeError>): Service
} = dual(2, (self: Service, policy: Schedule.Schedule<unknown, SummarizeError>): Service => ({
  summarize: (request) => Effect.retry(self.summarize(request), { schedule: policy, while: isTransient })
}))

/**
 * Fails with the reason `timeout` when there is no summary in time, even if the summarizer cannot be interrupted.
 *
 * @since 0.1.0
 * @category combinators
 */
export const timeout: {
  (duration: Duration.DurationInput): (self: Service) => Service
  (self: Service, duration: Duration.DurationInput): Service
} = dual(2, (self: Service, duration: Duration.DurationInput): Service => ({
  summarize: (request) =>
    Effect.timeoutFail(Effect.disconnect(self.summarize(request)), {
      duration,
      onTimeout: () =>
        new SummarizeError({
          reason: "timeout",
          detail: `no reply within ${Duration.format(duration)}: allow more time, or less to summarize`
        })
    })
}))

/**
 * Asks another summarizer where the first one fails.
 *
 * @since 0.1.0
 * @category combinators
 */
export const orElse: {
  (fallback: Service): (self: Service) => Service
  (self: Service, fallback: Service): Service
} = dual(2, (self: Service, fallback: Service): Service => ({
  summarize: (request) => Effect.catchAll(self.summarize(request), () => fallback.summarize(request))
}))

/**
 * @since 0.1.0
 * @category models
 */
export interface ChunkOptions {
  /** What the model takes as input, in tokens: instructions, previous summary and conversation. */
  readonly maxInputTokens: number
  /** Counts the input. A local one: every text is counted more than once. */
  readonly counter: TokenCounter.Service
}

/**
 * Splits an input larger than the window of the summarizer, and summarizes piece by piece, each together with the
 * summary so far. Calls stay with their results; what is too large for a piece of its own is shortened in the middle.
 *
 * Fails with the reason `overflow` where instructions and the summary so far leave no room for any message.
 *
 * @example
 * ```ts
 * import { deepStrictEqual } from "node:assert"
 * import { Effect } from "effect"
 * import { Message, Summarizer, TokenCounter } from "effect-memory"
 *
 * const model = Summarizer.make((call) =>
 *   Effect.succeed({ text: call.user.includes("Rome") ? "Oslo, Rome" : "Oslo", usage: { inputTokens: 800, outputTokens: 2 } })
 * )
 * const summarizer = Summarizer.chunked(model, { maxInputTokens: 1000, counter: TokenCounter.characters })
 *
 * const summary = Effect.runSync(summarizer.summarize({
 *   messages: [Message.user("Oslo ".repeat(500)), Message.assistant("Rome ".repeat(500))],
 *   previous: undefined,
 *   maxTokens: 100
 * }))
 *
 * deepStrictEqual(summary, { text: "Oslo, Rome", usage: { inputTokens: 1600, outputTokens: 4 } })
 * ```
 *
 * @since 0.1.0
 * @category combinators
 */
export const chunked: {
  (options: ChunkOptions): (self: Service) => Service
  (self: Service, options: ChunkOptions): Service
} = dual(2, (self: Service, options: ChunkOptions): Service => ({
  summarize: Effect.fn("Summarizer.chunked")((request: Request) => fold.summarizeInPieces(self, request, options))
}))

/**
 * The summarizer without a model, {@link extractive}.
 *
 * @since 0.1.0
 * @category layers
 */
export const layerExtractive: Layer.Layer<Summarizer, never, TokenCounter.TokenCounter> = Layer.effect(
  Summarizer,
  Effect.map(TokenCounter.TokenCounter, extractive)
)

/**
 * What a test summarizer was asked.
 *
 * @since 0.1.0
 * @category testing
 */
export class TestRequests extends Context.Tag("effect-memory/Summarizer/TestRequests")<
  TestRequests,
  {
    /** Every request so far, in order. */
    readonly requests: Effect.Effect<ReadonlyArray<Request>>
  }
>() {}

/**
 * A summarizer for tests: it gives these replies in order, and records its requests. A reply is a text, or an effect
 * of one, such as a `SummarizeError` that it fails with; texts are checked as by {@link make}. When there are no more
 * replies it fails with the reason `provider`.
 *
 * @example
 * ```ts
 * import { deepStrictEqual, strictEqual } from "node:assert"
 * import { Effect } from "effect"
 * import { Message, Summarizer } from "effect-memory"
 *
 * const program = Effect.gen(function*() {
 *   const summarizer = yield* Summarizer.Summarizer
 *   const test = yield* Summarizer.TestRequests
 *   const request = { messages: [Message.user("hello")], previous: undefined, maxTokens: 100 }
 *   const summary = yield* summarizer.summarize(request)
 *   return { requests: yield* test.requests, text: summary.text, request }
 * }).pipe(Effect.provide(Summarizer.layerTest(["A greeting."])))
 *
 * const { request, requests, text } = Effect.runSync(program)
 *
 * strictEqual(text, "A greeting.")
 * deepStrictEqual(requests, [request])
 * ```
 *
 * @since 0.1.0
 * @category testing
 */
export const layerTest = (
  replies: ReadonlyArray<string | Effect.Effect<string, SummarizeError>>
): Layer.Layer<Summarizer | TestRequests> => {
  const noMore = new SummarizeError({
    reason: "provider",
    detail: `layerTest has no reply left after ${replies.length}: give it more`
  })
  return Layer.effectContext(
    Effect.map(
      Ref.make<ReadonlyArray<Request>>([]),
      (requests) =>
        Context.make(TestRequests, { requests: Ref.get(requests) }).pipe(
          Context.add(Summarizer, {
            summarize: (request) =>
              Effect.flatMap(
                Ref.modify(requests, (seen) => [replies[seen.length] ?? noMore, [...seen, request]]),
                (reply) =>
                  Effect.flatMap(
                    typeof reply === "string" ? Effect.succeed(reply) : reply,
                    (text) => accept({ text }, request.maxTokens)
                  )
              )
          })
        )
    )
  )
}
