/**
 * Contexts held by an exact count of the whole conversation, where the sum over the messages cannot decide.
 */
import * as Effect from "effect/Effect"
import * as Ref from "effect/Ref"
import type * as Budget from "../Budget.js"
import type { TokenCountError } from "../MemoryError.js"
import type * as Message from "../Message.js"
import { isCount, notACount } from "./counting.js"
import type { Present } from "./presenter.js"
import type { Session } from "./session.js"
import type { Fitted } from "./trimmer.js"
import type { Counts } from "./view.js"

const defaultMargin = 0.25

/** A conversation that was counted as a whole. */
interface Verified {
  readonly messages: ReadonlyArray<Message.Message>
  /** The sum over its messages. */
  readonly tokens: number
  readonly exact: number
}

/** @internal */
export const make = Effect.fnUntraced(function*(
  present: Present,
  session: Session,
  budget: Effect.Effect<Budget.Budget>,
  failed: (error: TokenCountError) => Effect.Effect<void>
): Effect.fn.Return<ReturnType<Present>> {
  const { counter, counts } = session
  const { countConversation, margin = defaultMargin } = counter
  if (countConversation === undefined) return present(0)
  const last = yield* Ref.make<Verified | undefined>(undefined)
  const decision = yield* Ref.make<Decision | undefined>(undefined)

  /** The exact count; where it cannot be had, the most that it can be. */
  const ask = ({ messages, tokens }: Fitted, { upper }: Bounds): Effect.Effect<number> =>
    Effect.suspend(() => countConversation(messages)).pipe(
      Effect.filterOrElse(isCount, (exact) => notACount(counter.id, exact)),
      Effect.tap((exact) => Ref.set(last, { messages: messages.slice(), tokens, exact })),
      Effect.catchAll((error) => Effect.as(failed(error), upper))
    )

  /** How much less than the limit the sum may be, so that what is handed out is within it. */
  const settle = Effect.fnUntraced(function*(limit: number, reserve: number, candidate: Fitted, bounds: Bounds) {
    if (bounds.upper <= limit) return { reserve, exact: bounds.upper }
    const exact = bounds.lower > limit ? bounds.upper : yield* ask(candidate, bounds)
    return exact <= limit
      ? { reserve, exact }
      : { reserve: limit - allowed(limit, { tokens: candidate.tokens, exact }, margin), exact: undefined }
  })

  const decide = Effect.fnUntraced(function*(view: number, limit: number) {
    if (view / (1 + margin) <= limit) {
      const reserve = Math.min(0, limit - view)
      const whole = yield* present(reserve)
      const bounds = boundsOf(whole, yield* Ref.get(last), counts, margin)
      if (bounds.lower <= limit) return yield* settle(limit, reserve, whole, bounds)
    }
    const known = yield* Ref.get(last)
    const reserve = known === undefined ? 0 : limit - allowed(limit, known, margin)
    const trimmed = yield* present(reserve)
    return yield* settle(limit, reserve, trimmed, boundsOf(trimmed, known, counts, margin))
  })

  return Effect.gen(function*() {
    const { version, view } = yield* session.readCounted(({ version, view }) => ({
      version,
      view: view.tokens + counter.overhead
    }))
    const limit = (yield* budget).maxTokens
    if (limit === undefined || view * (1 + margin) <= limit) return yield* present(0)
    const known = yield* Ref.get(decision)
    const decided = known?.version === version && known.limit === limit
      ? known
      : { version, limit, ...(yield* decide(view, limit)) }
    yield* Ref.set(decision, decided)
    const fitted = yield* present(decided.reserve)
    return decided.exact === undefined
      ? fitted
      : { ...fitted, tokens: Math.ceil(decided.exact), budget: { ...fitted.budget, maxTokens: limit } }
  })
})

/** What was found for a view and a limit: good while neither has changed. */
interface Decision {
  readonly version: number
  readonly limit: number
  readonly reserve: number
  /** Tokens of what is handed out, where it was counted. */
  readonly exact: number | undefined
}

/** What the exact count of a context lies between. */
interface Bounds {
  readonly lower: number
  readonly upper: number
}

/**
 * The sum may be off by the margin; beside a conversation whose exact count is known, only by the margin of what differs.
 */
const boundsOf = (
  { messages, tokens }: Pick<Fitted, "messages" | "tokens">,
  known: Verified | undefined,
  counts: Counts,
  margin: number
): Bounds => {
  if (known !== undefined) {
    const differs = (a: ReadonlyArray<Message.Message>, b: ReadonlySet<Message.Message>) =>
      a.reduce((sum, message) => b.has(message) ? sum : sum + (counts.get(message) ?? 0), 0)
    const changed = differs(messages, new Set(known.messages)) + differs(known.messages, new Set(messages))
    const expected = known.exact + tokens - known.tokens
    if (changed < tokens) return { lower: expected - margin * changed, upper: expected + margin * changed }
  }
  return { lower: tokens / (1 + margin), upper: tokens * (1 + margin) }
}

/**
 * The largest sum that is expected to come to at most the limit, whether what the sum misses is a share of the
 * conversation or the same for any. Far from the limit the latter would leave nothing: there the margin is enough.
 */
const allowed = (limit: number, { exact, tokens }: Pick<Verified, "tokens" | "exact">, margin: number): number => {
  if (exact <= 0) return limit
  const share = limit * tokens / exact
  return Math.floor(Math.min(share, Math.max(limit - (exact - tokens), limit / (1 + margin))))
}
