/**
 * Summarizes with a model of Gemini, by `POST /v1beta/models/{model}:generateContent`.
 *
 * @example
 * ```ts
 * import { strictEqual } from "node:assert"
 * import { Effect, Layer, Redacted } from "effect"
 * import { HttpClient, HttpClientResponse } from "@effect/platform"
 * import { Message, Summarizer } from "effect-memory"
 * import { GeminiSummarizer } from "@effect-memory/platform"
 *
 * // In a program this is FetchHttpClient.layer.
 * const canned = Layer.succeed(
 *   HttpClient.HttpClient,
 *   HttpClient.make((request) =>
 *     Effect.succeed(HttpClientResponse.fromWeb(request, new Response(`{"candidates":[{"content":{"parts":[{"text":"The user wants to go to Oslo."}]},"finishReason":"STOP"}]}`)))
 *   )
 * )
 *
 * const summary = Effect.gen(function*() {
 *   const { summarize } = yield* Summarizer.Summarizer
 *   return yield* summarize({ messages: [Message.user("To Oslo, please.")], previous: undefined, maxTokens: 200 })
 * }).pipe(
 *   Effect.provide(GeminiSummarizer.layer({ apiKey: Redacted.make("key"), model: "gemini-2.5-flash-lite" })),
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
  /** Name of the model, such as `gemini-2.5-flash-lite`. */
  readonly model: string
  /** Where the service is, with the version of the API. Default `https://generativelanguage.googleapis.com/v1beta`. */
  readonly baseUrl?: string | undefined
  /**
   * Room for what a model thinks before it writes, in tokens: the reply may be longer by this. Default 0, which is too
   * little for a model that always thinks.
   */
  readonly reasoningTokens?: number | undefined
  /** How to ask; an attempt may take 1 minute and all of them 110 seconds by default. */
  readonly policy?: RemotePolicy.Options | undefined
}

const Part = Schema.Struct({ text: Schema.optional(Schema.String), thought: Schema.optional(Schema.Boolean) })

const Candidate = Schema.Struct({
  content: Schema.optional(Schema.Struct({ parts: Schema.optional(Schema.Array(Part)) })),
  finishReason: Schema.optional(Schema.String)
})

/** A prompt that is refused has no candidates. */
const Answer = Schema.Struct({
  candidates: Schema.optional(Schema.Array(Candidate)),
  promptFeedback: Schema.optional(Schema.Struct({ blockReason: Schema.optional(Schema.String) })),
  usageMetadata: Schema.optional(Schema.Unknown)
}).pipe(Schema.filter(({ candidates, promptFeedback }) => candidates !== undefined || promptFeedback !== undefined))

const refusals: ReadonlyArray<string> = [
  "SAFETY",
  "RECITATION",
  "LANGUAGE",
  "BLOCKLIST",
  "PROHIBITED_CONTENT",
  "SPII"
]

const read = ({ candidates = [], promptFeedback, usageMetadata }: typeof Answer.Type): summarizing.Answered => {
  const candidate = candidates[0]
  const reason = candidate?.finishReason ?? ""
  const refused = refusals.includes(reason) || (candidate === undefined && promptFeedback?.blockReason !== undefined)
  const parts = candidate?.content?.parts ?? []
  return {
    text: parts.map(({ text = "", thought }) => thought === true ? "" : text).join(""),
    // Whatever else ended it: it is no whole reply.
    finish: refused ? "refusal" : reason === "" || reason === "STOP" ? "stop" : "length",
    ...summarizing.usageOf(usageMetadata, ["promptTokenCount"], ["candidatesTokenCount", "thoughtsTokenCount"])
  }
}

/** A bare name is that of a model, others stand as they are. */
const resource = (model: string): string => model.includes("/") ? model : `models/${model}`

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
  "GeminiSummarizer.make"
)(function*(options) {
  const model = yield* settings.name("model", options.model)
  const reasoning = yield* settings.whole("reasoningTokens", options.reasoningTokens ?? 0, 0)
  return yield* summarizing.make({
    service: "gemini",
    operation: "generateContent",
    baseUrl: options.baseUrl ?? "https://generativelanguage.googleapis.com/v1beta",
    path: `/${resource(model).split("/").map(encodeURIComponent).join("/")}:generateContent`,
    headers: { "x-goog-api-key": yield* settings.key("apiKey", options.apiKey) },
    body: (call) => {
      const system = summarizing.systemOf(call)
      return {
        ...(system === undefined ? {} : { systemInstruction: { parts: [{ text: system }] } }),
        contents: [{ role: "user", parts: [{ text: call.user }] }],
        generationConfig: { maxOutputTokens: call.maxTokens + reasoning }
      }
    },
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
