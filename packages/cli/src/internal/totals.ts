/**
 * Tokens of sequences.
 */
import * as Effect from "effect/Effect"
import type { TokenCountError } from "effect-memory/MemoryError"
import type * as Message from "effect-memory/Message"
import type * as TokenCounter from "effect-memory/TokenCounter"

/**
 * Counts each message once.
 *
 * @internal
 */
export const totaller = (counter: TokenCounter.Service) => {
  const known = new WeakMap<Message.Message, number>()
  const count = (message: Message.Message): Effect.Effect<number, TokenCountError> => {
    const tokens = known.get(message)
    return tokens === undefined
      ? Effect.tap(counter.countMessage(message), (tokens) => known.set(message, tokens))
      : Effect.succeed(tokens)
  }
  return (messages: ReadonlyArray<Message.Message>): Effect.Effect<number, TokenCountError> =>
    Effect.reduce(messages, 0, (sum, message) => Effect.map(count(message), (tokens) => sum + tokens))
}
