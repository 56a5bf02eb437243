/**
 * Usage figures of LangChain: cached tokens are among `input_tokens`.
 */
import * as envelope from "./envelope.js"

/** @internal */
export const usage = (value: unknown) =>
  envelope.usage(value, { input: ["input_tokens"], output: ["output_tokens"], at: "usage_metadata" })
