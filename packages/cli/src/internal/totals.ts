/**
 * Tokens of sequences.
 */
import * as Effect from "effect/Effect"
import type { TokenCountError } from "effect-memory/MemoryError"
import type * as Message from "effect-memory/Message"
import type * as TokenCounter from "effect-memory/TokenCounter"

/** @internal */
export const total = (
  counter: TokenCounter.Service,
  messages: ReadonlyArray<Message.Message>
): Effect.Effect<number, TokenCountError> =>
  Effect.reduce(messages, 0, (sum, message) => Effect.map(counter.countMessage(message), (tokens) => sum + tokens))

/**
 * Tokens of a whole conversation by the service of the counter, where there is one and it answers.
 *
 * @internal
 */
export const exactly = (
  { countConversation }: TokenCounter.Service,
  messages: ReadonlyArray<Message.Message>
): Effect.Effect<{ readonly exact?: number }> =>
  countConversation === undefined
    ? Effect.succeed({})
    : Effect.match(countConversation(messages), { onFailure: () => ({}), onSuccess: (exact) => ({ exact }) })

/**
 * Counts each message once: who shows a memory counts what the memory counts.
 *
 * @internal
 */
export const remembering = (counter: TokenCounter.Service): TokenCounter.Service => {
  const known = new WeakMap<Message.Message, number>()
  return {
    ...counter,
    countMessage: (message) =>
      Effect.suspend(() => {
        const tokens = known.get(message)
        return tokens === undefined
          ? Effect.tap(counter.countMessage(message), (tokens) => Effect.sync(() => known.set(message, tokens)))
          : Effect.succeed(tokens)
      })
  }
}
