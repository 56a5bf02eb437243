/**
 * What can be chosen by name on the command line.
 */
import * as Format from "@effect-memory/formats/Format"
import * as Layer from "effect/Layer"
import * as TokenCounter from "effect-memory/TokenCounter"
import * as TrimStrategy from "effect-memory/TrimStrategy"

/** @internal */
export const counters = {
  characters: TokenCounter.layerCharacters
}

/** @internal */
export type CounterName = keyof typeof counters

/** @internal */
export const counterNames: ReadonlyArray<CounterName> = ["characters"]

/** @internal */
export const strategies = {
  window: Layer.succeed(TrimStrategy.TrimStrategy, TrimStrategy.windowDrop())
}

/** @internal */
export type StrategyName = keyof typeof strategies

/** @internal */
export const strategyNames: ReadonlyArray<StrategyName> = ["window"]

/** @internal */
export const formatNames: ReadonlyArray<string> = Format.all.map(({ id }) => id)
