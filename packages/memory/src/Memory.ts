/**
 * Conversation memory: records messages, and hands out the context for the next model call within a budget.
 *
 * @example
 * ```ts
 * import { deepStrictEqual } from "node:assert"
 * import { Effect } from "effect"
 * import { Memory, Message } from "effect-memory"
 *
 * const program = Effect.gen(function*() {
 *   const memory = yield* Memory.Memory
 *   yield* memory.record(Message.user("u1"))
 *   yield* memory.record(Message.assistant("a1"))
 *   yield* memory.record(Message.user("u2"))
 *   return yield* memory.context
 * }).pipe(Effect.provide(Memory.layerWindow({ maxTokens: 2 })))
 *
 * // The oldest round did not fit.
 * deepStrictEqual(Effect.runSync(program), [Message.user("u2")])
 * ```
 *
 * @since 0.1.0
 */
import * as Config from "effect/Config"
import type * as ConfigError from "effect/ConfigError"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type { LazyArg } from "effect/Function"
import * as Layer from "effect/Layer"
import * as Metric from "effect/Metric"
import * as Option from "effect/Option"
import * as Ref from "effect/Ref"
import type * as Schedule from "effect/Schedule"
import type * as Scope from "effect/Scope"
import type * as Stream from "effect/Stream"
import * as Budget from "./Budget.js"
import * as backoffs from "./internal/backoff.js"
import * as billings from "./internal/billing.js"
import { isCount } from "./internal/counting.js"
import { make as makeEvents } from "./internal/events.js"
import * as handOuts from "./internal/handOut.js"
import * as presenters from "./internal/presenter.js"
import * as sessions from "./internal/session.js"
import { spanned } from "./internal/span.js"
import * as trimmers from "./internal/trimmer.js"
import { validMessages } from "./internal/validMessages.js"
import * as verifiers from "./internal/verifier.js"
import {
  type BudgetUnsatisfiable,
  InvalidBudget,
  type InvalidMessage,
  type MemoryStoreError,
  type TokenCountError,
  type TrimError
} from "./MemoryError.js"
import { MemoryEvent } from "./MemoryEvent.js"
import * as MemoryMetrics from "./MemoryMetrics.js"
import type { MemoryPlan } from "./MemoryPlan.js"
import * as MemoryStore from "./MemoryStore.js"
import * as Message from "./Message.js"
import * as TokenCounter from "./TokenCounter.js"
import type * as Transcript from "./Transcript.js"
import * as TrimStrategy from "./TrimStrategy.js"

/**
 * How full a memory is. The figures are of the view; a context may be less, see {@link Service.plan}.
 *
 * @since 0.1.0
 * @category models
 */
export interface Usage {
  /** Messages in the view. */
  readonly messages: number
  /** Rounds in the view; the preamble is not counted. */
  readonly rounds: number
  /** Tokens of the view, overhead included. */
  readonly tokens: number
  /** Entries that a summary stands for. */
  readonly summarized: number
  readonly maxTokens: number | undefined
  readonly maxRounds: number | undefined
}

/**
 * @since 0.1.0
 * @category models
 */
