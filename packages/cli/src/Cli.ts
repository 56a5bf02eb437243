/**
 * The commands of `effect-memory`.
 *
 * @since 0.1.0
 */
import * as Command from "@effect/cli/Command"
import * as HelpDoc from "@effect/cli/HelpDoc"
import * as ValidationError from "@effect/cli/ValidationError"
import * as FileSystem from "@effect/platform/FileSystem"
import * as Path from "@effect/platform/Path"
import * as Terminal from "@effect/platform/Terminal"
import * as Cause from "effect/Cause"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { InvalidOptions } from "./CliError.js"
import { normalized } from "./internal/argv.js"
import { checkArgs } from "./internal/checkArgs.js"
import * as check from "./internal/checkCommand.js"
import { tidied } from "./internal/console.js"
import * as convert from "./internal/convertCommand.js"
import * as count from "./internal/countCommand.js"
import * as fit from "./internal/fitCommand.js"
import * as formats from "./internal/formatsCommand.js"
import { coloursWanted } from "./internal/output.js"
import * as replay from "./internal/replayCommand.js"
import { Stderr } from "./Stderr.js"
import { Stdin } from "./Stdin.js"

const about = HelpDoc.blocks([
  HelpDoc.p("Conversation memory for LLM agents, tried on recorded transcripts."),
  HelpDoc.p("Commands:"),
  HelpDoc.enumeration([
    HelpDoc.p("replay   shows what every context of a conversation holds, and compares budgets and strategies"),
    HelpDoc.p("fit      brings transcripts within a budget, ready to be sent"),
    HelpDoc.p("count    counts tokens, by message, round, role or kind of part"),
    HelpDoc.p("check    finds what a provider would refuse, and repairs it"),
    HelpDoc.p("convert  writes transcripts in another format"),
    HelpDoc.p("formats  lists the formats that are read and written")
  ]),
  HelpDoc.p("Each explains itself: effect-memory replay --help.")
])

const root = Command.make("effect-memory").pipe(
  Command.withDescription(about),
  Command.withSubcommands([
    replay.command,
    fit.command,
    count.command,
    check.command,
    convert.command,
    formats.command
  ])
)

const Manifest = Schema.parseJson(Schema.Struct({ version: Schema.String }))

/** Read at run time: the manifest is one folder up from the source as well as from the bundle. */
const version = Effect.gen(function*() {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const file = yield* path.fromFileUrl(new URL("../package.json", import.meta.url))
  const manifest = yield* Effect.flatMap(fs.readFileString(file), Schema.decode(Manifest))
  return manifest.version
}).pipe(Effect.orElseSucceed(() => "unknown"))

/** What is left to say about a failure: the parser has printed its own errors. */
const complaint = (cause: Cause.Cause<unknown>): string | undefined => {
  if (Cause.isInterruptedOnly(cause)) return undefined
  const failure = Option.getOrUndefined(Cause.failureOption(cause))
  if (ValidationError.isValidationError(failure)) return undefined
  return failure instanceof Error
    ? failure.message
    : `This is a fault of effect-memory, please report it. ${Cause.pretty(cause)}`
}

/** Without a person to answer, the wizard would wait for ever. */
const checkWizard = Effect.fnUntraced(function*(args: ReadonlyArray<string>) {
  const stdin = yield* Stdin
  const terminal = yield* Terminal.Terminal
  if (args.includes("--wizard") && !(stdin.isTerminal && (yield* terminal.isTTY))) {
    return yield* new InvalidOptions({ reason: "--wizard asks questions: run it in a terminal" })
  }
})

/**
 * Runs the command that the arguments name; the first two are the runtime and the script. An error is printed once, as a
 * sentence, and the effect fails so that the exit code says so. A reader that goes away ends it without one.
 *
 * @since 0.1.0
 * @category running
 */
export const run = Effect.fn("Cli.run")(function*(argv: ReadonlyArray<string>) {
  const stderr = yield* Stderr
  const terminal = yield* Terminal.Terminal
  const console = yield* Console.consoleWith(Effect.succeed)
  const stdoutIsTerminal = yield* terminal.isTTY
  const colours = {
    stdout: yield* coloursWanted(stdoutIsTerminal),
    stderr: yield* coloursWanted(stderr.isTerminal)
  }
  const app = Command.run(root, { name: "effect-memory", version: yield* version, executable: "effect-memory" })
  const args = normalized(argv)
  yield* checkArgs(args.slice(2)).pipe(
    Effect.zipRight(checkWizard(args)),
    Effect.zipRight(app(args)),
    Effect.withConsole(tidied(console, colours)),
    Effect.catchTag("OutputError", (error) => error.isClosedPipe ? Effect.void : Effect.fail(error)),
    Effect.tapErrorCause((cause) => {
      const text = complaint(cause)
      return text === undefined ? Effect.void : stderr.write(`${text}\n`)
    })
  )
})
