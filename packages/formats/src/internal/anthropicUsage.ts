/**
 * Usage figures of Anthropic: cached tokens are not among `input_tokens`.
 */
import * as envelope from "./envelope.js"

/** @internal */
export const usage = (value: unknown) =>
  envelope.usage(value, {
    input: ["input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens"],
    output: ["output_tokens"],
    at: "usage"
  })
