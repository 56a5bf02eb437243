/**
 * A `TokenCounter` that counts text exactly as OpenAI's tiktoken does, and messages as they are billed.
 *
 * @example
 * ```ts
 * import { strictEqual } from "node:assert"
 * import { Effect } from "effect"
 * import { Message, TokenCounter } from "effect-memory"
 * import { TiktokenCounter } from "@effect-memory/tiktoken"
 *
 * const program = Effect.gen(function*() {
 *   const counter = yield* TokenCounter.TokenCounter
 *   return yield* counter.countMessage(Message.user("Tiktoken is fast!"))
 * }).pipe(Effect.provide(TiktokenCounter.layer({ model: "gpt-4o" })))
 *
 * const tokens = await Effect.runPromise(program)
 *
 * strictEqual(tokens, 10)
 * ```
 *
 * @since 0.1.0
 */
import * as Config from "effect/Config"
import type { ConfigError } from "effect/ConfigError"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import type { TokenCountError } from "effect-memory/MemoryError"
import * as TokenCounter from "effect-memory/TokenCounter"
import type { Encoding } from "./Encoding.js"
import { make as makeService } from "./internal/convention.js"
import { load } from "./internal/load.js"
import * as Model from "./Model.js"

// =============================================================================
// Models
// =============================================================================

/**
 * Between what a count lies.
 *
 * @since 0.1.0
 * @category models
 */
export interface Bounds {
  /** There are no fewer tokens. */
  readonly atLeast: number
  /** There are no more tokens. */
  readonly atMost: number
}

/**
 * A tool as it is declared to a model.
 *
 * @since 0.1.0
 * @category models
 */
export interface ToolDefinition {
  readonly name: string
  readonly description?: string | undefined
  /** The JSON Schema of its arguments. */
  readonly parameters?: unknown
}

/**
 * @since 0.1.0
 * @category models
 */
export interface Service extends TokenCounter.Service {
  /** Tokens of a text. Special tokens in it are plain text. A long text is counted in slices, between which others run. */
  readonly count: (text: string) => Effect.Effect<number>
  /** Tokens of a text, or none as soon as it is seen to have more than `limit`. */
  readonly countUpTo: (text: string, limit: number) => Effect.Effect<Option.Option<number>>
  /** Bounds of a count, from the length of the text alone. */
  readonly bounds: (text: string) => Bounds
  /** Tokens that tool definitions add to a request. An estimate. */
  readonly countTools: (tools: ReadonlyArray<ToolDefinition>) => Effect.Effect<number>
}

/**
 * Counts by the encoding and the figures of a model.
 *
 * @since 0.1.0
 * @category models
 */
export interface ModelOptions {
  /** Name of the model, such as `gpt-4o` or `gpt-4o-2024-11-20`. */
  readonly model: string
  /** The encoding of a model that is not known. Without it, that is an error. */
  readonly fallback?: Encoding | undefined
  /** Figures to replace those of the model. */
  readonly figures?: Partial<Model.Figures> | undefined
}

/**
 * Counts by an encoding, messages by the figures of chat models.
 *
 * @since 0.1.0
 * @category models
 */
export interface EncodingOptions {
  readonly encoding: Encoding
  /** Figures to replace those of chat models. */
  readonly figures?: Partial<Model.Figures> | undefined
}

/**
 * @since 0.1.0
 * @category models
 */
export interface EstimateOptions {
  /** Name of the model, such as `claude-sonnet-4-5` or `gemini-2.5-pro`. */
  readonly model: string
  /** What a token of `o200k_base` counts as, instead of the family's measured factor. */
  readonly factor?: number | undefined
  /** Figures to replace those of the family. */
  readonly figures?: Partial<Model.Figures> | undefined
}

// =============================================================================
// Errors
// =============================================================================

/**
 * A model whose encoding is not known.
 *
 * @since 0.1.0
 * @category errors
 */
export class UnknownModel
  extends Schema.TaggedError<UnknownModel>("@effect-memory/tiktoken/TiktokenCounter/UnknownModel")(
    "UnknownModel",
    {
      /** What was given. */
      model: Schema.String,
      /** The families that are known. */
      known: Schema.Array(Schema.String)
    }
  )
{
  /**
   * @since 0.1.0
   */
  override get message(): string {
    return `model is "${this.model}", which is not known: give one of ${
      this.known.join(", ")
    }, with or without a date, ` +
      `or give an encoding`
  }
}

// =============================================================================
// Tags
// =============================================================================

/**
 * @since 0.1.0
 * @category tags
 */
export class TiktokenCounter extends Context.Tag("@effect-memory/tiktoken/TiktokenCounter")<
  TiktokenCounter,
  Service
>() {}

// =============================================================================
// Constructors
// =============================================================================

const isByEncoding = (options: ModelOptions | EncodingOptions): options is EncodingOptions =>
  "encoding" in options && options.encoding !== undefined

