/**
 * How a conversation that is over its budget becomes one that fits. A strategy is a value, and anyone can write one.
 *
 * @example
 * ```ts
 * import { strictEqual } from "node:assert"
 * import { Effect } from "effect"
 * import { TrimStrategy } from "effect-memory"
 *
 * // Keeps the newest round and nothing else.
 * const newestOnly = TrimStrategy.make(({ messages, newest }) =>
 *   Effect.succeed({ messages: messages.slice(newest), replace: false })
 * )
 *
 * strictEqual(typeof newestOnly.trim, "function")
 * ```
 *
 * @since 0.1.0
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Ref from "effect/Ref"
import type * as Budget from "./Budget.js"
import { cascade as runCascade } from "./internal/cascade.js"
import { clearing } from "./internal/clearToolResults.js"
import { shortening } from "./internal/shorten.js"
import {
  type Attempt as SummaryAttempt,
  plan as planSummary,
  type Settings as SummarizeSettings,
  trim as trimWithSummary
} from "./internal/summarizing.js"
import * as target from "./internal/target.js"
import { truncate as truncateIndices } from "./internal/truncate.js"
import { windowDrop as windowIndices, WindowOptions as Window } from "./internal/windowDrop.js"
import { type TokenCountError, TrimError } from "./MemoryError.js"
import type * as Message from "./Message.js"
import * as Summarizer from "./Summarizer.js"
import type * as TokenCounter from "./TokenCounter.js"

/**
 * What a strategy sees: the unprotected rounds, and the budget less what protected rounds take.
 *
 * @since 0.1.0
 * @category models
 */
export interface TrimInput {
  /** The messages, in order. A copy. */
  readonly messages: ReadonlyArray<Message.Message>
  /** Tokens that each message is charged: none for a system message where they are free. */
  readonly counts: ReadonlyArray<number>
  /** What the messages and the counter's overhead may take. */
  readonly budget: Budget.Budget
  /** Counts new messages; those above are not counted again. */
  readonly counter: TokenCounter.Service
  /** Indices of the messages that stand for others: the current compaction. */
  readonly standIns: ReadonlyArray<number>
  /** Where the newest round begins. */
  readonly newest: number
  /**
   * For each message the ordinal of its round, 0 for the preamble. By default found from the messages, which do not tell
   * any more what was said between a call and its result.
   */
  readonly rounds?: ReadonlyArray<number> | undefined
}

/**
 * @since 0.1.0
 * @category models
 */
export interface TrimResult {
  /** What is kept, rewritten or new. Order and protected rounds are restored by whoever called. */
  readonly messages: ReadonlyArray<Message.Message>
  /**
   * `false`: a projection; the log is as it was, and a higher budget brings everything back. `true`: new messages stand
   * for what is covered from now on.
   */
  readonly replace: boolean
  /** For each returned message the index of the input it is or rewrites, −1 for a new one. By default found by reference. */
  readonly origin?: ReadonlyArray<number> | undefined
  /** Indices of the inputs that new messages stand for. By default all that were not returned. */
  readonly covers?: ReadonlyArray<number> | undefined
  /** Who did what to which input, where a strategy tells. */
  readonly actions?: ReadonlyArray<TrimAction> | undefined
}

/**
 * What was done to one input message.
 *
 * @since 0.1.0
 * @category models
 */
export interface TrimAction {
  /** Index of the input. */
  readonly index: number
  /** Name of the strategy. */
  readonly strategy: string
  readonly action: "left out" | "cleared" | "shortened" | "summarized"
}

/**
 * @since 0.1.0
 * @category models
 */
export interface Service {
  /** Trims. A failure degrades to the plain window and is retried after a back-off. */
  readonly trim: (input: TrimInput) => Effect.Effect<TrimResult, TrimError>
  /**
   * What to do while materializing is of no use: after a failure, or when a compaction has just made too little room.
   * Must not replace. By default the plain window.
   */
  readonly project?: ((input: TrimInput) => Effect.Effect<TrimResult, TrimError>) | undefined
  /** What `trim` would do, without calling a model. By default unknown. */
  readonly plan?: ((input: TrimInput) => Effect.Effect<TrimResult, TrimError>) | undefined
  /**
   * What becomes of system messages. `keep`, the default: those of the preamble (the system prompt) always stay. `trim`:
   * they go like all others. `free`: all stay and none is charged.
   */
  readonly system?: "keep" | "trim" | "free" | undefined
  /** @internal */
  readonly [Window]?: Window | undefined
}

/**
 * @since 0.1.0
 * @category tags
 */
export class TrimStrategy extends Context.Tag("effect-memory/TrimStrategy")<TrimStrategy, Service>() {}

