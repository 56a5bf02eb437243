/**
 * The budget of one conversation in counted tokens, where it is held by what the provider bills.
 */
import * as Effect from "effect/Effect"
import * as Ref from "effect/Ref"
import type * as Budget from "../Budget.js"
import type { Calibration, Observation } from "../TokenCounter.js"

/** The translated budget moves in steps of this share, so that not every bill changes it. */
const steps = 64

/** @internal */
export interface Billing {
  /** The budget to hold: the same reference while it does not change. */
  readonly budget: Effect.Effect<Budget.Budget>
  /** Notes the tokens of the context that is sent next. */
  readonly counted: (tokens: number) => Effect.Effect<void>
  /** Notes what it was billed. */
  readonly billed: (tokens: number) => Effect.Effect<void>
  readonly forget: Effect.Effect<void>
}

/** @internal */
export const make = Effect.fnUntraced(function*(
  budget: Effect.Effect<Budget.Budget>,
  calibration: Calibration | undefined
): Effect.fn.Return<Billing> {
  if (calibration === undefined) {
    return { budget, counted: () => Effect.void, billed: () => Effect.void, forget: Effect.void }
  }
  const counted = yield* Ref.make<number | undefined>(undefined)
  const last = yield* Ref.make<Observation | undefined>(undefined)
  const translated = yield* Ref.make<{ readonly base: Budget.Budget; readonly budget: Budget.Budget } | undefined>(
    undefined
  )

  const translate = Effect.fnUntraced(function*() {
    const base = yield* budget
    if (base.maxTokens === undefined) return base
    const limit = yield* calibration.limit(yield* Ref.get(last), base.maxTokens)
    if (limit === base.maxTokens) return base
    const step = Math.max(1, Math.floor(base.maxTokens / steps))
    const maxTokens = Math.floor(limit / step) * step
    return yield* Ref.modify(translated, (known) => {
      const now = known?.base === base && known.budget.maxTokens === maxTokens
        ? known
        : { base, budget: { ...base, maxTokens } }
      return [now.budget, now]
    })
  })

  const billed = Effect.fnUntraced(function*(tokens: number) {
    const context = yield* Ref.get(counted)
    if (context === undefined || !Number.isFinite(tokens) || tokens <= 0) return
    const now = { counted: context, billed: tokens }
    const before = yield* Ref.getAndSet(last, now)
    yield* calibration.observe(before, now)
  })

  return {
    budget: translate(),
    counted: (tokens) => Ref.set(counted, tokens),
    billed,
    forget: Effect.zipRight(Ref.set(last, undefined), Ref.set(counted, undefined))
  }
})
