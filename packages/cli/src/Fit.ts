/**
 * Brings a recorded conversation within a budget, as a memory would have it before the next reply.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Memory from "effect-memory/Memory"
import type * as MemoryError from "effect-memory/MemoryError"
import type * as Message from "effect-memory/Message"
import * as TokenCounter from "effect-memory/TokenCounter"
import * as TrimStrategy from "effect-memory/TrimStrategy"
import { Written } from "./Convert.js"
import * as contents from "./internal/contents.js"
import { exactly, total } from "./internal/totals.js"
import { record, Size } from "./Replay.js"

/**
 * What became of a conversation.
 *
 * @since 0.1.0
 * @category models
 */
export const Figures = Schema.Struct({
  /** Everything that was recorded. */
  recorded: Size,
  /** What is left. */
  context: Size,
  /** What is neither left nor summarized. Of tokens, those that it is smaller by. */
  leftOut: Size,
  /** Messages that a summary stands for. */
  summarized: Schema.Number,
  /** Results in whose place stands a placeholder. */
  cleared: Schema.Number,
  /** Parts of which only head and tail are left. */
  shortened: Schema.Number,
  /** Tokens that the strategy charges to the budget. */
  charged: Schema.Number,
  /** Tokens of what is left as the service of the counter counts the whole of it. None where there is no answer. */
  exact: Schema.optional(Schema.Number)
})

/**
 * @since 0.1.0
 * @category models
 */
export type Figures = typeof Figures.Type

/**
 * A conversation that was brought within its budget and written.
 *
 * @since 0.1.0
 * @category models
 */
export const Report = Schema.TaggedStruct("Fitted", {
  ...Written.fields,
  strategy: Schema.String,
  maxTokens: Schema.Number,
  /** Whose rules it was repaired by. */
  rules: Schema.String,
  ...Figures.fields
})

/**
 * @since 0.1.0
 * @category models
 */
export type Report = typeof Report.Type

/**
 * A conversation that was brought within its budget.
 *
 * @since 0.1.0
 * @category models
 */
export interface Fitted {
  readonly messages: ReadonlyArray<Message.Message>
  readonly figures: Figures
}

/**
 * What a model would be sent after these messages. A message that `Native.isProtected` stays.
 *
 * The memory must be empty, and nobody else may use it. Fails as the memory does.
 *
 * @since 0.1.0
 * @category fitting
 */
export const fit = Effect.fnUntraced(function*(
  messages: ReadonlyArray<Message.Message>
): Effect.fn.Return<
  Fitted,
  Memory.ContextError | MemoryError.InvalidMessage,
  Memory.Memory | TokenCounter.TokenCounter | TrimStrategy.TrimStrategy
> {
  const memory = yield* Memory.Memory
  const counter = yield* TokenCounter.TokenCounter
  const { system } = yield* TrimStrategy.TrimStrategy
  yield* record(messages)
  const context = yield* memory.context

  const known = contents.recorded(messages)
  const held = known.contents(context)
  const all: Size = {
    messages: messages.length,
    rounds: known.rounds(messages.length),
    tokens: counter.overhead + (yield* total(counter, messages))
  }
  const left: Size = {
    messages: context.length,
    rounds: held.rounds,
    tokens: counter.overhead + (yield* total(counter, context))
  }
  const exact = yield* exactly(counter, context)
  const free = system === "free" ? context.filter(({ role }) => role === "system") : []
  return {
    messages: context,
    figures: {
      recorded: all,
      context: left,
      leftOut: contents.leftOut(all, left, held),
      summarized: held.summarized.messages,
      cleared: held.cleared,
      shortened: held.shortened,
      charged: left.tokens - (yield* total(counter, free)),
      ...exact
    }
  }
})
