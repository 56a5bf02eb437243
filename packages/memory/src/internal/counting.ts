/**
 * Counting each message once: counts are kept by reference.
 */
import * as Effect from "effect/Effect"
import type { TokenCountError } from "../MemoryError.js"
import type * as Message from "../Message.js"
import type * as TokenCounter from "../TokenCounter.js"
import type { Counts } from "./view.js"

/** How many messages are counted at a time where counting waits for a service. */
const concurrency = 8

/** A counter that remembers what it has counted. @internal */
export const remembering = (counter: TokenCounter.Service, counts: Counts): TokenCounter.Service => ({
  ...counter,
  countMessage: (message) =>
    Effect.suspend(() => {
      const known = counts.get(message)
      return known !== undefined
        ? Effect.succeed(known)
        : Effect.tap(counter.countMessage(message), (tokens) => Effect.sync(() => counts.set(message, tokens)))
    })
})

/** Counts messages; what was counted before a failure is kept. @internal */
export const countAll = (
  counter: TokenCounter.Service,
  messages: ReadonlyArray<Message.Message>
): Effect.Effect<ReadonlyArray<number>, TokenCountError> =>
  messages.length === 1
    ? Effect.map(counter.countMessage(messages[0]), (tokens) => [tokens])
    : Effect.forEach(messages, (message) => counter.countMessage(message), { concurrency })
