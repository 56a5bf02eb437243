/**
 * What the names on the command line stand for.
 */
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Summarizer from "effect-memory/Summarizer"
import type * as TokenCounter from "effect-memory/TokenCounter"
import * as TrimStrategy from "effect-memory/TrimStrategy"
import type { StrategyName } from "./names.js"

/** @internal */
export interface Aim {
  /** The budget. */
  readonly maxTokens: number
  /** How far to trim. */
  readonly target: number | undefined
}

/** A fifth of a small budget is enough, or the summary would take the place of all else. */
const summarize = ({ maxTokens, target }: Aim) =>
  TrimStrategy.summarize({ target, maxSummaryTokens: Math.min(1024, Math.max(1, Math.floor(maxTokens / 5))) })

const clear = ({ target }: Aim): TrimStrategy.Service => TrimStrategy.clearToolResults({ target })

/** No part takes more than a tenth of the budget. */
const shorten = ({ maxTokens, target }: Aim): TrimStrategy.Service =>
  TrimStrategy.shortenParts({ target, maxTokens: Math.max(50, Math.floor(maxTokens / 10)) })

const strategies: {
  readonly [Name in StrategyName]: (aim: Aim) => Effect.Effect<TrimStrategy.Service, never, Summarizer.Summarizer>
} = {
  window: ({ target }) => Effect.succeed(TrimStrategy.windowDrop({ target })),
  truncate: ({ target }) => Effect.succeed(TrimStrategy.truncate({ target })),
  summarize,
  cascade: (aim) => Effect.map(summarize(aim), (last) => TrimStrategy.cascade(clear(aim), shorten(aim), last))
}

/**
 * A strategy by name. Where there is no summarizer, summaries are made without a model.
 *
 * @internal
 */
export const strategy = (
  name: StrategyName,
  aim: Aim,
  summarizer?: Summarizer.Service
): Layer.Layer<TrimStrategy.TrimStrategy, never, TokenCounter.TokenCounter> =>
  Layer.effect(TrimStrategy.TrimStrategy, strategies[name](aim)).pipe(
    Layer.provide(
      summarizer === undefined ? Summarizer.layerExtractive : Layer.succeed(Summarizer.Summarizer, summarizer)
    )
  )
