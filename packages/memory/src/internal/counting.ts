/**
 * Counting each message once: counts are kept by reference.
 */
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Exit from "effect/Exit"
import type { LazyArg } from "effect/Function"
import { TokenCountError } from "../MemoryError.js"
import type * as Message from "../Message.js"
import type * as TokenCounter from "../TokenCounter.js"
import type { Counts } from "./view.js"

/** How many messages are counted at a time where counting waits for a service. */
const concurrency = 8

/**
 * A counter that remembers what it has counted, and a count that it was asked for and that is not had yet: whoever asks
 * next is answered by that one.
 *
 * @internal
 */
export const remembering = (counter: TokenCounter.Service, counts: Counts): TokenCounter.Service => {
  const pending = new WeakMap<Message.Message, Effect.Effect<number, TokenCountError>>()

  const count = (message: Message.Message): Effect.Effect<number, TokenCountError> => {
    const counted = chain(guarded(counter.id, () => counter.countMessage(message)), (tokens) => {
      if (!isCount(tokens)) return notACount(counter.id, tokens)
      counts.set(message, tokens)
      return Exit.succeed(tokens)
    })
    if (answerOf(counted) !== undefined) return counted
    const asked = Effect.ensuring(counted, Effect.sync(() => pending.delete(message)))
    pending.set(message, asked)
    return asked
  }

  return {
    ...counter,
    countMessage: (message) => {
      const known = counts.get(message)
      return known !== undefined ? Exit.succeed(known) : pending.get(message) ?? count(message)
    }
  }
}

const isDone = <A, E>(self: Effect.Effect<A, E>): self is Exit.Exit<A, E> => Exit.isExit(self)

/**
 * What an effect answers, where it is an answer already.
 *
 * @internal
 */
export const answerOf = <A, E>(self: Effect.Effect<A, E>): A | undefined =>
  isDone(self) && Exit.isSuccess(self) ? self.value : undefined

/**
 * `Effect.flatMap`, at once where the first effect is an answer already: a count that is there takes no steps of a fiber.
 *
 * @internal
 */
export const chain = <A, B, E>(
  self: Effect.Effect<A, E>,
  f: (a: A) => Effect.Effect<B, E>
): Effect.Effect<B, E> => isDone(self) && Exit.isSuccess(self) ? f(self.value) : Effect.flatMap(self, f)

/**
 * A counter may be anyone's, and one that throws would do so at each context: that is a failure like others.
 *
 * @internal
 */
export const guarded = (
  counter: string,
  count: LazyArg<Effect.Effect<number, TokenCountError>>
): Effect.Effect<number, TokenCountError> => {
  const died = (cause: unknown) => new TokenCountError({ counter, reason: "it died, see the cause", cause })
  return Either.match(Either.try({ try: count, catch: died }), {
    onLeft: Exit.fail,
    onRight: (asked) =>
      isDone(asked) && Exit.isSuccess(asked)
        ? asked
        : Effect.catchAllDefect(asked, (defect) => Exit.fail(died(defect)))
  })
}

/** Any other number would switch the budget off without a word. @internal */
export const isCount = (tokens: number): boolean => Number.isFinite(tokens) && tokens >= 0

/** @internal */
export const notACount = (counter: string, tokens: number): Exit.Exit<never, TokenCountError> =>
  Exit.fail(
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
