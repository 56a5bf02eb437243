/**
 * Counts conversations as Anthropic does, by `POST /v1/messages/count_tokens`, which is free and has a limit of its own.
 *
 * @example
 * ```ts
 * import { strictEqual } from "node:assert"
 * import { Effect, Layer, Redacted } from "effect"
 * import { HttpClient, HttpClientResponse } from "@effect/platform"
 * import { Message, TokenCounter } from "effect-memory"
 * import { AnthropicTokenCounter } from "@effect-memory/platform"
 *
 * // In a program this is FetchHttpClient.layer.
 * const canned = Layer.succeed(
 *   HttpClient.HttpClient,
 *   HttpClient.make((request) =>
 *     Effect.succeed(HttpClientResponse.fromWeb(request, new Response(`{"input_tokens":14}`)))
 *   )
 * )
 *
 * const tokens = Effect.gen(function*() {
 *   const counter = yield* TokenCounter.TokenCounter
 *   return yield* counter.countConversation?.([Message.user("Hello, Claude")]) ?? Effect.succeed(0)
 * }).pipe(
 *   Effect.provide(AnthropicTokenCounter.layer({ apiKey: Redacted.make("key"), model: "claude-sonnet-4-5" })),
 *   Effect.provide(canned)
 * )
 *
 * strictEqual(await Effect.runPromise(tokens), 14)
 * ```
 *
 * @since 0.1.0
 */
import type * as HttpClient from "@effect/platform/HttpClient"
import * as AnthropicMessages from "@effect-memory/formats/AnthropicMessages"
import * as Config from "effect/Config"
import type { ConfigError } from "effect/ConfigError"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Predicate from "effect/Predicate"
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
  /** Name of the model, such as `claude-sonnet-4-5`. */
  readonly model: string
  /** Where the service is. Default `https://api.anthropic.com`. */
  readonly baseUrl?: string | undefined
  /** How to ask; for counting, an attempt may take 10 seconds and all of them 20 by default. */
  readonly policy?: RemotePolicy.Options | undefined
}

/**
 * The margin is 1 by default: a bill may be twice what `TokenCounter.characters` counts.
 *
 * @since 0.1.0
 * @category models
 */
export interface Options extends Settings, RemoteTokenCounter.Options {}

const form: sendable.Form = { codec: AnthropicMessages.codec, rules: "anthropic", userLast: true }

const Answer = Schema.Struct({ input_tokens: counting.Tokens })

/** Caching is not counted, and its markers are limited. */
const unmarked = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(unmarked)
  if (!Predicate.isRecord(value)) return value
  const { cache_control: __, cacheControl: _, ...rest } = value
  return "content" in rest ? { ...rest, content: unmarked(rest.content) } : rest
}

const bodyOf = (messages: ReadonlyArray<Message.Message>, { model, tools }: Options): unknown => {
  const fields = sendable.write(messages, form)
  if (fields === undefined) return undefined
  return {
    model,
    ...("system" in fields ? { system: unmarked(fields.system) } : {}),
    messages: unmarked(fields.messages),
    ...(tools === undefined ? {} : { tools })
  }
}

/**
 * A counter that counts messages locally and conversations at Anthropic. Fails with `InvalidOption` where an option makes
 * no sense.
 *
 * @since 0.1.0
 * @category constructors
 */
export const make: (
  options: Options
) => Effect.Effect<TokenCounter.Service, InvalidOption, HttpClient.HttpClient> = Effect.fn(
  "AnthropicTokenCounter.make"
)(function*(options) {
  return yield* counting.make(
    {
      module: "AnthropicTokenCounter",
      service: "anthropic",
      operation: "count_tokens",
      model: yield* settings.name("model", options.model),
      baseUrl: options.baseUrl ?? "https://api.anthropic.com",
      path: "/v1/messages/count_tokens",
      headers: {
        "x-api-key": yield* settings.key("apiKey", options.apiKey),
        "anthropic-version": "2023-06-01"
      },
      margin: 1,
      body: (messages) => bodyOf(messages, options),
      answer: Answer,
      tokens: (answer) => answer.input_tokens
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
