/**
 * Summarizes with a model of Anthropic, by `POST /v1/messages`.
 *
 * @example
 * ```ts
 * import { strictEqual } from "node:assert"
 * import { Effect, Layer, Redacted } from "effect"
 * import { HttpClient, HttpClientResponse } from "@effect/platform"
 * import { Message, Summarizer } from "effect-memory"
 * import { AnthropicSummarizer } from "@effect-memory/platform"
 *
 * // In a program this is FetchHttpClient.layer.
 * const canned = Layer.succeed(
 *   HttpClient.HttpClient,
 *   HttpClient.make((request) =>
 *     Effect.succeed(HttpClientResponse.fromWeb(request, new Response(`{"content":[{"type":"text","text":"The user wants to go to Oslo."}],"stop_reason":"end_turn"}`)))
 *   )
 * )
 *
 * const summary = Effect.gen(function*() {
 *   const { summarize } = yield* Summarizer.Summarizer
 *   return yield* summarize({ messages: [Message.user("To Oslo, please.")], previous: undefined, maxTokens: 200 })
 * }).pipe(
 *   Effect.provide(AnthropicSummarizer.layer({ apiKey: Redacted.make("key"), model: "claude-haiku-4-5" })),
 *   Effect.provide(canned)
 * )
 *
 * strictEqual((await Effect.runPromise(summary)).text, "The user wants to go to Oslo.")
 * ```
 *
 * @since 0.1.0
 */
import type * as HttpClient from "@effect/platform/HttpClient"
import * as Config from "effect/Config"
import type { ConfigError } from "effect/ConfigError"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import * as Summarizer from "effect-memory/Summarizer"
import * as settings from "./internal/settings.js"
import * as summarizing from "./internal/summarizing.js"
import type { InvalidOption } from "./RemoteError.js"
import type * as RemotePolicy from "./RemotePolicy.js"

/**
 * @since 0.1.0
 * @category models
 */
export interface Options {
  readonly apiKey: Redacted.Redacted<string>
  /** Name of the model, such as `claude-haiku-4-5`. */
  readonly model: string
  /** Where the service is. Default `https://api.anthropic.com`. */
  readonly baseUrl?: string | undefined
  /** How to ask; an attempt may take 1 minute and all of them 110 seconds by default. */
  readonly policy?: RemotePolicy.Options | undefined
}

const Answer = Schema.Struct({
  content: Schema.Array(Schema.Struct({ type: Schema.String, text: Schema.optional(Schema.String) })),
  stop_reason: Schema.optional(Schema.NullOr(Schema.String)),
  usage: Schema.optional(Schema.Unknown)
})

const finishes: { readonly [reason: string]: summarizing.Answered["finish"] | undefined } = {
  end_turn: "stop",
  stop_sequence: "stop",
  refusal: "refusal",
  model_context_window_exceeded: "overflow"
}

const read = ({ content, stop_reason, usage }: typeof Answer.Type): summarizing.Answered => ({
  text: content.map(({ text, type }) => type === "text" && text !== undefined ? text : "").join(""),
  // Whatever else ended it: it is no whole reply.
  finish: finishes[stop_reason ?? "end_turn"] ?? "length",
  // What was read from the cache is no part of the input tokens.
  ...summarizing.usageOf(
    usage,
    ["input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens"],
    ["output_tokens"]
  )
})

/**
 * A summarizer over the service. Fails with `InvalidOption` where an option makes no sense; its summaries fail with
 * `SummarizeError`, whose `cause` is the `RemoteError` where the service failed.
 *
 * @since 0.1.0
 * @category constructors
 */
export const make: (
  options: Options
) => Effect.Effect<Summarizer.Service, InvalidOption, HttpClient.HttpClient> = Effect.fn(
  "AnthropicSummarizer.make"
)(function*(options) {
  const model = yield* settings.name("model", options.model)
  return yield* summarizing.make({
    service: "anthropic",
    operation: "messages",
    baseUrl: options.baseUrl ?? "https://api.anthropic.com",
    path: "/v1/messages",
    headers: {
      "x-api-key": yield* settings.key("apiKey", options.apiKey),
      "anthropic-version": "2023-06-01"
    },
    body: (call) => ({
      model,
      max_tokens: call.maxTokens,
      system: summarizing.systemOf(call),
      messages: [{ role: "user", content: call.user }]
    }),
    answer: Answer,
    read
  }, options.policy)
})

/**
 * {@link make} as a layer.
 *
 * @since 0.1.0
 * @category layers
 */
export const layer = (
  options: Options
): Layer.Layer<Summarizer.Summarizer, InvalidOption, HttpClient.HttpClient> =>
  Layer.effect(Summarizer.Summarizer, make(options))

/**
 * {@link layer} with options from the configuration.
 *
 * @since 0.1.0
 * @category layers
 */
export const layerConfig = (
  options: Config.Config.Wrap<Options>
): Layer.Layer<Summarizer.Summarizer, InvalidOption | ConfigError, HttpClient.HttpClient> =>
  Layer.unwrapEffect(Effect.map(Config.unwrap(options), layer))
