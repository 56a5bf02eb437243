/**
 * Bringing one conversation within its budget: when a strategy runs, what becomes of its result, and what is handed out
 * meanwhile.
 */
import * as Effect from "effect/Effect"
import * as Metric from "effect/Metric"
import * as Option from "effect/Option"
import * as Ref from "effect/Ref"
import type * as Schedule from "effect/Schedule"
import * as Scope from "effect/Scope"
import type * as Budget from "../Budget.js"
import { type MemoryStoreError, type TokenCountError, TrimError } from "../MemoryError.js"
import { MemoryEvent } from "../MemoryEvent.js"
import * as MemoryMetrics from "../MemoryMetrics.js"
import type { MemoryPlan } from "../MemoryPlan.js"
import type * as Message from "../Message.js"
import type * as TrimStrategy from "../TrimStrategy.js"
import * as backoffs from "./backoff.js"
import type { Run } from "./compactor.js"
import * as compactors from "./compactor.js"
import * as flights from "./flight.js"
import { roundPlans } from "./plan.js"
import { systemRule } from "./runStrategy.js"
import type { Loaded } from "./session.js"
import * as target from "./target.js"
import type { View } from "./view.js"
import { limitsOf, WindowOptions } from "./windowDrop.js"

/** A sequence that fits, unless what must stay does not. @internal */
export interface Fitted {
  readonly messages: Array<Message.Message>
  readonly tokens: number
  /** Whether it is less than the view. */
  readonly trimmed: boolean
  /** The view that it comes from. */
  readonly view: { readonly tokens: number; readonly messages: number; readonly repairs: number }
  readonly budget: Budget.Budget
}

/** What a strategy made of a view, good while neither view nor budget has changed. */
interface Projection {
  readonly version: number
  readonly budget: Budget.Budget
  readonly messages: ReadonlyArray<Message.Message>
  readonly tokens: number
  /** Stands in for a trim that failed: good until that is tried again. */
  readonly provisional: boolean
}

/** A compaction under this budget did not help; the next one waits until a round begins. */
interface Stuck {
  readonly newestBegins: number
  readonly budget: Budget.Budget
}

interface State {
  /** One for each budget asked for, newest first; all of one version. */
  readonly projections: ReadonlyArray<Projection>
  readonly stuck: Stuck | undefined
  /** Where a compaction was last tried ahead of need: once for each round. */
  readonly triedAhead: Stuck | undefined
}

/** A caller joins a run that began before its own messages, starts one, and finds its result: three looks. */
const maxLooks = 3

/** @internal */
export interface Options extends compactors.Options {
  readonly budget: Effect.Effect<Budget.Budget>
  readonly backoff: Schedule.Schedule<unknown>
}

type Failure = MemoryStoreError | TokenCountError

/** @internal */
export interface Trimmer {
  /** The view within the budget less some tokens, trimmed where it is over. */
  readonly fit: (reserve: number) => Effect.Effect<Fitted, Failure>
  /** What `fit` would do, as far as the strategy tells. */
  readonly plan: Effect.Effect<
    Omit<MemoryPlan, "stablePrefix"> & {
      /** The context, without a summary that is yet to be made. */
      readonly context: ReadonlyArray<Message.Message>
    },
    Failure | TrimError
  >
  /** Tokens that a sequence is charged, once everything in it is counted. */
  readonly tokensOf: (messages: ReadonlyArray<Message.Message>) => number
  /** Runs the strategy now, whatever the budget; answers whether something was materialized. */
  readonly force: Effect.Effect<boolean, Failure | TrimError>
  /** Runs the strategy in the background so that the view comes below `fill` of the budget. */
  readonly ahead: (fill: number) => Effect.Effect<void>
}

const maxProjections = 4

const sameBudget = (a: Budget.Budget, b: Budget.Budget): boolean =>
  a.maxTokens === b.maxTokens && a.maxRounds === b.maxRounds