export interface Service {
  /**
   * Appends a message. Never counts and never waits for a compaction. Fails with `InvalidMessage` for something that is
   * not a message, and with `MemoryStoreError`; either way nothing is stored.
   */
  readonly record: (message: Message.Message) => Effect.Effect<void, InvalidMessage | MemoryStoreError>
  /** Appends messages: all of them, next to each other, or none. */
  readonly recordAll: (
    messages: Iterable<Message.Message>
  ) => Effect.Effect<void, InvalidMessage | MemoryStoreError>
  /** Appends a message that is in every context from now on, together with its round. */
  readonly recordProtected: (message: Message.Message) => Effect.Effect<void, InvalidMessage | MemoryStoreError>
  /**
   * What to send to the model: the view, trimmed if it is over the budget. The list is the caller's own.
   *
   * Fails with `TokenCountError` if the counter does, with `MemoryStoreError` if the conversation cannot be loaded, and
   * in strict mode with `BudgetUnsatisfiable`. A strategy that fails is no failure: whole rounds are dropped instead.
   *
   * What another memory of the same conversation has recorded or cleared is seen after the next write of this one.
   */
  readonly context: Effect.Effect<Array<Message.Message>, ContextError>
  /**
   * What `context` would do, doing nothing. Exact for strategies without a model, before rules of a provider; for
   * `summarize` it tells what would be summarized; for a strategy that does not tell, what must stay and why it is asked.
   */
  readonly plan: Effect.Effect<MemoryPlan, TokenCountError | MemoryStoreError | TrimError>
  /**
   * Materializes now, whatever the budget: the strategy is asked to reduce all but the newest round. Answers whether
   * anything was materialized; a projecting strategy has nothing to.
   */
  readonly compact: Effect.Effect<boolean, ContextError | TrimError>
  /** Takes the current compaction back: the view is the log again. */
  readonly restore: Effect.Effect<void, MemoryStoreError>
  /** Everything that was recorded, in order, whatever the view. */
  readonly history: Stream.Stream<MemoryStore.Entry, MemoryStoreError>
  /** How full the memory is. Counts what is not counted yet. */
  readonly usage: Effect.Effect<Usage, MemoryStoreError | TokenCountError>
  /**
   * Tells what the provider billed for the last context, so that a `TokenCounter.calibrated` counter holds the
   * budget by bills. Does nothing for other counters.
   */
  readonly observeUsage: (usage: {
    /** Tokens of the whole prompt, cached ones included. 0 is taken for a call that was never billed. */
    readonly inputTokens: number
  }) => Effect.Effect<void>
  /** Sets the budget in tokens; `undefined` lifts the limit. */
  readonly setMaxTokens: (maxTokens: number | undefined) => Effect.Effect<void, InvalidBudget>
  /** Sets the budget in rounds; `undefined` lifts the limit. */
  readonly setMaxRounds: (maxRounds: number | undefined) => Effect.Effect<void, InvalidBudget>
  /** Forgets the conversation: log, compaction and counts. */
  readonly clear: Effect.Effect<void, MemoryStoreError>
  /** What happens in this memory from now on. A slow reader misses the oldest events; it never holds up the memory. */
  readonly events: Stream.Stream<MemoryEvent>
}

/**
 * Why a context cannot be had.
 *
 * @since 0.1.0
 * @category errors
 */
export type ContextError = TokenCountError | MemoryStoreError | BudgetUnsatisfiable

/**
 * @since 0.1.0
 * @category tags
 */
export class Memory extends Context.Tag("effect-memory/Memory")<Memory, Service>() {}

/**
 * @since 0.1.0
 * @category models
 */
export interface Options {
  /** Id of the conversation in the store. Default `default`. */
  readonly id?: string | undefined
  /** Most tokens of a context, overhead included. By default there is no limit. */
  readonly maxTokens?: number | undefined
  /** Most rounds of a context. By default there is no limit. */
  readonly maxRounds?: number | undefined
  /**
   * What contexts are repaired by. Default `pairing`, what all providers ask; `none` hands out messages as they were
   * recorded.
   */
  readonly rules?: Transcript.Rules | "none" | undefined
  /** What to do if what must stay is over `maxTokens`: hand it out all the same, the default, or fail. */
  readonly onOverflow?: "allow" | "fail" | undefined
  /**
   * When a strategy, or an exact count, that failed is tried again. Default 1 s, doubling up to 5 min. Where the schedule
   * ends, that is never.
   */
  readonly backoff?: Schedule.Schedule<unknown> | undefined
  /** How long a strategy may take before it counts as failed. Default 2 min. */
  readonly trimTimeout?: Duration.DurationInput | undefined
  /**
   * Materializes ahead of need, in a fiber of the layer's scope, once the window is `at` full (a fraction of
   * `maxTokens`). By default only when the budget is exceeded.
   */
  readonly background?: { readonly at: number } | undefined
}

const invalid = (field: string, given: unknown, expected: string) =>
  new InvalidBudget({ field, given: String(given), expected })

/**
 * A memory that lives in a scope: compactions end with it.
 *
 * Fails with `InvalidBudget` if a limit is not a whole number ≥ 0.
 *
 * @since 0.1.0
 * @category constructors
 */
