/**
 * What tests of summaries need: memories and windows over a scripted summarizer, and summaries in words.
 */
import { Context, Effect, Layer } from "effect"
import { ContextWindow, type MemoryError, type Message, Summarizer, TokenCounter, TrimStrategy } from "effect-memory"
import { makeMemory, type MemoryParts, texts } from "./utilities.js"

export type Reply = string | Effect.Effect<string, MemoryError.SummarizeError>

/** What stands before the text of every summary. */
export const prefix = "Summary of prior context:\n"

/** Where a summary says that it comes from; nothing for other messages. */
export const provenanceOf = (message: Message.Message): Record<string, unknown> | undefined =>
  message.options["effect-memory"]?.["summary"] as Record<string, unknown> | undefined

/** Each message in a word; a summary as `<text>`. */
export const words = (messages: ReadonlyArray<Message.Message>): ReadonlyArray<string> =>
  messages.map((message, i) =>
    provenanceOf(message) === undefined ? texts(messages)[i] : `<${texts([message])[0].slice(prefix.length)}>`
  )

/** A strategy that summarizes with these replies, and what its summarizer was asked. */
export const scripted = Effect.fnUntraced(function*(
  replies: ReadonlyArray<Reply>,
  options?: TrimStrategy.SummarizeOptions
) {
  const context = yield* Layer.build(Summarizer.layerTest(replies))
  const strategy = yield* Effect.provide(TrimStrategy.summarize(options), context)
  return { strategy, requests: Context.get(context, Summarizer.TestRequests).requests }
})

/** A memory that summarizes with these replies, and what its summarizer was asked. */
export const makeSummarizing = Effect.fnUntraced(function*(
  replies: ReadonlyArray<Reply>,
  { summarize, ...parts }: Omit<MemoryParts, "strategy"> & {
    readonly summarize?: TrimStrategy.SummarizeOptions | undefined
  }
) {
  const { requests, strategy } = yield* scripted(replies, summarize)
  return { requests, memory: yield* makeMemory({ ...parts, strategy }) }
})

/** Four bytes are no more than four: every byte is a token. Framing as chat models have it. */
export const bytes: TokenCounter.Service = TokenCounter.make({
  id: "bytes",
  count: (text) => Effect.succeed(new TextEncoder().encode(text).length),
  messageOverhead: 4,
  overhead: 2
})

/** A window over bytes and dropped groups, unless others are given. */
export const makeWindow = (
  maxTokens: number,
  strategy: TrimStrategy.Service = TrimStrategy.truncate(),
  counter: TokenCounter.Service = bytes
) =>
  ContextWindow.make({ maxTokens }).pipe(
    Effect.provideService(TokenCounter.TokenCounter, counter),
    Effect.provideService(TrimStrategy.TrimStrategy, strategy)
  )
