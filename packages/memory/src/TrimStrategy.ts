/**
 * How a conversation that is over its budget becomes one that fits. A strategy is a value, and anyone can write one.
 *
 * @example
 * ```ts
 * import * as assert from "node:assert"
 * import { Effect } from "effect"
 * import { TrimStrategy } from "effect-memory"
 *
 * // Keeps the newest round and nothing else.
 * const newestOnly = TrimStrategy.make(({ messages, newest }) =>
 *   Effect.succeed({ messages: messages.slice(newest), replace: false })
 * )
 *
 * assert.strictEqual(typeof newestOnly.trim, "function")
 * ```
 *
 * @since 0.1.0
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"

import type * as Budget from "./Budget.js"
import * as target from "./internal/target.js"
import { windowDrop as keptIndices, WindowOptions as Window } from "./internal/windowDrop.js"
import type { TrimError } from "./MemoryError.js"
import type * as Message from "./Message.js"
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
  /** Tokens of each message. */
  readonly counts: ReadonlyArray<number>
  /** What the messages and the counter's overhead may take. */
  readonly budget: Budget.Budget
  /** Counts new messages; those above are not counted again. */
  readonly counter: TokenCounter.Service
  /** Indices of the messages that stand for others: the current compaction. */
  readonly standIns: ReadonlyArray<number>
  /** Where the newest round begins. */
  readonly newest: number
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

const project = (
  input: TrimInput,
  options: WindowOptions
): Effect.Effect<TrimResult, TrimError> =>
  Effect.map(target.resolve(options.target, input.budget), (to) => {
    const kept = keptIndices(input, options.system ?? "keep", to)
    return { messages: kept.map((i) => input.messages[i]), origin: kept, replace: false }
  })

/**
 * Drops whole rounds, oldest first, until the rest fits. The newest round, the system prompt and the current summary
 * stay. A projection: nothing is lost, a higher budget brings everything back.
 *
 * @example
 * ```ts
 * import * as assert from "node:assert"
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
 * assert.deepStrictEqual(Effect.runSync(result).messages, messages.slice(2))
 * ```
 *
 * @since 0.1.0
 * @category strategies
 */
export const windowDrop = (options: WindowOptions = {}): Service => {
  const trim = (input: TrimInput) => project(input, options)
  const system = options.system ?? "keep"
  return { trim, project: trim, plan: trim, system, [Window]: { system, target: options.target } }
}

/**
 * {@link windowDrop} with its defaults.
 *
 * @since 0.1.0
 * @category layers
 */
export const layerWindowDrop: Layer.Layer<TrimStrategy> = Layer.sync(TrimStrategy, () => windowDrop())
