/**
 * Counts conversations as Gemini does, by `POST /v1beta/models/{model}:countTokens` with the system prompt and the tools.
 *
 * @example
 * ```ts
 * import { strictEqual } from "node:assert"
 * import { Effect, Layer, Redacted } from "effect"
 * import { HttpClient, HttpClientResponse } from "@effect/platform"
 * import { Message, TokenCounter } from "effect-memory"
 * import { GeminiTokenCounter } from "@effect-memory/platform"
 *
 * // In a program this is FetchHttpClient.layer.
 * const canned = Layer.succeed(
 *   HttpClient.HttpClient,
 *   HttpClient.make((request) =>
 *     Effect.succeed(HttpClientResponse.fromWeb(request, new Response(`{"totalTokens":13}`)))
 *   )
 * )
 *
 * const tokens = Effect.gen(function*() {
 *   const counter = yield* TokenCounter.TokenCounter
 *   return yield* counter.countConversation?.([Message.user("Hello")]) ?? Effect.succeed(0)
 * }).pipe(
 *   Effect.provide(GeminiTokenCounter.layer({ apiKey: Redacted.make("key"), model: "gemini-2.5-pro" })),
 *   Effect.provide(canned)
 * )
 *
 * strictEqual(await Effect.runPromise(tokens), 13)
 * ```
 *
 * @since 0.1.0
 */
import type * as HttpClient from "@effect/platform/HttpClient"
import * as Gemini from "@effect-memory/formats/Gemini"
import * as Config from "effect/Config"
import type { ConfigError } from "effect/ConfigError"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import type * as Message from "effect-memory/Message"
import * as TokenCounter from "effect-memory/TokenCounter"
import * as counting from "./internal/counting.js"
import * as sendable from "./internal/sendable.js"
import * as settings from "./internal/settings.js"
import type { InvalidOption } from "./RemoteError.js"
import type * as RemotePolicy from "./RemotePolicy.js"
import type * as RemoteTokenCounter from "./RemoteTokenCounter.js"

/**
 * What may come from the configuration.
 *
 * @since 0.1.0
 * @category models
 */
export interface Settings {
  readonly apiKey: Redacted.Redacted<string>
  /** Name of the model, such as `gemini-2.5-pro`. */
  readonly model: string
  /** Where the service is, with the version of the API. Default `https://generativelanguage.googleapis.com/v1beta`. */
  readonly baseUrl?: string | undefined
  /** How to ask; for counting, an attempt may take 10 seconds and all of them 20 by default. */
  readonly policy?: RemotePolicy.Options | undefined
}

/**
 * The margin is 0.75 by default.
 *
 * @since 0.1.0
 * @category models
 */
export interface Options extends Settings, RemoteTokenCounter.Options {}

const form: sendable.Form = { codec: Gemini.codec, rules: "gemini", userLast: true }

const Answer = Schema.Struct({ totalTokens: counting.Tokens })

/** `models/x` for the name `x`; other collections are named in full. */
const resource = (model: string): string => model.includes("/") ? model : `models/${model}`

const bodyOf = (messages: ReadonlyArray<Message.Message>, { model, tools }: Options): unknown => {
  const fields = sendable.write(messages, form)
  return fields === undefined ? undefined : {
    // Only a whole request can hold a system prompt and tools.
    generateContentRequest: { model: resource(model), ...fields, ...(tools === undefined ? {} : { tools }) }
  }
}

/**
 * A counter that counts messages locally and conversations at the service. Fails with `InvalidOption` where an option
 * makes no sense.
 *
 * @since 0.1.0
 * @category constructors
 */
export const make: (
  options: Options
) => Effect.Effect<TokenCounter.Service, InvalidOption, HttpClient.HttpClient> = Effect.fn(
  "GeminiTokenCounter.make"
)(function*(options) {
  const model = yield* settings.name("model", options.model)
  const path = resource(model).split("/").map(encodeURIComponent).join("/")
  return yield* counting.make(
    {
      module: "GeminiTokenCounter",
      service: "gemini",
      operation: "countTokens",
      model,
      baseUrl: options.baseUrl ?? "https://generativelanguage.googleapis.com/v1beta",
      path: `/${path}:countTokens`,
      headers: { "x-goog-api-key": yield* settings.key("apiKey", options.apiKey) },
      margin: 0.75,
      body: (messages) => bodyOf(messages, options),
      answer: Answer,
      tokens: (answer) => answer.totalTokens
    },
    options,
    options.policy
  )
})

/**
 * {@link make} as a layer.
 *
 * @since 0.1.0
 * @category layers
 */
export const layer = (
  options: Options
): Layer.Layer<TokenCounter.TokenCounter, InvalidOption, HttpClient.HttpClient> =>
  Layer.effect(TokenCounter.TokenCounter, make(options))

/**
 * {@link layer} with settings from the configuration.
 *
 * @since 0.1.0
 * @category layers
 */
export const layerConfig = (
  settings: Config.Config.Wrap<Settings>,
  options?: RemoteTokenCounter.Options
): Layer.Layer<TokenCounter.TokenCounter, InvalidOption | ConfigError, HttpClient.HttpClient> =>
  Layer.unwrapEffect(Effect.map(Config.unwrap(settings), (known) => layer({ ...options, ...known })))
