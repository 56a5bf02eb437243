/**
 * Counts conversations as Text Generation Inference does, by `POST /chat_tokenize` with the chat template of the model.
 *
 * @example
 * ```ts
 * import { strictEqual } from "node:assert"
 * import { Effect, Layer } from "effect"
 * import { HttpClient, HttpClientResponse } from "@effect/platform"
 * import { Message, TokenCounter } from "effect-memory"
 * import { TgiTokenCounter } from "@effect-memory/platform"
 *
 * // In a program this is FetchHttpClient.layer.
 * const canned = Layer.succeed(
 *   HttpClient.HttpClient,
 *   HttpClient.make((request) =>
 *     Effect.succeed(HttpClientResponse.fromWeb(request, new Response(`{"tokenize_response":[{"id":1,"text":"Hi","start":0,"stop":2}],"templated_text":"Hi"}`)))
 *   )
 * )
 *
 * const tokens = Effect.gen(function*() {
 *   const counter = yield* TokenCounter.TokenCounter
 *   return yield* counter.countConversation?.([Message.user("Hello")]) ?? Effect.succeed(0)
 * }).pipe(
 *   Effect.provide(TgiTokenCounter.layer({ model: "tgi" })),
 *   Effect.provide(canned)
 * )
 *
 * strictEqual(await Effect.runPromise(tokens), 1)
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
import * as TokenCounter from "effect-memory/TokenCounter"
import * as chat from "./internal/chat.js"
import * as counting from "./internal/counting.js"
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
  /** The key, where the server asks for one. */
  readonly apiKey?: Redacted.Redacted<string> | undefined
  /** Name of the model, where the server has several. */
  readonly model?: string | undefined
  /** Where the server is, without `/v1`. Default `http://localhost:3000`. */
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

const Answer = Schema.Struct({ tokenize_response: Schema.NonEmptyArray(Schema.Unknown) })

/**
 * A counter that counts messages locally and conversations at the server. Fails with `InvalidOption` where an option
 * makes no sense.
 *
 * @since 0.1.0
 * @category constructors
 */
export const make: (
  options: Options
) => Effect.Effect<TokenCounter.Service, InvalidOption, HttpClient.HttpClient> = Effect.fn(
  "TgiTokenCounter.make"
)(function*(options) {
  return yield* counting.make(
    {
      module: "TgiTokenCounter",
      service: "tgi",
      operation: "chat_tokenize",
      model: options.model === undefined ? undefined : yield* settings.name("model", options.model),
      baseUrl: options.baseUrl ?? "http://localhost:3000",
      path: "/chat_tokenize",
      headers: yield* settings.bearer(options.apiKey),
      margin: 0.75,
      body: (messages) => chat.body(messages, options),
      answer: Answer,
      tokens: (answer) => answer.tokenize_response.length
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
  options: Options = {}
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