/**
 * A strategy from a function.
 *
 * @since 0.1.0
 * @category constructors
 */
export const make = (trim: Service["trim"]): Service => ({ trim })

/**
 * How far below the budget a strategy trims, so that the kept prefix stays the same until that much has arrived: a
 * fraction of the budget between 0 and 1, or a number of tokens from 1 on.
 *
 * @since 0.1.0
 * @category models
 */
export type Target = number

/**
 * @since 0.1.0
 * @category models
 */
export interface WindowOptions {
  /** How far below the budget to trim. By default just to the budget. */
  readonly target?: Target | undefined
  /** `trim` lets the system prompt go like any other message. Default `keep`. */
  readonly system?: "keep" | "trim" | undefined
}

const wholeNumber = (name: string, given: number, least: number): Effect.Effect<void, TrimError> =>
  Number.isSafeInteger(given) && given >= least
    ? Effect.void
    : Effect.fail(new TrimError({ reason: `${name} is ${given}: give a finite whole number of at least ${least}` }))

const counted = <A>(self: Effect.Effect<A, TokenCountError | TrimError>): Effect.Effect<A, TrimError> =>
  Effect.catchTag(
    self,
    "TokenCountError",
    (cause) => Effect.fail(new TrimError({ reason: "a count that it needs failed, see the cause", cause }))
  )

/** The result that keeps these inputs and leaves out the others. */
const keeping = (input: TrimInput, kept: ReadonlyArray<number>, strategy: string): TrimResult => {
  const stays = new Set(kept)
  return {
    messages: kept.map((i) => input.messages[i]),
    origin: kept,
    replace: false,
    actions: input.messages.flatMap((_, index) =>
      stays.has(index) ? [] : [{ index, strategy, action: "left out" as const }]
    )
  }
}

/** A strategy that only projects: it does the same whether or not it may materialize. */
const projecting = (trim: Service["trim"], options: Pick<Service, "system" | typeof Window>): Service => ({
  trim,
  project: trim,
  plan: trim,
  ...options
})

/**
 * Drops whole rounds, oldest first, until the rest fits. The newest round, the system prompt and the current summary
 * stay. A projection: nothing is lost, a higher budget brings everything back.
 *
 * @example
 * ```ts
 * import { deepStrictEqual } from "node:assert"
 * import { Effect } from "effect"
 * import { Message, TokenCounter, TrimStrategy } from "effect-memory"
 *
 * const messages = [Message.user("u1"), Message.assistant("a1"), Message.user("u2"), Message.assistant("a2")]
 * const result = TrimStrategy.windowDrop().trim({
 *   messages,
 *   counts: [1, 1, 1, 1],
 *   budget: { maxTokens: 3, maxRounds: undefined },
 *   counter: TokenCounter.characters,
 *   standIns: [],
 *   newest: 2
 * })
 *
 * deepStrictEqual(Effect.runSync(result).messages, messages.slice(2))
 * ```
 *
 * @since 0.1.0
 * @category strategies
 */
export const windowDrop = (options: WindowOptions = {}): Service => {
  const system = options.system ?? "keep"
  return projecting(
    (input) =>
      Effect.map(
        target.resolve(options.target, input.budget),
        (to) => keeping(input, windowIndices(input, system, to), "windowDrop")
      ),
    // An invalid target is reported by the strategy, which the memory then has to ask.
    { system, [Window]: target.isTarget(options.target) ? { system, target: options.target } : undefined }
  )
}

/**
 * Drops whole groups, oldest first, also inside the newest round. System messages stay in place and are free of charge;
 * so do the newest round's user messages, its newest group and its open calls. A projection.
 *
 * @since 0.1.0
 * @category strategies
 */
export const truncate = (options: {
  /** How far below the budget to trim. By default just to the budget. */
  readonly target?: Target | undefined
} = {}): Service =>
  projecting(
    (input) =>
      Effect.map(
        target.resolve(options.target, input.budget),
        (to) => keeping(input, truncateIndices(input, "free", to), "truncate")
      ),
    { system: "free" }
  )

/**
 * Replaces the results of old groups by a short placeholder, oldest first, until the rest fits. Calls stay, so that the
 * model knows what it has done. A projection.
 *
 * @since 0.1.0
 * @category strategies
 */
