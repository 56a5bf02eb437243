/**
 * OpenAI's encodings by name.
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"

/**
 * An encoding: how text is split and merged into tokens. `o200k_harmony` counts text as `o200k_base` does, since they
 * differ in special tokens only, which text never has: it is counted as it stands.
 *
 * @example
 * ```ts
 * import { ok } from "node:assert"
 * import { Encoding } from "@effect-memory/tiktoken"
 *
 * ok(Encoding.Encoding.literals.includes("o200k_base"))
 * ```
 *
 * @since 0.1.0
 * @category schemas
 */
export const Encoding: Schema.Literal<
  ["o200k_base", "o200k_harmony", "cl100k_base", "p50k_base", "p50k_edit", "r50k_base", "gpt2"]
> = Schema.Literal("o200k_base", "o200k_harmony", "cl100k_base", "p50k_base", "p50k_edit", "r50k_base", "gpt2")

/**
 * @since 0.1.0
 * @category models
 */
export type Encoding = typeof Encoding.Type
