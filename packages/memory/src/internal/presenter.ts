/**
 * Contexts in the form that a provider takes.
 */
import * as Effect from "effect/Effect"
import * as Ref from "effect/Ref"
import type * as Budget from "../Budget.js"
import type { TokenCountError } from "../MemoryError.js"
import type * as Message from "../Message.js"
import { countAll } from "./counting.js"
import { reuse } from "./forms.js"
import { repairContext } from "./repairProvider.js"
import type { Repaired } from "./repairRound.js"
import type { Rules } from "./rules.js"
import type { Session } from "./session.js"
import type { Fitted, Trimmer } from "./trimmer.js"

/** How often a context is trimmed further because its repaired form is over the budget. */
const attempts = 4

/**
 * What the rules of a provider make of a fitted context, within the budget less some tokens where that can be had.
 *
 * @internal
 */
export type Present = Trimmer["fit"]

/** @internal */
export const make = Effect.fnUntraced(function*(
  trimmer: Trimmer,
  session: Session,
  rules: Rules
): Effect.fn.Return<Present> {
  const { counter } = session
  const previous = yield* Ref.make<ReadonlyArray<Repaired>>([])

  const repair = Effect.fnUntraced(function*(fitted: Fitted): Effect.fn.Return<Fitted, TokenCountError> {
    const repaired = yield* Ref.modify(previous, (before) => {
      const now = reuse(before, repairContext(fitted.messages, rules))
      return [now, now]
    })
    const messages = repaired.map(({ message }) => message)
    const known = new Set<Message.Message>(fitted.messages)
    const changed = messages.filter((message) => !known.has(message))
    if (changed.length === 0 && messages.length === fitted.messages.length) return fitted
    yield* countAll(counter, messages)
    return { ...fitted, messages, tokens: trimmer.tokensOf(messages) }
  })

  /** Trims by what the repaired form is over, until it fits or nothing more can go. */
  const present = (reserve: number, left: number, whole: Budget.Budget | undefined): ReturnType<Present> =>
    Effect.flatMap(trimmer.fit(reserve), (fitted) =>
      Effect.flatMap(repair(fitted), (repaired) => {
        const budget = whole ?? fitted.budget
        const over = repaired.tokens - (budget.maxTokens ?? Infinity)
        return over > 0 && left > 1 && fitted.tokens <= (fitted.budget.maxTokens ?? Infinity)
          ? present(reserve + over, left - 1, budget)
          : Effect.succeed({ ...repaired, budget })
      }))

  return rules === "pairing" ? trimmer.fit : (reserve) => present(reserve, attempts, undefined)
})