export const clearToolResults = (options: {
  /** How many of the newest groups with results are left alone. Default 3. The newest one always is. */
  readonly keep?: number | undefined
  /** Names of tools whose results are never cleared. */
  readonly exclude?: ReadonlyArray<string> | undefined
  /** Clears nothing unless at least so many tokens are won. Default 0. */
  readonly minimum?: number | undefined
  /** How far below the budget to trim. By default just to the budget. */
  readonly target?: Target | undefined
} = {}): Service => {
  const { exclude, keep = 3, minimum = 0 } = options
  const clear = clearing(new Set(exclude), keep, minimum)
  return projecting(
    (input) =>
      target.resolve(options.target, input.budget).pipe(
        Effect.zipLeft(Effect.zip(wholeNumber("keep", keep, 0), wholeNumber("minimum", minimum, 0))),
        Effect.flatMap((to) => counted(clear(input, to)))
      ),
    {}
  )
}

/**
 * Cuts over-long text, results and call arguments to head and tail, oldest messages first, until the rest fits. A mark
 * says how much is missing; arguments stay valid JSON; reasoning and system messages are left alone. A projection.
 *
 * @since 0.1.0
 * @category strategies
 */
export const shortenParts = (options: {
  /** Tokens that a part may have at most. */
  readonly maxTokens: number
  /** How far below the budget to trim. By default just to the budget. */
  readonly target?: Target | undefined
}): Service => {
  const shorten = shortening(options.maxTokens)
  return projecting(
    (input) =>
      target.resolve(options.target, input.budget).pipe(
        Effect.zipLeft(wholeNumber("maxTokens", options.maxTokens, 0)),
        Effect.flatMap((to) => counted(shorten(input, to)))
      ),
    {}
  )
}

/**
 * @since 0.1.0
 * @category models
 */
export interface SummarizeOptions {
  /** Tokens that a summary may have at most, beside its prefix. Default 1,024. */
  readonly maxSummaryTokens?: number | undefined
  /** What the summarizer is told instead of the library's own instructions. */
  readonly prompt?: string | undefined
  /** How far below the budget to trim. By default just to the budget. */
  readonly target?: Target | undefined
  /** Role of the message that holds the summary. Default `system`. */
  readonly role?: "system" | "user" | undefined
  /** `trim` lets the system prompt be summarized like any other message. Default `keep`. */
  readonly system?: "keep" | "trim" | undefined
}

/**
 * Has the oldest rounds summarized, and materializes the summary: it stands for them from then on, and is merged into
 * the next one. Where the newest round alone leaves no room, its closed groups are summarized too. Nothing is asked
 * for that could not make room; then whole rounds are dropped as {@link windowDrop} does.
 *
 * @since 0.1.0
 * @category strategies
 */
export const summarize = (
  options: SummarizeOptions = {}
): Effect.Effect<Service, never, Summarizer.Summarizer> =>
  Effect.map(Summarizer.Summarizer, (summarizer): Service => {
    const settings: SummarizeSettings = {
      maxSummaryTokens: options.maxSummaryTokens ?? 1024,
      prompt: options.prompt,
      target: options.target,
      role: options.role ?? "system",
      system: options.system ?? "keep"
    }
    const window = windowDrop({ target: options.target, system: settings.system })
    const orWindow = (attempt: (input: TrimInput) => SummaryAttempt): Service["trim"] => (input) =>
      wholeNumber("maxSummaryTokens", settings.maxSummaryTokens, 1).pipe(
        Effect.zipRight(attempt(input)),
        Effect.flatMap((result) => result === undefined ? window.trim(input) : Effect.succeed(result)),
        counted
      )
    return {
      trim: orWindow((input) => trimWithSummary(input, settings, summarizer)),
      project: window.trim,
      plan: orWindow((input) => planSummary(input, settings)),
      system: settings.system
    }
  })

/**
 * Tries strategies in turn, each on what the one before has left, until the budget holds: first what is cheap and
 * reversible, then what is not. What one stage has only left out is never materialized by a later one.
 *
 * @example
 * ```ts
 * import { strictEqual } from "node:assert"
 * import { TrimStrategy } from "effect-memory"
 *
 * const strategy = TrimStrategy.cascade(
 *   TrimStrategy.clearToolResults({ keep: 2 }),
 *   TrimStrategy.shortenParts({ maxTokens: 2000 }),
 *   TrimStrategy.windowDrop()
 * )
 *
 * strictEqual(typeof strategy.trim, "function")
 * ```
 *
 * @since 0.1.0
 * @category strategies
 */