export const make = Effect.fnUntraced(function*(
  options: Options = {}
): Effect.fn.Return<
  Service,
  InvalidBudget,
  TokenCounter.TokenCounter | TrimStrategy.TrimStrategy | MemoryStore.MemoryStore | Scope.Scope
> {
  const id = options.id ?? "default"
  const strategy = yield* TrimStrategy.TrimStrategy
  const store = yield* MemoryStore.MemoryStore
  const budget = yield* Ref.make(yield* Budget.make(options))
  const tokenCounter = yield* TokenCounter.TokenCounter
  if (!isCount(tokenCounter.overhead)) {
    return yield* invalid("the counter's overhead", tokenCounter.overhead, "a finite number ≥ 0")
  }
  if (!isCount(tokenCounter.margin ?? 0)) {
    return yield* invalid("the counter's margin", tokenCounter.margin ?? 0, "a finite number ≥ 0")
  }
  const trimTimeout = Duration.decodeUnknown(options.trimTimeout ?? "2 minutes").pipe(
    Option.filter(Duration.greaterThan(Duration.zero))
  )
  if (Option.isNone(trimTimeout)) return yield* invalid("trimTimeout", options.trimTimeout, "a duration above 0")
  const at = options.background?.at ?? 1
  if (!(at > 0 && at <= 1)) return yield* invalid("background.at", at, "a fraction of maxTokens above 0, at most 1")
  const billing = yield* billings.make(Ref.get(budget), tokenCounter.calibration)
  const { publish, stream: events } = yield* makeEvents
  const session = yield* sessions.make({
    id,
    store,
    counter: tokenCounter,
    view: { repair: options.rules !== "none", system: strategy.system ?? "keep" }
  })
  const { counter } = session
  const { backoff = backoffs.defaultSchedule } = options
  const trimmer = yield* trimmers.make({
    id,
    session,
    strategy,
    budget: billing.budget,
    backoff,
    timeout: trimTimeout.value,
    publish
  })
  const attributes = { conversation: id }
  const span = <A, E>(name: string, self: LazyArg<Effect.Effect<A, E>>) => spanned(self, name, attributes)

  const append = (messages: ReadonlyArray<Message.Message>, isProtected: boolean) =>
    Effect.flatMap(
      session.append(messages, isProtected),
      () => publish(() => MemoryEvent.Recorded({ conversation: id, messages: messages.length, protected: isProtected }))
    )

  const record = (message: Message.Message, isProtected: boolean) =>
    Message.isMessage(message)
      ? append([message], isProtected)
      : Effect.flatMap(Message.fromUnknown(message), (valid) => append([valid], isProtected))

  const { rules = "pairing" } = options
  const present = yield* presenters.make(trimmer, session, rules === "none" ? "pairing" : rules)
  const verified = yield* verifiers.make(present, session, billing.budget, backoff, (error) =>
    Effect.zipRight(
      Metric.increment(MemoryMetrics.countFailures),
      publish(() => MemoryEvent.CountFailed({ conversation: id, error }))
    ))
  const handOut = yield* handOuts.make({
    id,
    fitted: verified,
    session,
    trimmer,
    billing,
    publish,
    onOverflow: options.onOverflow ?? "allow",
    ahead: options.background?.at
  })
  const context = spanned(() => handOut.next, "Memory.context", attributes, ({ messages, tokens }) => ({
    messages: messages.length,
    tokens
  }))

  return {
    record: (message) => span("Memory.record", () => record(message, false)),
    recordAll: (messages) => {
      // An iterator can be read only once, the effect run more often.
      const all = Array.from(messages)
      const valid = validMessages(all)
      return span(
        "Memory.recordAll",
        () => Effect.flatMap(valid, (messages) => messages.length === 0 ? Effect.void : append(messages, false))
      )
    },
    recordProtected: (message) => span("Memory.recordProtected", () => record(message, true)),
    context: Effect.map(context, ({ messages }) => messages),
    plan: span(
      "Memory.plan",
      () =>
        Effect.zipWith(trimmer.plan, handOut.last, ({ context, ...plan }, last) => ({
          ...plan,
          stablePrefix: commonPrefix(last, context)
        }))
    ),
    compact: span("Memory.compact", () => trimmer.force),
    // Another memory may be first: then the view is loaded anew.
    restore: span(
      "Memory.restore",
      () =>
        session.compact(() => Effect.succeed({ compaction: undefined })).pipe(
          Effect.retry({ while: (error) => error.reason === "conflict", times: 10 }),
          Effect.asVoid
        )
    ),
    history: store.history(id),
    usage: span(
      "Memory.usage",
      () =>
        Effect.flatMap(Ref.get(budget), ({ maxRounds, maxTokens }) =>
          session.readCounted(({ compaction, view }) => ({
            messages: view.size,
            rounds: view.rounds,
            tokens: view.tokens + counter.overhead,
            summarized: compaction === undefined ? 0 : compaction.upTo - compaction.from - compaction.keep.length,
            maxTokens,
            maxRounds
          })))
    ),
    observeUsage: ({ inputTokens }) => billing.billed(inputTokens),
    setMaxTokens: (maxTokens) =>
      Effect.zipRight(Budget.make({ maxTokens }), Ref.update(budget, (now) => ({ ...now, maxTokens }))),
    setMaxRounds: (maxRounds) =>
      Effect.zipRight(Budget.make({ maxRounds }), Ref.update(budget, (now) => ({ ...now, maxRounds }))),
    clear: span(
      "Memory.clear",
      () => session.clear.pipe(Effect.zipRight(handOut.forget), Effect.zipRight(billing.forget))
    ),
    events
  }
})

