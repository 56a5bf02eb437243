/**
 * What `effect-memory replay` does.
 */
import * as Terminal from "@effect/platform/Terminal"
import type * as Conversation from "@effect-memory/formats/Conversation"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import * as Memory from "effect-memory/Memory"
import * as MemoryStore from "effect-memory/MemoryStore"
import * as TokenCounter from "effect-memory/TokenCounter"
import * as Replay from "../Replay.js"
import * as Breath from "./breath.js"
import * as choices from "./choices.js"
import * as counters from "./counters.js"
import type { ProviderName, StrategyName } from "./names.js"
import { coloursWanted, printLines } from "./output.js"
import * as Progress from "./progress.js"
import { forPeople, forPrograms } from "./report.js"
import { coloured, plain } from "./style.js"
import * as transcript from "./transcript.js"

/** @internal */
export interface Options extends transcript.Source {
  readonly maxTokens: ReadonlyArray<number>
  readonly maxRounds: Option.Option<number>
  /** None for the default. */
  readonly strategies: ReadonlyArray<StrategyName>
  readonly target: Option.Option<number>
  readonly provider: ProviderName
  readonly counter: string
  readonly json: boolean
}

/** What is compared. */
interface Variant {
  readonly strategy: StrategyName
  readonly maxTokens: number
}

const variantsOf = ({ maxTokens, strategies }: Options): ReadonlyArray<Variant> =>
  (strategies.length === 0 ? ["window" as const] : strategies)
    .flatMap((strategy) => maxTokens.map((maxTokens) => ({ strategy, maxTokens })))

/** A memory of its own for each conversation, with the counter beside it. */
const memoryOf = ({ maxRounds, provider, target }: Options, counter: TokenCounter.Service) => (variant: Variant) => {
  const { maxTokens, strategy } = variant
  return Memory.layer({ maxTokens, maxRounds: Option.getOrUndefined(maxRounds), rules: provider }).pipe(
    Layer.provide([
      choices.strategy(strategy, { maxTokens, target: Option.getOrUndefined(target) }),
      MemoryStore.layerMemory
    ]),
    Layer.provideMerge(Layer.succeed(TokenCounter.TokenCounter, counter))
  )
}

const reportOf = Effect.fnUntraced(function*({ file, json }: Options, variants: ReadonlyArray<Variant>) {
  if (json) return forPrograms
  const terminal = yield* Terminal.Terminal
  const colours = yield* coloursWanted(yield* terminal.isTTY)
  return forPeople(transcript.nameOf(file), variants, colours ? coloured : plain)
})

/** @internal */
export const replay = Effect.fn("Cli.replay")(function*(options: Options) {
  const variants = variantsOf(options)
  const report = yield* reportOf(options, variants)
  const progress = yield* Progress.make(`Replaying ${transcript.nameOf(options.file)}`)
  const { breathe } = yield* Breath.make
  const memory = memoryOf(options, yield* counters.make(options.counter))
  const rules = options.provider === "none" ? "pairing" : options.provider

  const replayWith = Effect.fnUntraced(function*(conversation: Conversation.Conversation, variant: Variant) {
    const { index, messages } = conversation
    const one = { ...variant, conversation: index + 1 }
    yield* printLines(report.begin(conversation))
    const summary = yield* Replay.turns(messages, one).pipe(
      Stream.provideLayer(memory(variant)),
      Stream.tap((turn) => printLines(report.turn(turn))),
      Stream.tap(() => Effect.zipRight(progress.advance, breathe)),
      Stream.runFold(Replay.begin(messages, one, rules), Replay.addTurn)
    )
    yield* printLines(report.summary(summary))
    return summary
  })

  const [totals, seen] = yield* transcript.fold(
    options,
    variants.map(Replay.nothing),
    (totals, conversation) =>
      Effect.forEach(totals, (total, i) =>
        Effect.map(
          replayWith(conversation, variants[i]),
          (summary) => Replay.addSummary(total, summary)
        ))
  )
  if (seen.wanted > 0) yield* printLines(report.totals(totals))
  yield* transcript.complain(options, seen)
}, Effect.scoped)
