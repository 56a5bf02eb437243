/**
 * Fitting a list of messages into a model's window, without keeping anything: for those who keep the history themselves.
 *
 * @example
 * ```ts
 * import { deepStrictEqual } from "node:assert"
 * import { Effect } from "effect"
 * import { ContextWindow, Message } from "effect-memory"
 *
 * const program = Effect.gen(function*() {
 *   const window = yield* ContextWindow.ContextWindow
 *   return yield* window.fit([
 *     Message.system("Be brief."),
 *     Message.user("An old question"),
 *     Message.assistant("An old answer"),
 *     Message.user("New?")
 *   ])
 * }).pipe(Effect.provide(ContextWindow.layerTruncate({ maxTokens: 4 })))
 *
 * deepStrictEqual(Effect.runSync(program), [Message.system("Be brief."), Message.user("New?")])
 * ```
 *
 * @since 0.1.0
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Budget from "./Budget.js"
import { countAll, remembering } from "./internal/counting.js"
import type { Forms } from "./internal/forms.js"
import { inputOf, runStrategy, systemRule } from "./internal/runStrategy.js"
import * as tag from "./internal/tag.js"
import * as target from "./internal/target.js"
import { isOver } from "./internal/trimmer.js"
import { truncate } from "./internal/truncate.js"
import { validMessages } from "./internal/validMessages.js"
import { type Counts, View } from "./internal/view.js"
import { limitsOf } from "./internal/windowDrop.js"
import { type InvalidBudget, type InvalidMessage, type TokenCountError, TrimError } from "./MemoryError.js"
import type * as Message from "./Message.js"
import * as TokenCounter from "./TokenCounter.js"
import * as TrimStrategy from "./TrimStrategy.js"

/**
 * @since 0.1.0
 * @category models
 */
export interface Service {
  /** The window, in tokens. */
  readonly maxTokens: number
  /**
   * The messages, trimmed if they are over the window. A summary that an earlier call made is merged into the next one.
   *
   * Fails with `InvalidMessage` for something that is not a message, and with `TokenCountError` if the counter fails. A
   * strategy that fails, or takes more than two minutes, is no failure: groups are dropped instead.
   */
  readonly fit: (
    messages: Iterable<Message.Message>
  ) => Effect.Effect<Array<Message.Message>, InvalidMessage | TokenCountError>
}

/**
 * @since 0.1.0
 * @category tags
 */
export class ContextWindow extends Context.Tag("effect-memory/ContextWindow")<ContextWindow, Service>() {}

/**
 * @since 0.1.0
 * @category models
 */
export interface Options {
  /** The window, in tokens. */
  readonly maxTokens: number
}

/**
 * A window over a counter and a strategy. Fails with `InvalidBudget` unless `maxTokens` is a finite whole number ≥ 0.
 *
 * @since 0.1.0
 * @category constructors
 */
export const make = Effect.fnUntraced(function*(
  options: Options
): Effect.fn.Return<Service, InvalidBudget, TokenCounter.TokenCounter | TrimStrategy.TrimStrategy> {
  const budget = yield* Budget.tokens(options.maxTokens)
  const strategy = yield* TrimStrategy.TrimStrategy
  const system = systemRule(strategy)
  const counts: Counts = new WeakMap()
  const forms: Forms = new WeakMap()
  const counter = remembering(yield* TokenCounter.TokenCounter, counts)

  const trimWith = (view: View, trim: TrimStrategy.Service["trim"]) => {
    const items = view.snapshot()
    const given = inputOf(items, budget, counter)
    return Effect.map(
      runStrategy(items, given, budget, system, trim),
      ({ context }) => context.map(({ message }) => message)
    )
  }

  const dropGroups: TrimStrategy.Service["trim"] = (input) => {
    const origin = truncate(input, system, target.none)
    return Effect.succeed({ messages: origin.map((i) => input.messages[i]), origin, replace: false })
  }

  const viewOf = (messages: ReadonlyArray<Message.Message>): View => {
    const view = new View({ repair: true, system }, counts, forms)
    messages.forEach((message, i) =>
      view.append({ message, sequence: tag.isSummary(message) ? -1 : i, protected: false })
    )
    return view
  }

  const fit: Service["fit"] = Effect.fn("ContextWindow.fit")(function*(messages) {
    const valid = yield* validMessages(messages)
    const view = viewOf(valid)
    yield* countAll(counter, view.uncounted().map(({ message }) => message))
    if (!isOver(view, budget, counter.overhead)) return view.all()
    return yield* trimWith(view, strategy.trim).pipe(
      Effect.timeoutFail({
        duration: "2 minutes",
        onTimeout: () => new TrimError({ reason: "no result within 2 minutes: bound what it waits for" })
      }),
      Effect.catchTag("TrimError", (error) =>
        Effect.zipRight(
          Effect.logDebug("The strategy failed, groups are dropped instead", error),
          trimWith(view, dropGroups)
        )),
      // Truncation asks nobody and does not fail; whole rounds are what is left if it should.
      Effect.catchTag(
        "TrimError",
        () => Effect.sync(() => view.window(limitsOf(budget), counter.overhead, target.none).messages)
      )
    )
  })

  return { maxTokens: options.maxTokens, fit }
})

/**
 * A window over a counter and a strategy from outside.
 *
 * @since 0.1.0
 * @category layers
 */
export const layer = (
  options: Options
): Layer.Layer<ContextWindow, InvalidBudget, TokenCounter.TokenCounter | TrimStrategy.TrimStrategy> =>
  Layer.effect(ContextWindow, make(options))

/**
 * A window with all defaults: characters are counted, groups are dropped, system messages stay and are free.
 *
 * @since 0.1.0
 * @category layers
 */
export const layerTruncate = (options: Options): Layer.Layer<ContextWindow, InvalidBudget> =>
  layer(options).pipe(Layer.provide([TokenCounter.layerCharacters, TrimStrategy.layerTruncate]))
