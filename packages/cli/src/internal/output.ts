/**
 * Standard output.
 */
import * as Terminal from "@effect/platform/Terminal"
import * as Config from "effect/Config"
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import { OutputError } from "../CliError.js"
import { coloured, plain, type Style } from "./style.js"

const codeOf = (cause: unknown): string =>
  Predicate.hasProperty(cause, "code") && Predicate.isString(cause.code) ? cause.code : "unknown reason"

/**
 * Waits until the text is taken.
 *
 * @internal
 */
export const printText = (text: string): Effect.Effect<void, OutputError, Terminal.Terminal> =>
  text === ""
    ? Effect.void
    : Effect.flatMap(Terminal.Terminal, (terminal) =>
      Effect.mapError(
        terminal.display(text),
        (error) => new OutputError({ code: codeOf(error.cause), cause: error })
      ))

/** @internal */
export const textOf = (lines: ReadonlyArray<string>): string => lines.map((line) => `${line}\n`).join("")

/** @internal */
export const printLines = (lines: ReadonlyArray<string>): Effect.Effect<void, OutputError, Terminal.Terminal> =>
  printText(textOf(lines))

/**
 * Colours are for people, and for those who did not ask to be spared (https://no-color.org).
 *
 * @internal
 */
export const coloursWanted = (isTerminal: boolean): Effect.Effect<boolean> =>
  Config.string("NO_COLOR").pipe(
    Config.withDefault(""),
    Effect.map((spared) => isTerminal && spared === ""),
    Effect.orElseSucceed(() => isTerminal)
  )

/** How text on standard output looks. @internal */
export const stdoutStyle: Effect.Effect<Style, never, Terminal.Terminal> = Effect.gen(function*() {
  const terminal = yield* Terminal.Terminal
  return (yield* coloursWanted(yield* terminal.isTTY)) ? coloured : plain
})