/** @internal */
export const isOver = (view: View, budget: Budget.Budget, overhead: number): boolean => {
  const limits = limitsOf(budget)
  return view.tokens + overhead > limits.tokens || view.rounds > limits.rounds
}

/** @internal */
export const make = Effect.fnUntraced(function*(options: Options): Effect.fn.Return<Trimmer, never, Scope.Scope> {
  const { id, publish, session, strategy } = options
  const { counter, counts } = session
  const scope = yield* Scope.Scope
  const { commit, run } = compactors.make(options, scope)
  const plainWindow = strategy.trim === strategy.project ? strategy[WindowOptions] : undefined
  const state = yield* Ref.make<State>({ projections: [], stuck: undefined, triedAhead: undefined })
  const backoff = yield* backoffs.make(options.backoff)
  const projecting = yield* backoffs.make(options.backoff)
  const flight = yield* flights.make<Failure>(scope)
  const budgetLess = (reserve: number): Effect.Effect<Budget.Budget> =>
    reserve === 0 ? options.budget : Effect.map(options.budget, ({ maxRounds, maxTokens }) => ({
      maxRounds,
      maxTokens: maxTokens === undefined ? undefined : Math.max(0, maxTokens - reserve)
    }))
  const materializes = strategy.project !== strategy.trim
  const tokensOf = (messages: ReadonlyArray<Message.Message>): number =>
    messages.reduce(
      (sum, message) =>
        systemRule(strategy) === "free" && message.role === "system" ? sum : sum + (counts.get(message) ?? 0),
      counter.overhead
    )

  const fitted = (
    view: View,
    budget: Budget.Budget,
    messages: Array<Message.Message>,
    tokens: number,
    trimmed = true
  ): Fitted => ({
    messages,
    tokens,
    trimmed,
    view: { tokens: view.tokens + counter.overhead, messages: view.size, repairs: view.repairs() },
    budget
  })

  const whole = (view: View, budget: Budget.Budget): Fitted =>
    fitted(view, budget, view.all(), view.tokens + counter.overhead, false)

  const windowed = (view: View, budget: Budget.Budget): Fitted => {
    const { messages, tokens } = view.window(
      limitsOf(budget),
      counter.overhead,
      target.of(plainWindow?.target, budget)
    )
    return fitted(view, budget, messages, tokens)
  }

  const noteStuck = Effect.fnUntraced(function*(budget: Budget.Budget) {
    const stuck = yield* session.readCounted(({ view }) =>
      isOver(view, budget, counter.overhead) ? { newestBegins: view.newestBegins, budget } : undefined
    )
    yield* Ref.update(state, (now) => ({ ...now, stuck }))
  })

  /**
   * Whether what was committed fits. What was rewritten or left out comes back into the view: it is the strategy's own
   * result that counts. But where that is the view, a call that is gone may have made two rounds of one.
   */
  const fits = ({ budget, outcome: { context, placed, rounds, tokens } }: Run, view: View): boolean => {
    const limits = limitsOf(budget)
    return context.length === placed.length && tokens <= limits.tokens &&
      (placed.length === view.size ? view.rounds : rounds) <= limits.rounds
  }

  const noteFailure = Effect.fnUntraced(function*(error: TrimError, of: backoffs.Backoff = backoff) {
    const retryAt = yield* of.failed
    yield* Metric.increment(MemoryMetrics.failures)
    yield* publish(() => MemoryEvent.TrimFailed({ conversation: id, error, retryAt }))
  })

  const keepProjection = ({ budget, outcome, version }: Run, provisional: boolean) =>
    Ref.update(state, (now): State => ({
      ...now,
      projections: [
        {
          version,
          budget,
          messages: outcome.context.map(({ message }) => message),
          tokens: outcome.tokens,
          provisional
        },
        ...now.projections.filter((known) => known.version === version && !sameBudget(known.budget, budget))
      ].slice(0, maxProjections)
    }))

  const started = Effect.flatMap(
    session.readCounted(({ view }) => view.tokens + counter.overhead),
    (tokens) => publish(() => MemoryEvent.CompactionStarted({ conversation: id, tokens }))
  ).pipe(Effect.when(() => materializes))

  const trimOnce = Effect.fnUntraced(function*(reserve: number) {
    yield* started
    const budget = budgetLess(reserve)
    const done = yield* run(strategy.trim, yield* budget)
    if (!done.outcome.result.replace || done.outcome.covers.size === 0) {
      yield* keepProjection(done, false)
    } else if (yield* commit(done, budget, ({ view }, budget) => isOver(view, budget, counter.overhead))) {
      const helped = yield* session.read((loaded) => loaded.version === done.version + 1 && fits(done, loaded.view))
      if (!helped) yield* noteStuck(yield* budget)
    }
    yield* backoff.succeeded
  }, Effect.catchTag("TrimError", (error) => noteFailure(error)))

  const projectOnce = (project: TrimStrategy.Service["trim"], reserve: number, provisional: boolean) =>
    Effect.flatMap(budgetLess(reserve), (budget) => run(project, budget)).pipe(
      Effect.filterOrFail(
        ({ outcome }) => outcome.covers.size === 0,
        () => new TrimError({ reason: "project returned replace: true: it must only project" })
      ),
      Effect.flatMap((done) => keepProjection(done, provisional)),
      Effect.zipRight(projecting.succeeded),
      Effect.catchTag("TrimError", (error) => noteFailure(error, projecting))
    )

  /** What to do for a view that is over its budget. */
  const next = Effect.fnUntraced(function*(stuck: boolean, reserve: number) {
    if (!stuck && (yield* backoff.isDue)) return Option.some(trimOnce(reserve))
    const { project } = strategy
    // A failing projection is no better than the plain window.
    return project !== undefined && (stuck || materializes) && (yield* projecting.isDue)
      ? Option.some(projectOnce(project, reserve, !stuck))
      : Option.none()
  })

  /** What can be handed out at once; otherwise since which version a result will do, and whether compacting helps. */
  const look = (
    { version, view }: Loaded,
    budget: Budget.Budget,
    { projections, stuck }: State,
    retries: boolean,
    since: number | undefined
  ): Fitted | { readonly since: number; readonly stuck: boolean } => {
    const from = since ?? version
    if (!isOver(view, budget, counter.overhead)) return whole(view, budget)
    const projection = projections.find((known) => sameBudget(known.budget, budget) && !(known.provisional && retries))
    return projection !== undefined && projection.version >= from
      ? fitted(view, budget, projection.messages.slice(), projection.tokens)
      : {
        since: from,
        stuck: stuck !== undefined && sameBudget(stuck.budget, budget) && stuck.newestBegins === view.newestBegins
      }
  }

  /** The plain window is found at once. */
  const fitPlain = (reserve: number): Effect.Effect<Fitted, Failure> =>
    Effect.flatMap(
      budgetLess(reserve),
      (budget) =>
        session.readCounted(({ view }) =>
          isOver(view, budget, counter.overhead) ? windowed(view, budget) : whole(view, budget)
        )
    )

  const fitByTask = Effect.fnUntraced(function*(reserve: number): Effect.fn.Return<Fitted, Failure> {
    let since: number | undefined
    for (let looks = 0;; looks++) {
      const budget = yield* budgetLess(reserve)
      const now = yield* Ref.get(state)
      const retries = now.projections.some(({ provisional }) => provisional) && (yield* backoff.isDue)
      const seen = yield* session.readCounted((loaded) => look(loaded, budget, now, retries, since))
      if ("messages" in seen) return seen
      const task = looks < maxLooks ? yield* next(seen.stuck, reserve) : Option.none()
      if (Option.isNone(task)) return yield* session.readCounted(({ view }) => windowed(view, budget))
      yield* flight.join(task.value)
      since = seen.since
    }
  })

  const plan: Trimmer["plan"] = Effect.gen(function*() {
    const budget = yield* options.budget
    const { stuck } = yield* Ref.get(state)
    const isDue = yield* backoff.isDue
    const seen = yield* session.readCounted(({ view }) => ({
      items: view.snapshot(),
      tokens: view.tokens + counter.overhead,
      floor: view.floor(counter.overhead),
      over: isOver(view, budget, counter.overhead),
      stuck: stuck !== undefined && sameBudget(stuck.budget, budget) && stuck.newestBegins === view.newestBegins
    }))
    const trigger = !seen.over ? "none" : seen.tokens > limitsOf(budget).tokens ? "tokens" : "rounds"
    const told = {
      trigger,
      tokensBefore: seen.tokens,
      maxTokens: budget.maxTokens,
      floor: seen.floor
    } as const
    const dry = isDue && !seen.stuck ? strategy.plan : strategy.project
    if (!seen.over) {
      const context = seen.items.map((item) => item.message)
      return { ...told, tokensAfter: seen.tokens, context, rounds: roundPlans(seen.items, trigger, undefined) }
    }
    if (dry === undefined) return { ...told, tokensAfter: undefined, context: [], rounds: [] }
    const { items, outcome } = yield* run(dry, budget)
    return {
      ...told,
      tokensAfter: outcome.tokens,
      context: outcome.context.map(({ message }) => message),
      rounds: roundPlans(items, trigger, outcome)
    }
  })

  const force = Effect.gen(function*() {
    const result = yield* Ref.make<{ readonly committed: boolean; readonly error: TrimError | undefined }>({
      committed: false,
      error: undefined
    })
    const task = Effect.gen(function*() {
      yield* started
      const { maxTokens } = yield* options.budget
      const done = yield* run(strategy.trim, { maxTokens, maxRounds: 1 })
      if (!done.outcome.result.replace || done.outcome.covers.size === 0) return
      const committed = yield* commit(done, options.budget, () => true)
      yield* Ref.set(result, { committed, error: undefined })
    }).pipe(
      Effect.catchTag(
        "TrimError",
        (error) => Effect.zipRight(noteFailure(error), Ref.set(result, { committed: false, error }))
      )
    )
    yield* flight.exclusive(task)
    const { committed, error } = yield* Ref.get(result)
    return error === undefined ? committed : yield* error
  })

  const ahead = Effect.fnUntraced(function*(fill: number) {
    if (!materializes || !(yield* backoff.isDue)) return
    const budget = yield* options.budget
    const filled = ({ maxRounds, maxTokens }: Budget.Budget): Budget.Budget => ({
      maxRounds,
      maxTokens: maxTokens === undefined ? undefined : Math.floor(maxTokens * fill)
    })
    const less = filled(budget)
    const task = Effect.gen(function*() {
      const { triedAhead } = yield* Ref.get(state)
      const newestBegins = yield* session.read(({ view }) => view.newestBegins)
      if (
        triedAhead !== undefined && sameBudget(triedAhead.budget, budget) && triedAhead.newestBegins === newestBegins
      ) return
      if (yield* session.readCounted(({ view }) => !isOver(view, less, counter.overhead))) return
      yield* started
      const done = yield* run(strategy.trim, less)
      if (done.outcome.result.replace && done.outcome.covers.size > 0) {
        yield* commit(done, options.budget, ({ view }, now) => isOver(view, filled(now), counter.overhead))
      }
      yield* Ref.update(state, (now): State => ({ ...now, triedAhead: { newestBegins, budget } }))
      yield* backoff.succeeded
    }).pipe(Effect.catchTag("TrimError", (error) => noteFailure(error)))
    yield* flight.start(task)
  })

  return { plan, tokensOf, fit: plainWindow === undefined ? fitByTask : fitPlain, force, ahead }
})
