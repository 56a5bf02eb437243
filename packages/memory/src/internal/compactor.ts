/**
 * Running a strategy on the view of a conversation, and committing what it materializes.
 */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Metric from "effect/Metric"
import type * as Budget from "../Budget.js"
import { type MemoryStoreError, type TokenCountError, TrimError } from "../MemoryError.js"
import { MemoryEvent } from "../MemoryEvent.js"
import * as MemoryMetrics from "../MemoryMetrics.js"
import type { Compaction } from "../MemoryStore.js"
import type * as TrimStrategy from "../TrimStrategy.js"
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
  readonly publish: (event: MemoryEvent) => Effect.Effect<void>
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

/** @internal */
export const make = (options: Options): Compactor => {
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
    const outcome = yield* Effect.timeoutFail(runStrategy(items, given, budget, systemRule(strategy), trim), {
      duration: options.timeout,
      onTimeout: () =>
        new TrimError({ reason: `no result within ${Duration.format(options.timeout)}: bound what it waits for` })
    })
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
    let discarded: "changed" | "sufficient" | undefined
    const committed = yield* session.compact((loaded) =>
      Effect.map(budgetNow, (budget) => {
        discarded = loaded.revision !== revision ? "changed" : isWanted(loaded, budget) ? undefined : "sufficient"
        return discarded === undefined
          ? { compaction: withRange(compactionOf(loaded.view.raws, items, loaded.compaction, outcome), counts) }
          : undefined
      })
    ).pipe(Effect.catchIf((error) => error.reason === "conflict", () => {
      discarded = "changed"
      return Effect.succeed(false)
    }))
    yield* publish(
      discarded !== undefined
        ? MemoryEvent.CompactionDiscarded({ conversation: id, reason: discarded })
        : MemoryEvent.CompactionCommitted({
          conversation: id,
          tokensBefore: items.reduce((sum, item) => sum + item.tokens, counter.overhead),
          tokensAfter: items.reduce((sum, item) => sum + item.tokens, counter.overhead) - outcome.won
        })
    )
    if (committed) yield* Metric.increment(MemoryMetrics.compactions)
    return committed
  })

  return { run, commit }
}
