/**
 * Contexts held by an exact count of the whole conversation, where the sum over the messages cannot decide.
 */
import * as Effect from "effect/Effect"
import * as Ref from "effect/Ref"
import type * as Schedule from "effect/Schedule"
import type * as Budget from "../Budget.js"
import type { TokenCountError } from "../MemoryError.js"
import type * as Message from "../Message.js"
import * as backoffs from "./backoff.js"
import { guarded, isCount, notACount } from "./counting.js"
import { make as makeLock } from "./lock.js"
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
  schedule: Schedule.Schedule<unknown>,
  failed: (error: TokenCountError) => Effect.Effect<void>
): Effect.fn.Return<ReturnType<Present>> {
  const { counter, counts } = session
  const { countConversation, margin = defaultMargin } = counter
  if (countConversation === undefined) return present(0)
  const state = yield* Ref.make<State>({ last: undefined, failing: false, decision: undefined })
  const deciding = yield* makeLock
  const backoff = yield* backoffs.make(schedule)

  const count = ({ messages, tokens }: Fitted, upper: number): Effect.Effect<number> =>
    Effect.suspend(() => guarded(counter.id, () => countConversation(messages))).pipe(
      Effect.filterOrElse(isCount, (exact) => notACount(counter.id, exact)),
      Effect.tap((exact) =>
        Effect.zipRight(
          backoff.succeeded,
          Ref.update(state, (now) => ({ ...now, last: { messages: messages.slice(), tokens, exact }, failing: false }))
        )
      ),
      // Failing first: where it is interrupted before the back-off, the service is only asked again too soon.
      Effect.catchAll((error) =>
        Ref.update(state, (now) => ({ ...now, failing: true })).pipe(
          Effect.zipRight(failed(error)),
          Effect.zipRight(backoff.failed),
          Effect.as(upper)
        )
      )
    )

  /** The exact count; where it cannot be had, or could not be had just now, the most that it can be. */
  const ask = (candidate: Fitted, upper: number): Effect.Effect<number> =>
    Effect.flatMap(backoff.isDue, (isDue) => isDue ? count(candidate, upper) : Effect.succeed(upper))

  /** What a count, or the most that it can be, means for the candidate that was asked about. */
  const judge = (limit: number, reserve: number, candidate: Fitted, exact: number): Found =>
    exact <= limit
      ? { reserve, exact, candidate }
      : { reserve: limit - allowed(limit, { tokens: candidate.tokens, exact }, margin), exact: undefined }

  /** How much less than the limit the sum may be, so that what is handed out is within it. */
  const settle = Effect.fnUntraced(function*(limit: number, reserve: number, candidate: Fitted, bounds: Bounds) {
    if (bounds.upper <= limit) return judge(limit, reserve, candidate, bounds.upper)
    const exact = bounds.lower > limit ? bounds.upper : yield* ask(candidate, bounds.upper)
    return judge(limit, reserve, candidate, exact)
  })

  /** While the service fails, it is asked about what is within the limit by the margin: nothing is trimmed twice. */
  const probe = Effect.fnUntraced(function*(limit: number, known: Verified | undefined) {
    const most = Math.floor(Math.min(limit / (1 + margin), known === undefined ? limit : allowed(limit, known, margin)))
    const candidate = yield* present(limit - most)
    const upper = candidate.tokens * (1 + margin)
    if (candidate.tokens <= most) {
      return judge(limit, limit - most, candidate, yield* ask(candidate, Math.min(limit, upper)))
    }
    // Nothing more can go: it is over the budget unless the service says otherwise.
    return { ...judge(limit, limit - most, candidate, yield* ask(candidate, upper)), candidate }
  })

  const decide = Effect.fnUntraced(function*(view: number, limit: number) {
    const { failing, last } = yield* Ref.get(state)
    if (view / (1 + margin) <= limit) {
      const reserve = Math.min(0, limit - view)
      const whole = yield* present(reserve)
      const bounds = boundsOf(whole, last, counts, margin)
      if (bounds.lower <= limit) return yield* settle(limit, reserve, whole, bounds)
    }
    if (failing) return yield* probe(limit, last)
    const reserve = last === undefined ? 0 : limit - allowed(limit, last, margin)
    const trimmed = yield* present(reserve)
    return yield* settle(limit, reserve, trimmed, boundsOf(trimmed, last, counts, margin))
  })

  /** What is found once serves all who ask about the same view and limit, until the service may be asked again. */
  const foundFor = Effect.fnUntraced(function*(version: number, view: number, limit: number) {
    const { decision, failing } = yield* Ref.get(state)
    if (decision?.version === version && decision.limit === limit && !(failing && (yield* backoff.isDue))) {
      return decision.found
    }
    const { candidate, ...found } = yield* decide(view, limit)
    yield* Ref.update(state, (now) => ({ ...now, decision: { version, limit, found } }))
    return { ...found, candidate }
  })

  const verify: ReturnType<Present> = Effect.gen(function*() {
    const { version, view } = yield* session.readCounted(({ version, view }) => ({
      version,
      view: view.tokens + counter.overhead
    }))
    const limit = (yield* budget).maxTokens
    if (limit === undefined || view * (1 + margin) <= limit) return yield* present(0)
    const found = yield* deciding((restore) => restore(foundFor(version, view, limit)))
    const fitted = found.candidate ?? (yield* present(found.reserve))
    // A compaction has made room meanwhile, or the budget is another: what was found says nothing of this context.
    if (fitted.view.tokens * (1 + margin) <= limit || (yield* budget).maxTokens !== limit) return yield* verify
    return found.exact === undefined
      ? fitted
      : { ...fitted, tokens: Math.ceil(found.exact), budget: { ...fitted.budget, maxTokens: limit } }
  })

  return verify
})

interface State {
  /** What was counted last. */
  readonly last: Verified | undefined
  /** Whether a count could not be had since. */
  readonly failing: boolean
  /** What was found for a view and a limit. */
  readonly decision: { readonly version: number; readonly limit: number; readonly found: Found } | undefined
}

interface Found {
  readonly reserve: number
  /** Tokens of what is handed out, where it was counted. */
  readonly exact: number | undefined
  /** What was looked at is handed out as it is. */
  readonly candidate?: Fitted | undefined
}

/** What the exact count of a context lies between. */
interface Bounds {
  readonly lower: number
  readonly upper: number
}

/**
 * The sum may be off by the margin, as a factor either way; beside a conversation whose exact count is known, only by the
 * margin of what differs.
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
    const added = differs(messages, new Set(known.messages))
    const removed = differs(known.messages, new Set(messages))
    const changed = added + removed
    const expected = known.exact + tokens - known.tokens
    if (changed < tokens) {
      return { lower: known.exact + added / (1 + margin) - removed * (1 + margin), upper: expected + margin * changed }
    }
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