const resolve = (options: ModelOptions | EncodingOptions): Effect.Effect<Model.Model, UnknownModel> => {
  if (isByEncoding(options)) {
    return Effect.succeed({ family: options.encoding, encoding: options.encoding, figures: Model.chat })
  }
  const { fallback, model } = options
  return Option.match(Model.find(model), {
    onSome: Effect.succeed,
    onNone: () =>
      fallback === undefined
        ? Effect.fail(new UnknownModel({ model, known: Model.known.map((known) => known.family) }))
        : Effect.succeed({ family: fallback, encoding: fallback, figures: Model.chat })
  })
}

/**
 * A counter by the name of a model, or by an encoding. The tables of an encoding are loaded once in a process.
 *
 * Fails with `UnknownModel` where the model is not known and no `fallback` is given, and with `TokenCountError` where the
 * tables cannot be loaded or a figure is no number ≥ 0.
 *
 * @example
 * ```ts
 * import { deepStrictEqual } from "node:assert"
 * import { Effect, Option } from "effect"
 * import { TiktokenCounter } from "@effect-memory/tiktoken"
 *
 * const program = Effect.gen(function*() {
 *   const counter = yield* TiktokenCounter.make({ encoding: "cl100k_base" })
 *   const exact = yield* counter.count("<|endoftext|> is plain text here")
 *   const within = yield* counter.countUpTo("a".repeat(1_000_000), 100)
 *   return { exact, within }
 * })
 *
 * const counts = await Effect.runPromise(program)
 *
 * deepStrictEqual(counts, { exact: 11, within: Option.none() })
 * ```
 *
 * @since 0.1.0
 * @category constructors
 */
export const make: (
  options: ModelOptions | EncodingOptions
) => Effect.Effect<Service, UnknownModel | TokenCountError> = Effect.fn("TiktokenCounter.make")(function*(options) {
  const model = yield* resolve(options)
  const encoder = yield* load(model.encoding)
  return yield* makeService({
    name: `tiktoken/${model.family}`,
    encoder,
    factor: 1,
    figures: model.figures,
    replaced: options.figures
  })
})

/**
 * An estimating counter for models whose tokenizer is not public, of the families `claude` and `gemini`: the count of
 * `o200k_base` times a factor that was measured on billed requests. Counts that have to hold should come from the provider.
 *
 * Fails with `UnknownModel` where the model is of another family, and with `TokenCountError` where the tables cannot be
 * loaded or a figure is no number ≥ 0.
 *
 * @since 0.1.0
 * @category constructors
 */
export const makeEstimate: (
  options: EstimateOptions
) => Effect.Effect<Service, UnknownModel | TokenCountError> = Effect.fn("TiktokenCounter.makeEstimate")(
  function*({ factor, figures, model }) {
    const estimate = yield* Effect.mapError(
      Model.findEstimate(model),
      () => new UnknownModel({ model, known: Model.estimated.map((known) => known.family) })
    )
    const encoder = yield* load(estimate.encoding)
    const used = factor ?? estimate.factor
    return yield* makeService({
      name: `estimate/${estimate.family}*${used}`,
      encoder,
      factor: used,
      figures: estimate.figures,
      replaced: figures
    })
  }
)

// =============================================================================
// Layers
// =============================================================================

/**
 * {@link make} as a layer, for the `TokenCounter` of the memory and for what only this counter can do.
 *
 * @since 0.1.0
 * @category layers
 */
export const layer = (
  options: ModelOptions | EncodingOptions
): Layer.Layer<TokenCounter.TokenCounter | TiktokenCounter, UnknownModel | TokenCountError> =>
  Layer.effectContext(
    Effect.map(make(options), (counter) =>
      Context.make(TiktokenCounter, counter).pipe(Context.add(TokenCounter.TokenCounter, counter)))
  )

/**
 * {@link layer} with options from the configuration.
 *
 * @example
 * ```ts
 * import { strictEqual } from "node:assert"
 * import { Config, ConfigProvider, Effect, Layer } from "effect"
 * import { TokenCounter } from "effect-memory"
 * import { TiktokenCounter } from "@effect-memory/tiktoken"
 *
 * const counter = TiktokenCounter.layerConfig({ model: Config.string("MODEL") }).pipe(
 *   Layer.provide(Layer.setConfigProvider(ConfigProvider.fromMap(new Map([["MODEL", "gpt-4o"]]))))
 * )
 *
 * const id = await Effect.runPromise(
 *   Effect.provide(Effect.map(TokenCounter.TokenCounter, (counter) => counter.id), counter)
 * )
 *
 * strictEqual(id, "tiktoken/gpt-4o")
 * ```
 *
 * @since 0.1.0
 * @category layers
 */
export const layerConfig = (
  options: Config.Config.Wrap<ModelOptions> | Config.Config.Wrap<EncodingOptions>
): Layer.Layer<TokenCounter.TokenCounter | TiktokenCounter, UnknownModel | TokenCountError | ConfigError> =>
  Layer.unwrapEffect(Effect.map(Config.unwrap<ModelOptions | EncodingOptions>(options), layer))

/**
 * {@link makeEstimate} as a layer.
 *
 * @since 0.1.0
 * @category layers
 */
export const layerEstimate = (
  options: EstimateOptions
): Layer.Layer<TokenCounter.TokenCounter, UnknownModel | TokenCountError> =>
  Layer.effect(TokenCounter.TokenCounter, makeEstimate(options))
