/**
 * Summarizes with a model of OpenAI, or of any server that speaks chat completions: vLLM, llama.cpp, Ollama, LM Studio and
 * others by their `baseUrl`. Asks by `POST /chat/completions`.
 *
 * @example
 * ```ts
 * import { strictEqual } from "node:assert"
 * import { Effect, Layer, Redacted } from "effect"
 * import { HttpClient, HttpClientResponse } from "@effect/platform"
 * import { Message, Summarizer } from "effect-memory"
 * import { OpenAiSummarizer } from "@effect-memory/platform"
 *
 * // In a program this is FetchHttpClient.layer.
 * const canned = Layer.succeed(
 *   HttpClient.HttpClient,
 *   HttpClient.make((request) =>
 *     Effect.succeed(HttpClientResponse.fromWeb(request, new Response(`{"choices":[{"message":{"content":"The user wants to go to Oslo."},"finish_reason":"stop"}]}`)))
 *   )
 * )
 *
 * const summary = Effect.gen(function*() {
 *   const { summarize } = yield* Summarizer.Summarizer
 *   return yield* summarize({ messages: [Message.user("To Oslo, please.")], previous: undefined, maxTokens: 200 })
 * }).pipe(
 *   Effect.provide(OpenAiSummarizer.layer({ model: "qwen3", baseUrl: "http://localhost:11434/v1" })),
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
  /** Local servers need none. */
  readonly apiKey?: Redacted.Redacted<string> | undefined
  /** Name of the model, such as `gpt-4.1-mini`. */
  readonly model: string
  /** Where the service is, with its version. Default `https://api.openai.com/v1`. */
  readonly baseUrl?: string | undefined
  /**
   * Room for what a model thinks before it writes, in tokens: the reply may be longer by this. Default 0, which is too
   * little for a model that always thinks.
   */
  readonly reasoningTokens?: number | undefined
  /**
   * The field that limits the reply. By default `max_completion_tokens`, and with a `baseUrl` `max_tokens`, which OpenAI
   * no longer takes for all models and other servers know.
   */
  readonly limitField?: "max_tokens" | "max_completion_tokens" | undefined
  /** How to ask; an attempt may take 1 minute and all of them 110 seconds by default. */
  readonly policy?: RemotePolicy.Options | undefined
}

const Choice = Schema.Struct({
  message: Schema.Struct({
    content: Schema.optional(Schema.NullOr(Schema.String)),
    refusal: Schema.optional(Schema.NullOr(Schema.String))
  }),
  finish_reason: Schema.optional(Schema.NullOr(Schema.String))
})

const Answer = Schema.Struct({ choices: Schema.NonEmptyArray(Choice), usage: Schema.optional(Schema.Unknown) })

const opening = "<think>"

const closing = "</think>"

/**
 * Local servers may leave what a model thought in its reply, at the beginning; where the prompt ends with the opening mark,
 * the reply has the closing one only.
 */
const withoutThoughts = (text: string): string => {
  const begins = text.trimStart().startsWith(opening)
  const end = text.indexOf(closing)
  if (end < 0) return begins ? "" : text
  return begins || !text.slice(0, end).includes(opening) ? text.slice(end + closing.length) : text
}

const finishOf = ({ finish_reason, message }: typeof Choice.Type): summarizing.Answered["finish"] => {
  if (finish_reason === "content_filter" || (message.refusal ?? "") !== "") return "refusal"
  // Whatever else ended it: it is no whole reply.
  return (finish_reason ?? "stop") === "stop" ? "stop" : "length"
}

const read = ({ choices: [choice], usage }: typeof Answer.Type): summarizing.Answered => ({
  text: withoutThoughts(choice.message.content ?? ""),
  finish: finishOf(choice),
  ...summarizing.usageOf(usage, ["prompt_tokens"], ["completion_tokens"])
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
  "OpenAiSummarizer.make"
)(function*(options) {
  const model = yield* settings.name("model", options.model)
  const reasoning = yield* settings.whole("reasoningTokens", options.reasoningTokens ?? 0, 0)
  const limit = options.limitField ?? (options.baseUrl === undefined ? "max_completion_tokens" : "max_tokens")
  return yield* summarizing.make({
    service: "openai",
    operation: "chat.completions",
    baseUrl: options.baseUrl ?? "https://api.openai.com/v1",
    path: "/chat/completions",
    headers: yield* settings.bearer(options.apiKey),
    body: (call) => {
      const system = summarizing.systemOf(call)
      return {
        model,
        [limit]: call.maxTokens + reasoning,
        messages: [
          ...(system === undefined ? [] : [{ role: "system", content: system }]),
          { role: "user", content: call.user }
        ]
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
