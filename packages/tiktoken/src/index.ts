/**
 * OpenAI's encodings by name.
 *
 * @since 0.1.0
 */
export * as Encoding from "./Encoding.js"

/**
 * What is known of models by family: their encoding, and what a request costs beside its text. The latter are estimates,
 * measured on billed requests or published; they can be given anew where they are used.
 *
 * @since 0.1.0
 */
export * as Model from "./Model.js"

/**
 * A `TokenCounter` that counts text exactly as OpenAI's tiktoken does, and messages as they are billed.
 *
 * @since 0.1.0
 */
export * as TiktokenCounter from "./TiktokenCounter.js"
