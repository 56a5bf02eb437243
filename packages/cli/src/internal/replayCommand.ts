/**
 * `effect-memory replay`.
 */
import * as Args from "@effect/cli/Args"
import * as Command from "@effect/cli/Command"
import * as HelpDoc from "@effect/cli/HelpDoc"
import * as Options from "@effect/cli/Options"
import * as Terminal from "@effect/platform/Terminal"
import * as Conversation from "@effect-memory/formats/Conversation"
import type { FormatError } from "@effect-memory/formats/FormatError"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import * as Memory from "effect-memory/Memory"
import * as MemoryStore from "effect-memory/MemoryStore"
import { FileError, NoSuchConversation, UnreadableRecords } from "../CliError.js"
import * as Replay from "../Replay.js"
import * as Breath from "./breath.js"
import * as choices from "./choices.js"
import { wholeNumber } from "./options.js"
import { coloursWanted, printLines } from "./output.js"
import * as Progress from "./progress.js"
import { forPeople, forPrograms } from "./report.js"
import { coloured, plain } from "./style.js"
import * as transcript from "./transcript.js"

const config = {
  file: Args.text({ name: "file" }).pipe(
    Args.withDescription("The transcript: a JSON document, or a JSON record a line.")
  ),
  maxTokens: wholeNumber("max-tokens", 0, "The budget: most tokens of a context."),
  maxRounds: wholeNumber("max-rounds", 0, "Most rounds of a context.").pipe(Options.optional),
  strategy: Options.choice("strategy", choices.strategyNames).pipe(
    Options.withDescription("What is done to a conversation that is over the budget."),
    Options.withDefault("window")
  ),
  counter: Options.choice("counter", choices.counterNames).pipe(
    Options.withDescription("What counts the tokens."),
    Options.withDefault("characters")
  ),
  format: Options.choice("format", choices.formatNames).pipe(
    Options.withDescription("The format of the file. By default it is found by content."),
    Options.optional
  ),
  conversation: wholeNumber("conversation", 1, "Replay this one only, of a file that holds many.").pipe(
    Options.optional
  ),
  json: Options.boolean("json").pipe(
    Options.withDescription("Write JSON lines: an object for each context, for each conversation and for the file.")
  )
}

const example = (line: string, what: string): HelpDoc.HelpDoc =>
  HelpDoc.p(`effect-memory replay ${line}\n      ${what}`)

const help = HelpDoc.blocks([
  HelpDoc.p(
    "Records a transcript message after message, asks for the context before each reply as an agent would and once " +
      "at the end, and shows what every context holds and what it leaves out."
  ),
  HelpDoc.p("Examples:"),
  HelpDoc.enumeration([
    example("session.jsonl --max-tokens 8000", "A row for each context, then the totals."),
    example("session.jsonl --max-tokens 8000 --max-rounds 10", "At most ten rounds."),
    example("requests.jsonl --max-tokens 8000 --conversation 3", "The third conversation of the file only."),
    example("session.jsonl --max-tokens 8000 --json | jq .context.tokens", "For programs.")
  ])
])

type Config = Command.Command.ParseConfig<typeof config>

/** A memory of its own for each conversation, with the counter beside it. */
const memoryOf = ({ counter, maxRounds, maxTokens, strategy }: Config) =>
  Memory.layer({ maxTokens, maxRounds: Option.getOrUndefined(maxRounds) }).pipe(
    Layer.provideMerge(Layer.mergeAll(
      choices.counters[counter],
      choices.strategies[strategy],
      MemoryStore.layerMemory
    ))
  )

const reportOf = Effect.fnUntraced(function*({ file, json, maxTokens }: Config) {
  if (json) return forPrograms
  const terminal = yield* Terminal.Terminal
  const colours = yield* coloursWanted(yield* terminal.isTTY)
  return forPeople(file, maxTokens, colours ? coloured : plain)
})

/** What a file has shown so far. */
interface Seen {
  readonly conversations: number
  readonly totals: Replay.Totals
  readonly unreadable: number
  readonly firstUnreadable: FormatError | undefined
}

const nothing: Seen = { conversations: 0, totals: Replay.nothing, unreadable: 0, firstUnreadable: undefined }

/** What is wrong with a file after all of it was seen, as one error. */
const complaint = ({ conversation, file }: Config, { conversations, firstUnreadable, totals, unreadable }: Seen) => {
  if (Option.isSome(conversation)) {
    if (totals.conversations > 0) return undefined
    if (conversations > 0) return new NoSuchConversation({ file, given: conversation.value, conversations })
  }
  if (firstUnreadable !== undefined) {
    return unreadable === 1 ? firstUnreadable : new UnreadableRecords({ first: firstUnreadable, more: unreadable - 1 })
  }
  return conversations > 0
    ? undefined
    : new FileError({ file, reason: "there is no conversation in it: give a transcript" })
}

const handler = Effect.fn("Cli.replay")(function*(options: Config) {
  const { file, maxTokens } = options
  const report = yield* reportOf(options)
  const progress = yield* Progress.make(`Replaying ${file}`)
  const { breathe } = yield* Breath.make
  const memory = memoryOf(options)

  const replay = Effect.fnUntraced(function*(conversation: Conversation.Conversation) {
    const { index, messages } = conversation
    yield* printLines(report.begin(conversation))
    const summary = yield* Replay.turns(messages, { conversation: index + 1, maxTokens }).pipe(
      Stream.provideLayer(memory),
      Stream.tap((turn) => printLines(report.turn(turn))),
      Stream.tap(() => Effect.zipRight(progress.advance, breathe)),
      Stream.runFold(Replay.begin(messages, index + 1), Replay.addTurn)
    )
    yield* printLines(report.summary(summary))
    return summary
  })

  const isWanted = ({ index }: Conversation.Conversation) =>
    Option.match(options.conversation, { onNone: () => true, onSome: (wanted) => index + 1 === wanted })

  const see = (seen: Seen, item: Conversation.Conversation | FormatError): Effect.Effect<
    Seen,
    Effect.Effect.Error<ReturnType<typeof replay>>,
    Effect.Effect.Context<ReturnType<typeof replay>>
  > => {
    if (!Conversation.isConversation(item)) {
      return Effect.succeed({
        ...seen,
        unreadable: seen.unreadable + 1,
        firstUnreadable: seen.firstUnreadable ?? item
      })
    }
    const next = { ...seen, conversations: seen.conversations + 1 }
    return isWanted(item)
      ? Effect.map(replay(item), (summary) => ({ ...next, totals: Replay.addSummary(seen.totals, summary) }))
      : Effect.succeed(next)
  }

  const seen = yield* transcript.conversations(file, Option.getOrUndefined(options.format)).pipe(
    Stream.takeUntil((item) =>
      Option.isSome(options.conversation) && Conversation.isConversation(item) && isWanted(item)
    ),
    Stream.runFoldEffect(nothing, see)
  )
  if (seen.totals.conversations > 0) yield* printLines(report.totals(seen.totals))
  const wrong = complaint(options, seen)
  if (wrong !== undefined) return yield* wrong
}, Effect.scoped)

/** @internal */
export const command = Command.make("replay", config, handler).pipe(Command.withDescription(help))
