/**
 * What can be chosen by name on the command line. What the names stand for is loaded on use.
 */

/** What can be checked by. @internal */
export const rules = ["pairing", "anthropic", "openai", "gemini", "strict"] as const

/** @internal */
export const choices = {
  strategy: ["window", "truncate", "summarize", "cascade"],
  provider: [...rules, "none"],
  by: ["message", "round", "role", "part"],
  format: [
    "anthropic-messages",
    "claude-code",
    "gemini",
    "gemini-cli",
    "langchain",
    "mini-swe-agent",
    "mt-bench",
    "native",
    "oasst",
    "openai-chat",
    "openai-responses",
    "openhands",
    "pi",
    "sharegpt",
    "swe-agent",
    "tau-bench",
    "vercel-model",
    "vercel-ui"
  ]
} as const

/** @internal */
export type StrategyName = (typeof choices.strategy)[number]

/** @internal */
export type ProviderName = (typeof choices.provider)[number]

/** @internal */
export type FormatName = (typeof choices.format)[number]

/** @internal */
export const aliases = { provider: "rules" } as const

/** @internal */
export const commands = ["replay", "fit", "count", "check", "convert", "formats"] as const
