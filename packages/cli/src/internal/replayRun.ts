/**
 * What `effect-memory replay` does.
 */
import type * as Conversation from "@effect-memory/formats/Conversation"
import * as Effect from "effect/Effect"
import type * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import * as Replay from "../Replay.js"
import * as Breath from "./breath.js"
import * as means from "./means.js"
import * as memory from "./memory.js"
import type { ProviderName, StrategyName } from "./names.js"
import { plural } from "./numbers.js"
import { printLines, stdoutStyle } from "./output.js"
import * as Progress from "./progress.js"
import { forPeople, forPrograms } from "./report.js"
import * as transcript from "./transcript.js"

/** @internal */
export interface Options extends transcript.Source, means.Options {
  readonly maxTokens: ReadonlyArray<number>
  readonly maxRounds: Option.Option<number>
  /** None for the default. */
  readonly strategies: ReadonlyArray<StrategyName>
  readonly target: Option.Option<number>
  readonly provider: ProviderName
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

const reportOf = ({ file, json }: Options, variants: ReadonlyArray<Variant>, exact: boolean) =>
  json
    ? Effect.succeed(forPrograms)
    : Effect.map(stdoutStyle, (style) => forPeople(transcript.nameOf(file), variants, exact, style))

/** @internal */
export const replay = Effect.fn("Cli.replay")(function*(options: Options) {
  const variants = variantsOf(options)
  const progress = yield* Progress.make({
    label: `Replaying ${transcript.nameOf(options.file)}`,
    show: (contexts) => plural(contexts, "context"),
    printing: options.json || variants.length === 1
  })
  const { breathe } = yield* Breath.make
  const { asked, counter, summarizer } = yield* means.make(
    options,
    progress.say,
    variants.map(({ strategy }) => strategy)
  )
  const report = yield* reportOf(options, variants, counter.countConversation !== undefined)
  const rules = options.provider === "none" ? "pairing" : options.provider

  const replayWith = Effect.fnUntraced(function*(conversation: Conversation.Conversation, variant: Variant) {
    const { index, messages } = conversation
    const one = { ...variant, conversation: index + 1 }
    yield* printLines(report.begin(conversation))
    const summary = yield* Replay.turns(messages, one).pipe(
      Stream.provideLayer(memory.layer({ ...options, ...variant }, counter, summarizer)),
      Stream.tap((turn) => printLines(report.turn(turn))),
      Stream.tap(() => Effect.zipRight(progress.add(1), breathe)),
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
  yield* progress.clear
  if (seen.wanted > 0) yield* printLines([...report.totals(totals), ...report.asked(yield* asked)])
  yield* transcript.complain(transcript.faults(options, seen))
}, Effect.scoped)
