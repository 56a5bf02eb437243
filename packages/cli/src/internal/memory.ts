/**
 * Memories as they are chosen on the command line.
 */
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Memory from "effect-memory/Memory"
import type { InvalidBudget } from "effect-memory/MemoryError"
import * as MemoryStore from "effect-memory/MemoryStore"
import type * as Summarizer from "effect-memory/Summarizer"
import * as TokenCounter from "effect-memory/TokenCounter"
import type * as TrimStrategy from "effect-memory/TrimStrategy"
import * as choices from "./choices.js"
import type { ProviderName, StrategyName } from "./names.js"

/** @internal */
export interface Options {
  readonly strategy: StrategyName
  readonly maxTokens: number
  readonly maxRounds: Option.Option<number>
  readonly target: Option.Option<number>
  readonly provider: ProviderName
}

/**
 * A memory with a store of its own, and what it is made of.
 *
 * @internal
 */
export const layer = (
  { maxRounds, maxTokens, provider, strategy, target }: Options,
  counter: TokenCounter.Service,
  summarizer?: Summarizer.Service
): Layer.Layer<Memory.Memory | TrimStrategy.TrimStrategy | TokenCounter.TokenCounter, InvalidBudget> =>
  Memory.layer({ maxTokens, maxRounds: Option.getOrUndefined(maxRounds), rules: provider }).pipe(
    Layer.provide(MemoryStore.layerMemory),
    Layer.provideMerge(choices.strategy(strategy, { maxTokens, target: Option.getOrUndefined(target) }, summarizer)),
    Layer.provideMerge(Layer.succeed(TokenCounter.TokenCounter, counter))
  )
