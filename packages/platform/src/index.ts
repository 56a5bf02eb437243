/**
 * Summarizes with a model of Anthropic, by `POST /v1/messages`.
 *
 * @since 0.1.0
 */
export * as AnthropicSummarizer from "./AnthropicSummarizer.js"

/**
 * Counts conversations as Anthropic does, by `POST /v1/messages/count_tokens`, which is free and has a limit of its own.
 *
 * @since 0.1.0
 */
export * as AnthropicTokenCounter from "./AnthropicTokenCounter.js"

/**
 * Summarizes with a model of Gemini, by `POST /v1beta/models/{model}:generateContent`.
 *
 * @since 0.1.0
 */
export * as GeminiSummarizer from "./GeminiSummarizer.js"

/**
 * Counts conversations as Gemini does, by `POST /v1beta/models/{model}:countTokens` with the system prompt and the tools.
 *
 * @since 0.1.0
 */
export * as GeminiTokenCounter from "./GeminiTokenCounter.js"

/**
 * A `MemoryStore` over the `KeyValueStore` of `@effect/platform`: in memory, in a directory, in the storage of a browser.
 *
 * @since 0.1.0
 */
export * as KeyValueMemoryStore from "./KeyValueMemoryStore.js"

/**
 * Counts conversations as a llama.cpp server does, by `POST /v1/chat/completions/input_tokens`.
 *
 * @since 0.1.0
 */
export * as LlamaCppTokenCounter from "./LlamaCppTokenCounter.js"

/**
 * Summarizes with a model of OpenAI, or of any server that speaks chat completions: vLLM, llama.cpp, Ollama, LM Studio and
 * others by their `baseUrl`. Asks by `POST /chat/completions`.
 *
 * @since 0.1.0
 */
export * as OpenAiSummarizer from "./OpenAiSummarizer.js"

/**
 * Counts conversations as OpenAI does, by `POST /v1/responses/input_tokens`.
 *
 * @since 0.1.0
 */
export * as OpenAiTokenCounter from "./OpenAiTokenCounter.js"

/**
 * Metrics of all remote calls of the process. The only labels are `service` and `kind`, from fixed sets.
 *
 * @since 0.1.0
 */
export * as PlatformMetrics from "./PlatformMetrics.js"

/**
 * What can go wrong between a program and a remote service. No error carries a key, or anything that was sent or answered.
 *
 * @since 0.1.0
 */
export * as RemoteError from "./RemoteError.js"

/**
 * How a remote service is asked: how often, how long, how fast, and when no more.
 *
 * @since 0.1.0
 */
export * as RemotePolicy from "./RemotePolicy.js"

/**
 * What the counters of all services have in common.
 *
 * @since 0.1.0
 */
export * as RemoteTokenCounter from "./RemoteTokenCounter.js"

/**
 * Counts conversations as Text Generation Inference does, by `POST /chat_tokenize` with the chat template of the model.
 *
 * @since 0.1.0
 */
export * as TgiTokenCounter from "./TgiTokenCounter.js"

/**
 * Counts conversations as a vLLM server does, by `POST /tokenize` with the chat template of the model.
 *
 * @since 0.1.0
 */
export * as VllmTokenCounter from "./VllmTokenCounter.js"
