/**
 * What can be chosen by name on the command line. What the names stand for is loaded on use.
 */

/** @internal */
export const choices = {
  strategy: ["window", "truncate", "summarize", "cascade"],
  provider: ["pairing", "anthropic", "openai", "gemini", "strict", "none"],
  by: ["message", "round", "role", "part"]
} as const

/** @internal */
export type StrategyName = (typeof choices.strategy)[number]

/** @internal */
export type ProviderName = (typeof choices.provider)[number]

/** @internal */
export const aliases = { provider: "rules" } as const
