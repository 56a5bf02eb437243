/**
 * Usage figures of the Vercel AI SDK: cached tokens are among `inputTokens`.
 */
import * as envelope from "./envelope.js"

/** @internal */
export const usage = (value: unknown) =>
  envelope.usage(value, { input: ["inputTokens"], output: ["outputTokens"], at: "usage" })
