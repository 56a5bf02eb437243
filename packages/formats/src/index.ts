/** What a format is made of. */
export * as Codec from "./Codec.js"
/** One conversation as it stands in a file. */
export * as Conversation from "./Conversation.js"
/** Reads and writes transcripts in any known format. */
export * as Format from "./Format.js"
/** What can go wrong when transcripts are read or written. */
export * as FormatError from "./FormatError.js"
/** Our own format: one encoded message a line. */
export * as Native from "./Native.js"
/** OpenAI Chat Completions. */
export * as OpenAiChat from "./OpenAiChat.js"
