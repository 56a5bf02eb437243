/**
 * Counting each message once: counts are kept by reference.
 */
import * as Effect from "effect/Effect"
import { TokenCountError } from "../MemoryError.js"
import type * as Message from "../Message.js"
import type * as TokenCounter from "../TokenCounter.js"
import type { Counts } from "./view.js"

/** How many messages are counted at a time where counting waits for a service. */
const concurrency = 8

/** A counter that remembers what it has counted. @internal */
export const remembering = (counter: TokenCounter.Service, counts: Counts): TokenCounter.Service => ({
  ...counter,
  countMessage: Effect.fnUntraced(function*(message) {
    const known = counts.get(message)
    if (known !== undefined) return known
    const tokens = yield* counter.countMessage(message)
    if (!isCount(tokens)) return yield* notACount(counter.id, tokens)
    counts.set(message, tokens)
    return tokens
  })
})

/** Any other number would switch the budget off without a word. @internal */
export const isCount = (tokens: number): boolean => Number.isFinite(tokens) && tokens >= 0

/** @internal */
export const notACount = (counter: string, tokens: number): Effect.Effect<never, TokenCountError> =>
  Effect.fail(
    new TokenCountError({ counter, reason: `it answered ${tokens}: a count is a finite number of at least 0` })
  )

/** Counts messages; what was counted before a failure is kept. @internal */
export const countAll = (
  counter: TokenCounter.Service,
  messages: ReadonlyArray<Message.Message>
): Effect.Effect<ReadonlyArray<number>, TokenCountError> =>
  messages.length === 1
    ? Effect.map(counter.countMessage(messages[0]), (tokens) => [tokens])
    : Effect.forEach(messages, (message) => counter.countMessage(message), { concurrency })
