/**
 * Anthropic Messages.
 *
 * @since 0.1.0
 */
export * as AnthropicMessages from "./AnthropicMessages.js"
/**
 * Session files of Claude Code.
 *
 * @since 0.1.0
 */
export * as ClaudeCode from "./ClaudeCode.js"
/**
 * What a format is made of.
 *
 * @since 0.1.0
 */
export * as Codec from "./Codec.js"
/**
 * One conversation as it stands in a file.
 *
 * @since 0.1.0
 */
export * as Conversation from "./Conversation.js"
/**
 * Reads and writes transcripts in any known format.
 *
 * @since 0.1.0
 */
export * as Format from "./Format.js"
/**
 * What can go wrong when transcripts are read or written.
 *
 * @since 0.1.0
 */
export * as FormatError from "./FormatError.js"
/**
 * Our own format: one encoded message a line.
 *
 * @since 0.1.0
 */
export * as Native from "./Native.js"
/**
 * OpenAI Chat Completions.
 *
 * @since 0.1.0
 */
export * as OpenAiChat from "./OpenAiChat.js"
