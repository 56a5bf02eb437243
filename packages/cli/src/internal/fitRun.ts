/**
 * What `effect-memory fit` does.
 */
import type { Conversation } from "@effect-memory/formats/Conversation"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import type * as Message from "effect-memory/Message"
import { OverBudget, SeveralOverBudget } from "../CliError.js"
import * as Fit from "../Fit.js"
import * as asked from "./asked.js"
import * as Breath from "./breath.js"
import * as destination from "./destination.js"
import * as means from "./means.js"
import * as memory from "./memory.js"
import type { ProviderName } from "./names.js"
import { count, percent, plural } from "./numbers.js"
import * as Progress from "./progress.js"
import { rulesOf } from "./rules.js"
import type { Style } from "./style.js"
import * as transcript from "./transcript.js"
import * as writer from "./writer.js"

/** @internal */
export interface Options extends transcript.Source, means.Options, Omit<memory.Options, "provider"> {
  /** Default: that of the format it is written in. */
  readonly provider: Option.Option<ProviderName>
  /** Default: the format it is read from. */
  readonly to: Option.Option<string>
  /** A path, or `-` for standard output. */
  readonly output: string
  readonly json: boolean
}

const encode = Schema.encodeSync(Schema.parseJson(Fit.Report))

const sizeOf = ({ messages, tokens }: Fit.Figures["recorded"]): string =>
  `${plural(messages, "message")}, ${plural(tokens, "token")}`

const lines = (file: string, report: Fit.Report, counter: string, style: Style): ReadonlyArray<string> => {
  const { charged, cleared, context, exact, leftOut, maxTokens, notes, recorded, shortened, summarized } = report
  const full = (tokens: number): string => {
    const text = `${percent(tokens, maxTokens)} of ${count(maxTokens)}`
    return tokens > maxTokens ? style.bad(text) : text
  }
  // Where system messages are free, they are handed out beside the budget.
  const free = context.tokens - charged
  const uncharged = free > 0 ? `, ${count(free)} of them free of charge in system messages` : ""
  const done = [
    leftOut.rounds > 0 ? `${plural(leftOut.rounds, "round")} left out` : "",
    summarized > 0 ? `${plural(summarized, "message")} summarized` : "",
    cleared > 0 ? `${plural(cleared, "result")} cleared` : "",
    shortened > 0 ? `${plural(shortened, "part")} shortened` : ""
  ].filter((text) => text !== "")
  return [
    writer.title(file, report, style),
    `  ${sizeOf(recorded)} → ${sizeOf(context)}${uncharged}, ${full(charged)}`,
    ...(exact === undefined ? [] : [`  ${plural(exact, "token")} as ${counter} counts what is left, ${full(exact)}`]),
    ...(done.length === 0 ? [] : [`  ${done.join(", ")}`]),
    ...writer.noteLines(notes, style)
  ]
}

/** By the service, where it was asked. */
const takes = ({ charged, exact }: Fit.Figures): number => exact ?? charged

const overBudget = (file: string, report: Fit.Report, counter: string): OverBudget => {
  const { conversation, exact, maxTokens, strategy } = report
  const service = exact === undefined ? undefined : counter
  return new OverBudget({ file, conversation, strategy, tokens: takes(report), maxTokens, service })
}

/** @internal */
export const fit = Effect.fn("Cli.fit")(function*(options: Options) {
  const { json, maxTokens, output, strategy } = options
  const file = transcript.nameOf(options.file)
  const to = yield* transcript.optionalFormat(options.to)
  const { style, tell } = yield* destination.teller(output)
  const progress = yield* Progress.make({
    label: `Fitting ${file}`,
    show: (messages) => plural(messages, "message"),
    printing: output === "-"
  })
  const { asked: services, counter, summarizer } = yield* means.make(options, progress.say, [strategy])
  const { breathe } = yield* Breath.make
  const countOne = (message: Message.Message) =>
    Effect.zipRight(counter.countMessage(message), Effect.zipRight(progress.add(1), breathe))

  const fitOne = Effect.fnUntraced(function*(conversation: Conversation, write: writer.Writer) {
    const provider = rulesOf(yield* writer.codecOf(to, conversation), options.provider)
    // What takes long, and is not counted again.
    yield* Effect.forEach(conversation.messages, countOne, { discard: true })
    // A memory of its own for each conversation.
    const { figures, messages } = yield* Layer.build(memory.layer({ ...options, provider }, counter, summarizer)).pipe(
      Effect.flatMap((context) => Effect.provide(Fit.fit(conversation.messages), context)),
      Effect.scoped
    )
    const written = yield* write({ ...conversation, messages }, provider)
    const report = Fit.Report.make({ ...written, strategy, maxTokens, rules: provider, ...figures })
    yield* progress.clear
    yield* tell(json ? [encode(report)] : lines(file, report, options.counter, style))
    return report
  })

  const nothing: ReadonlyArray<OverBudget> = []
  const fitAll = (write: writer.Writer) =>
    transcript.foldInto(output, options, nothing, (over, conversation) =>
      Effect.map(
        fitOne(conversation, write),
        (report) => takes(report) > maxTokens ? [...over, overBudget(file, report, options.counter)] : over
      ))

  const [over, seen] = yield* destination.writing(
    output,
    (write) => Effect.flatMap(writer.make(file, to, write), fitAll)
  )
  const all = yield* services
  yield* tell(json ? all.map(asked.json) : asked.lines(all, style))
  const first = over.slice(0, transcript.mostErrors)
  yield* transcript.complain([
    ...(over.length === 0 ? [] : [new SeveralOverBudget({ first, more: over.length - first.length })]),
    ...transcript.faults(options, seen)
  ])
}, Effect.scoped)
