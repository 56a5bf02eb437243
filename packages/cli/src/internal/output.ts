/**
 * Standard output.
 */
import * as Terminal from "@effect/platform/Terminal"
import * as Config from "effect/Config"
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import { OutputError } from "../CliError.js"

const codeOf = (cause: unknown): string =>
  Predicate.hasProperty(cause, "code") && Predicate.isString(cause.code) ? cause.code : "unknown reason"

/**
 * Waits until the lines are taken.
 *
 * @internal
 */
export const printLines = (lines: ReadonlyArray<string>): Effect.Effect<void, OutputError, Terminal.Terminal> =>
  lines.length === 0
    ? Effect.void
    : Effect.flatMap(Terminal.Terminal, (terminal) =>
      Effect.mapError(
        terminal.display(`${lines.join("\n")}\n`),
        (error) => new OutputError({ code: codeOf(error.cause), cause: error })
      ))

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