const commonPrefix = (a: ReadonlyArray<Message.Message>, b: ReadonlyArray<Message.Message>): number => {
  const end = a.findIndex((message, i) => message !== b[i])
  return end < 0 ? a.length : end
}

/**
 * A memory over a counter, a strategy and a store from outside.
 *
 * @since 0.1.0
 * @category layers
 */
export const layer = (
  options?: Options
): Layer.Layer<
  Memory,
  InvalidBudget,
  TokenCounter.TokenCounter | TrimStrategy.TrimStrategy | MemoryStore.MemoryStore
> => Layer.scoped(Memory, make(options))

/**
 * {@link layer} with its options from configuration.
 *
 * @example
 * ```ts
 * import { strictEqual } from "node:assert"
 * import { Config, ConfigProvider, Effect, Layer } from "effect"
 * import { Memory, MemoryStore, TokenCounter, TrimStrategy } from "effect-memory"
 *
 * const MemoryLive = Memory.layerConfig({ maxTokens: Config.integer("MAX_TOKENS") }).pipe(
 *   Layer.provide([TokenCounter.layerCharacters, TrimStrategy.layerWindowDrop, MemoryStore.layerMemory]),
 *   Layer.provide(Layer.setConfigProvider(ConfigProvider.fromMap(new Map([["MAX_TOKENS", "4000"]]))))
 * )
 * const usage = Memory.Memory.pipe(Effect.flatMap((memory) => memory.usage), Effect.provide(MemoryLive))
 *
 * strictEqual(Effect.runSync(usage).maxTokens, 4000)
 * ```
 *
 * @since 0.1.0
 * @category layers
 */
export const layerConfig = (
  options: Config.Config.Wrap<Pick<Options, "id" | "maxTokens" | "maxRounds">>
): Layer.Layer<
  Memory,
  InvalidBudget | ConfigError.ConfigError,
  TokenCounter.TokenCounter | TrimStrategy.TrimStrategy | MemoryStore.MemoryStore
> => Layer.scoped(Memory, Effect.flatMap(Config.unwrap(options), make))

/** Not a shared value: each memory that is built on one has a store of its own. */
const ownStore = (): Layer.Layer<MemoryStore.MemoryStore> =>
  Layer.effect(MemoryStore.MemoryStore, MemoryStore.makeMemory)

/**
 * A memory with all defaults: characters are counted, whole rounds are dropped, the conversation is kept in a store of
 * its own. Fails with `InvalidBudget` if a limit is not a whole number ≥ 0.
 *
 * @since 0.1.0
 * @category layers
 */
export const layerWindow = (options: {
  /** Most tokens of a context. */
  readonly maxTokens: number
  /** Most rounds of a context. By default there is no limit. */
  readonly maxRounds?: number | undefined
}): Layer.Layer<Memory, InvalidBudget> =>
  layer(options).pipe(
    Layer.provide([TokenCounter.layerCharacters, TrimStrategy.layerWindowDrop, ownStore()])
  )

/**
 * A memory that keeps everything and never trims.
 *
 * @since 0.1.0
 * @category layers
 */
export const layerUnbounded: Layer.Layer<Memory> = Layer.orDie(layer()).pipe(
  Layer.provide([TokenCounter.layerCharacters, TrimStrategy.layerWindowDrop, ownStore()])
)
