/**
 * Contexts as they are handed out: what is told and measured of them, what is refused, and the room made ahead of need.
 */
import * as Effect from "effect/Effect"
import * as Ref from "effect/Ref"
import { BudgetUnsatisfiable, type MemoryStoreError, type TokenCountError } from "../MemoryError.js"
import { MemoryEvent } from "../MemoryEvent.js"
import * as MemoryMetrics from "../MemoryMetrics.js"
import type * as Message from "../Message.js"
import type { Billing } from "./billing.js"
import type { Events } from "./events.js"
import type { Session } from "./session.js"
import type { Fitted, Trimmer } from "./trimmer.js"

/** The context handed out last, and how many messages repair had changed by then. */
interface Last {
  readonly messages: ReadonlyArray<Message.Message>
  readonly repairs: number
}

const nothingYet: Last = { messages: [], repairs: 0 }

/** @internal */
export interface HandOut {
  readonly next: Effect.Effect<Fitted, MemoryStoreError | TokenCountError | BudgetUnsatisfiable>
  /** The messages handed out last. */
  readonly last: Effect.Effect<ReadonlyArray<Message.Message>>
  readonly forget: Effect.Effect<void>
}

/** One look at the labels of the fiber for both metrics: each context is measured. */
const measured = (tokens: number, isLess: boolean): Effect.Effect<void> =>
  Effect.map(Effect.metricLabels, (labels) => {
    MemoryMetrics.contextTokens.unsafeUpdate(tokens, labels)
    if (isLess) MemoryMetrics.trims.unsafeUpdate(1, labels)
  })

/** @internal */
export const make = Effect.fnUntraced(function*(options: {
  readonly id: string
  readonly fitted: Effect.Effect<Fitted, MemoryStoreError | TokenCountError>
  readonly session: Session
  readonly trimmer: Trimmer
  readonly billing: Billing
  readonly publish: Events["publish"]
  readonly onOverflow: "allow" | "fail"
  /** How full the window is when room is made ahead of need. */
  readonly ahead: number | undefined
}): Effect.fn.Return<HandOut> {
  const { ahead, billing, id, publish, session, trimmer } = options
  const last = yield* Ref.make(nothingYet)

  const noteOverflow = Effect.fnUntraced(function*({ budget, tokens }: Fitted) {
    const limit = budget.maxTokens ?? Infinity
    yield* publish(() => MemoryEvent.OverBudget({ conversation: id, tokens, budget: limit }))
    if (options.onOverflow === "allow") return
    const floor = yield* session.readCounted(({ view }) => view.floor(session.counter.overhead))
    // What the rules of a provider add belongs to no part.
    const added = Math.max(0, tokens - floor.total)
    return yield* new BudgetUnsatisfiable({
      budget: limit,
      floor: { ...floor, overhead: floor.overhead + added, total: floor.total + added }
    })
  })

  const next = Effect.gen(function*() {
    const fitted = yield* options.fitted
    const { budget: { maxTokens }, messages, tokens, trimmed, view } = fitted
    if (tokens > (maxTokens ?? Infinity)) yield* noteOverflow(fitted)
    const before = yield* Ref.getAndSet(last, { messages: messages.slice(), repairs: view.repairs })
    if (view.repairs > before.repairs) {
      yield* publish(() => MemoryEvent.Repaired({ conversation: id, messages: view.repairs }))
    }
    const isLess = trimmed && (tokens < view.tokens || messages.length < view.messages)
    yield* measured(tokens, isLess)
    if (isLess) {
      yield* publish(() =>
        MemoryEvent.Trimmed({
          conversation: id,
          tokensBefore: view.tokens,
          tokensAfter: tokens,
          messagesBefore: view.messages,
          messagesAfter: messages.length
        })
      )
    }
    yield* billing.counted(tokens)
    if (maxTokens !== undefined && ahead !== undefined) yield* trimmer.ahead(ahead)
    return fitted
  })

  return { next, last: Effect.map(Ref.get(last), ({ messages }) => messages), forget: Ref.set(last, nothingYet) }
})
