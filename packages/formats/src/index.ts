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
 * Gemini contents.
 *
 * @since 0.1.0
 */
export * as Gemini from "./Gemini.js"
/**
 * Sessions of the Gemini CLI.
 *
 * @since 0.1.0
 */
export * as GeminiCli from "./GeminiCli.js"
/**
 * Messages of LangChain and LangGraph.
 *
 * @since 0.1.0
 */
export * as LangChain from "./LangChain.js"
/**
 * mini-swe-agent trajectories.
 *
 * @since 0.1.0
 */
export * as MiniSweAgent from "./MiniSweAgent.js"
/**
 * MT-bench questions and answers.
 *
 * @since 0.1.0
 */
export * as MtBench from "./MtBench.js"
/**
 * Our own format: one encoded message a line.
 *
 * @since 0.1.0
 */
export * as Native from "./Native.js"
/**
 * OpenAssistant trees.
 *
 * @since 0.1.0
 */
export * as Oasst from "./Oasst.js"
/**
 * OpenAI Chat Completions.
 *
 * @since 0.1.0
 */
export * as OpenAiChat from "./OpenAiChat.js"
/**
 * OpenAI Responses.
 *
 * @since 0.1.0
 */
export * as OpenAiResponses from "./OpenAiResponses.js"
/**
 * OpenHands trajectories.
 *
 * @since 0.1.0
 */
export * as OpenHands from "./OpenHands.js"
/**
 * Sessions of the pi coding agent.
 *
 * @since 0.1.0
 */
export * as Pi from "./Pi.js"
/**
 * ShareGPT conversations.
 *
 * @since 0.1.0
 */
export * as ShareGpt from "./ShareGpt.js"
/**
 * SWE-agent trajectories.
 *
 * @since 0.1.0
 */
export * as SweAgent from "./SweAgent.js"
/**
 * tau-bench trajectories.
 *
 * @since 0.1.0
 */
export * as TauBench from "./TauBench.js"
/**
 * `ModelMessage`s of the Vercel AI SDK.
 *
 * @since 0.1.0
 */
export * as VercelModel from "./VercelModel.js"
/**
 * `UIMessage`s of the Vercel AI SDK.
 *
 * @since 0.1.0
 */
export * as VercelUi from "./VercelUi.js"