export const cascade = (...strategies: ReadonlyArray<Service>): Service => {
  // Stages that leave system messages alone follow the others; where those differ, all are charged.
  const rules = new Set(strategies.flatMap(({ system }) => system === undefined ? [] : [system]))
  const system = rules.size === 1 ? Array.from(rules)[0] : "keep"
  const through = (stages: ReadonlyArray<Service["trim"]>): Service["trim"] => (input) =>
    counted(runCascade(input, stages, system))
  const trims = through(strategies.map((strategy) => strategy.trim))
  const projects = strategies.every((strategy) => strategy.project === strategy.trim)
  return {
    trim: trims,
    project: projects ? trims : through(strategies.flatMap(({ project }) => project === undefined ? [] : [project])),
    plan: strategies.every((strategy) => strategy.plan !== undefined)
      ? through(strategies.flatMap(({ plan }) => plan === undefined ? [] : [plan]))
      : undefined,
    system
  }
}

/**
 * {@link windowDrop} with its defaults.
 *
 * @since 0.1.0
 * @category layers
 */
export const layerWindowDrop: Layer.Layer<TrimStrategy> = Layer.sync(TrimStrategy, () => windowDrop())

/**
 * {@link truncate} with its defaults.
 *
 * @since 0.1.0
 * @category layers
 */
export const layerTruncate: Layer.Layer<TrimStrategy> = Layer.sync(TrimStrategy, () => truncate())

/**
 * {@link summarize} over a summarizer from outside.
 *
 * @since 0.1.0
 * @category layers
 */
export const layerSummarize = (
  options?: SummarizeOptions
): Layer.Layer<TrimStrategy, never, Summarizer.Summarizer> => Layer.effect(TrimStrategy, summarize(options))

/**
 * {@link cascade} of strategies and of effects that make one; what they need, the layer needs.
 *
 * @since 0.1.0
 * @category layers
 */
export function layerCascade<const Stages extends ReadonlyArray<Service | Effect.Effect<Service, unknown, unknown>>>(
  ...stages: Stages
): Layer.Layer<TrimStrategy, StageError<Stages[number]>, StageContext<Stages[number]>>
export function layerCascade<E, R>(
  ...stages: ReadonlyArray<Service | Effect.Effect<Service, E, R>>
): Layer.Layer<TrimStrategy, E, R> {
  return Layer.effect(
    TrimStrategy,
    Effect.map(
      Effect.forEach(stages, (stage) => Effect.isEffect(stage) ? stage : Effect.succeed(stage)),
      (strategies) => cascade(...strategies)
    )
  )
}

/**
 * What a test strategy was given.
 *
 * @since 0.1.0
 * @category testing
 */
export class TestInputs extends Context.Tag("effect-memory/TrimStrategy/TestInputs")<
  TestInputs,
  {
    /** Every input so far, in order. */
    readonly inputs: Effect.Effect<ReadonlyArray<TrimInput>>
  }
>() {}

/**
 * A strategy for tests: it trims by a plain function, and records its inputs. By default it keeps the newest round and
 * materializes nothing.
 *
 * @example
 * ```ts
 * import { deepStrictEqual, strictEqual } from "node:assert"
 * import { Effect, Layer } from "effect"
 * import { Memory, MemoryStore, Message, TokenCounter, TrimStrategy } from "effect-memory"
 *
 * const MemoryTest = Memory.layer({ maxTokens: 1 }).pipe(
 *   Layer.provideMerge(TrimStrategy.layerTest()),
 *   Layer.provide([TokenCounter.layerTest(), MemoryStore.layerMemory])
 * )
 *
 * const program = Effect.gen(function*() {
 *   const memory = yield* Memory.Memory
 *   const test = yield* TrimStrategy.TestInputs
 *   yield* memory.recordAll([Message.user("u1"), Message.user("u2")])
 *   return { context: yield* memory.context, inputs: yield* test.inputs }
 * }).pipe(Effect.provide(MemoryTest))
 *
 * const { context, inputs } = Effect.runSync(program)
 *
 * deepStrictEqual(context, [Message.user("u2")])
 * strictEqual(inputs.length, 1)
 * ```
 *
 * @since 0.1.0
 * @category testing
 */
export const layerTest = (
  trim: (input: TrimInput) => TrimResult = ({ messages, newest }) => ({
    messages: messages.slice(newest),
    replace: false
  })
): Layer.Layer<TrimStrategy | TestInputs> =>
  Layer.effectContext(
    Effect.map(Ref.make<ReadonlyArray<TrimInput>>([]), (inputs) =>
      Context.make(TestInputs, { inputs: Ref.get(inputs) }).pipe(
        Context.add(
          TrimStrategy,
          make((input) =>
            Effect.map(Ref.update(inputs, (seen) => [...seen, input]), () => trim(input))
          )
        )
      ))
  )

type StageError<Stage> = Stage extends Effect.Effect<Service, infer E, unknown> ? E : never
type StageContext<Stage> = Stage extends Effect.Effect<Service, unknown, infer R> ? R : never
