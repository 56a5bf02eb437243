/**
 * Running a strategy on the view of a conversation, and committing what it materializes.
 */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Metric from "effect/Metric"
import type * as Scope from "effect/Scope"
import type * as Budget from "../Budget.js"
import { type MemoryStoreError, type TokenCountError, TrimError } from "../MemoryError.js"
import { MemoryEvent } from "../MemoryEvent.js"
import * as MemoryMetrics from "../MemoryMetrics.js"
import type { Compaction } from "../MemoryStore.js"
import type * as TrimStrategy from "../TrimStrategy.js"
import type { Events } from "./events.js"
import { inputOf, type Outcome, runStrategy, systemRule } from "./runStrategy.js"
import type { Loaded, Session } from "./session.js"
import { compactionOf } from "./settle.js"
import * as tag from "./tag.js"
import type { Counts, Item } from "./view.js"

/** @internal */
export interface Options {
  readonly id: string
  readonly session: Session
  readonly strategy: TrimStrategy.Service
  /** How long a strategy may take. */
  readonly timeout: Duration.Duration
  readonly publish: Events["publish"]
}

type Failure = MemoryStoreError | TokenCountError

/** One run: the items it was given, and the view and budget they belong to. @internal */
export interface Run {
  readonly items: ReadonlyArray<Item>
  readonly outcome: Outcome
  readonly version: number
  readonly revision: number
  readonly budget: Budget.Budget
}

/** @internal */
export interface Compactor {
  /** Runs a strategy on the view as it stands. */
  readonly run: (
    trim: TrimStrategy.Service["trim"],
    budget: Budget.Budget
  ) => Effect.Effect<Run, Failure | TrimError>
  /** Commits what a run materializes, if what it covers still stands and it is still wanted; answers whether it did. */
  readonly commit: (
    run: Run,
    budgetNow: Effect.Effect<Budget.Budget>,
    isWanted: (loaded: Loaded, budget: Budget.Budget) => boolean
  ) => Effect.Effect<boolean, Failure | TrimError>
}

/** Tells each summary which entries it stands for and how large it is; what is known of its tokens stays known. */
const withRange = (compaction: Compaction, counts: Counts): Compaction => {
  const { from, messages, upTo } = compaction
  return {
    ...compaction,
    messages: messages.map((message) => {
      const tokens = counts.get(message)
      const ranged = tag.describeSummary(message, { from, upTo, tokensAfter: tokens })
      if (tokens !== undefined) counts.set(ranged, tokens)
      return ranged
    })
  }
}

/** What becomes of a finished compaction; `uncounted`: that depends on messages that are not counted yet. */
type Verdict = "committed" | "changed" | "sufficient" | "uncounted"

/** Whether something that is to be covered belongs to a round that has been protected since. */
const isProtectedNow = ({ view }: Loaded, items: ReadonlyArray<Item>, { covers }: Outcome): boolean => {
  const pinned = new Set(view.snapshot().flatMap((item) => item.protected ? [item.sequence] : []))
  return Array.from(covers).some((i) => items[i].sequence >= 0 && pinned.has(items[i].sequence))
}

/** @internal */
export const make = (options: Options, scope: Scope.Scope): Compactor => {
  const { id, publish, session, strategy } = options
  const { counter, counts } = session

  const run: Compactor["run"] = Effect.fnUntraced(function*(
    trim: TrimStrategy.Service["trim"],
    budget: Budget.Budget
  ): Effect.fn.Return<Run, Failure | TrimError> {
    const { items, revision, version } = yield* session.readCounted(({ revision, version, view }) => ({
      items: view.snapshot(),
      revision,
      version
    }))
    const given = inputOf(items, budget, counter)
    // In a fiber of the scope: one that cannot be interrupted holds up the end of the layer, but nobody before.
    const running = yield* Effect.forkIn(runStrategy(items, given, budget, systemRule(strategy), trim), scope)
    const outcome = yield* Fiber.join(running).pipe(
      Effect.timeoutFail({
        duration: options.timeout,
        onTimeout: () =>
          new TrimError({ reason: `no result within ${Duration.format(options.timeout)}: bound what it waits for` })
      }),
      Effect.onExit((exit) => Exit.isSuccess(exit) ? Effect.void : Fiber.interruptFork(running))
    )
    return { items, outcome, version, revision, budget }
  })

  const commit: Compactor["commit"] = Effect.fnUntraced(function*(
    { items, outcome, revision }: Run,
    budgetNow: Effect.Effect<Budget.Budget>,
    isWanted: (loaded: Loaded, budget: Budget.Budget) => boolean
  ): Effect.fn.Return<boolean, Failure | TrimError> {
    if (outcome.won <= 0) {
      return yield* new TrimError({
        reason: "what it made takes no fewer tokens than what it stands for: ask for a shorter summary"
      })
    }
    const judge = (loaded: Loaded, budget: Budget.Budget): Verdict => {
      if (loaded.revision !== revision || isProtectedNow(loaded, items, outcome)) return "changed"
      if (isWanted(loaded, budget)) return "committed"
      return loaded.view.uncounted().length > 0 ? "uncounted" : "sufficient"
    }
    const attempt: Effect.Effect<Verdict, TrimError> = Effect.suspend(() => {
      let verdict = "changed" as Verdict
      return session.compact((loaded) =>
        Effect.map(budgetNow, (budget) => {
          verdict = judge(loaded, budget)
          return verdict !== "committed" ? undefined : {
            compaction: withRange(compactionOf(loaded.view.raws, items, loaded.compaction, outcome), counts)
          }
        })
      ).pipe(
        Effect.map(() => verdict),
        Effect.catchIf((error) => error.reason === "conflict", () => Effect.succeed<Verdict>("changed")),
        Effect.mapError((cause) =>
          new TrimError({ reason: "the store did not take the compaction, see the cause", cause })
        )
      )
    })
    // What was recorded meanwhile is counted only where it matters: nobody who records waits for a counter.
    const verdict = yield* Effect.repeat(
      Effect.tap(attempt, (found) => found === "uncounted" ? session.readCounted(() => undefined) : Effect.void),
      { until: (found) => found !== "uncounted" }
    )
    const isCommitted = verdict === "committed"
    const before = items.reduce((sum, item) => sum + item.tokens, counter.overhead)
    yield* publish(() =>
      isCommitted
        ? MemoryEvent.CompactionCommitted({
          conversation: id,
          tokensBefore: before,
          tokensAfter: before - outcome.won
        })
        : MemoryEvent.CompactionDiscarded({
          conversation: id,
          reason: verdict === "changed" ? "changed" : "sufficient"
        })
    )
    if (isCommitted) yield* Metric.increment(MemoryMetrics.compactions)
    return isCommitted
  })

  return { run, commit }
}
