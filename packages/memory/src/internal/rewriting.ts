/**
 * Strategies that rewrite messages in place, oldest first, until enough is won.
 */
import * as Effect from "effect/Effect"
import type { TokenCountError } from "../MemoryError.js"
import type * as Message from "../Message.js"
import type * as TrimStrategy from "../TrimStrategy.js"
import * as window from "./window.js"
import { limitsOf, linesOf, type SystemRule } from "./windowDrop.js"

/** What rewritten messages were made from. */
const sources = new WeakMap<Message.Message, Message.Message>()

/** A message as it was before strategies rewrote it. @internal */
export const originalOf = (message: Message.Message): Message.Message => {
  const source = sources.get(message)
  return source === undefined ? message : originalOf(source)
}

/** A rewriting that is done once for each message. @internal */
export const remembered = <E>(
  rewrite: (message: Message.Message) => Effect.Effect<Message.Message, E>
): (message: Message.Message) => Effect.Effect<Message.Message, E> => {
  const done = new WeakMap<Message.Message, Message.Message>()
  return (message) =>
    Effect.suspend(() => {
      const known = done.get(message)
      return known !== undefined ? Effect.succeed(known) : Effect.map(rewrite(message), (rewritten) => {
        done.set(message, rewritten)
        if (rewritten !== message) sources.set(rewritten, message)
        return rewritten
      })
    })
}

/** Tokens that must go, in whole steps below the budget where there is a target. @internal */
export const tokensToWin = (
  input: TrimStrategy.TrimInput,
  system: SystemRule,
  target: window.Target
): number => {
  const limits = limitsOf(input.budget)
  const tokens = linesOf(input, system).reduce((sum, line) => sum + line.tokens, input.counter.overhead)
  return window.stepped({ tokens: tokens - limits.tokens, rounds: -Infinity }, limits, target).tokens
}

/**
 * Rewrites the candidates in order until `wanted` tokens are won. Where all of them win less than `minimum`, nothing is
 * rewritten.
 *
 * @internal
 */
export const rewriteUntil = Effect.fnUntraced(function*(
  input: TrimStrategy.TrimInput,
  candidates: ReadonlyArray<number>,
  rewrite: (message: Message.Message) => Effect.Effect<Message.Message, TokenCountError>,
  wanted: number,
  minimum: number,
  action: Omit<TrimStrategy.TrimAction, "index">
): Effect.fn.Return<TrimStrategy.TrimResult, TokenCountError> {
  const messages = input.messages.slice()
  const actions: Array<TrimStrategy.TrimAction> = []
  let won = 0
  // Rounds over their limit are nothing that rewriting could help.
  if (wanted <= 0) return unchanged(input)
  for (const index of candidates) {
    if (won >= Math.max(wanted, minimum)) break
    const rewritten = yield* rewrite(input.messages[index])
    const saved = input.counts[index] - (yield* input.counter.countMessage(rewritten))
    if (saved <= 0) continue
    won += saved
    messages[index] = rewritten
    actions.push({ ...action, index })
  }
  return won === 0 || won < minimum
    ? unchanged(input)
    : { messages, replace: false, origin: indicesOf(input), actions }
})

const unchanged = (input: TrimStrategy.TrimInput): TrimStrategy.TrimResult => ({
  messages: input.messages,
  replace: false,
  origin: indicesOf(input)
})

const indicesOf = (input: TrimStrategy.TrimInput): ReadonlyArray<number> => input.messages.map((_, i) => i)
