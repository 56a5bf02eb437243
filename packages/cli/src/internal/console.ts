/**
 * The console that the command-line parser prints help and errors to: it writes colours whether or not anyone can see
 * them, blank lines around every error, and much in its help that is said twice.
 */
import type { Console } from "effect/Console"
import { strip } from "./style.js"

/** A place where the parser may change colours. */
const colour = "(?:\\u001b\\[[0-9;]*m)*"

/** What the help need not say, because the usage says it, or nobody asks. */
const noise: ReadonlyArray<readonly [found: RegExp, instead: string]> = [
  // The name, which the version repeats.
  [new RegExp(`^${colour}effect-memory${colour}\n\n(?=effect-memory \\d)`), ""],
  // The usage of every command at the end of the help for all of them, which the description lists already.
  [/\n[^\n]*COMMANDS[^\n]*\n.*$/s, ""],
  [/^\$ (?!effect-memory)/m, "$ effect-memory "],
  [/^\$ effect-memory$/m, "$ effect-memory <command> <file>"],
  // Names of formats, too many for a line that holds all options.
  [/(--format|--to) [a-z-]+(?: \| [a-z-]+)+/g, "$1 format"],
  [/^ *(?:A user-defined piece of text|A true or false value|This setting is optional)\.\n\n?/gm, ""],
  // Choices that the name of the option lists.
  [/(\|[^\n]*\n\n) *One of the following: [^\n]*\n\n/g, "$1"]
]

/** The sentences of the parser, and those that say what to do. */
const sentences: ReadonlyArray<readonly [found: RegExp, instead: string]> = [
  [/^Invalid subcommand for effect-memory - use one of (.*)/, "there is no such command: give one of $1"],
  [/^Missing argument <file>/, "the file is missing: name a transcript, or - for standard input"],
  [/^Expected to find option: '(.*)'/, "$1 is missing: give it with a value"],
  [/^Expected at least 1 value\(s\) for option: '(.*)'/, "$1 is missing: give it with a value"],
  [/^Received unknown argument: '(-.*)'/, "$1 is no option of this command, or stands there twice: see its --help"],
  [/^Received unknown argument: '(.*)'/, "\"$1\" is too much: give one file, and each option once"]
]

const replaced = (text: string, by: ReadonlyArray<readonly [found: RegExp, instead: string]>): string =>
  by.reduce((text, [found, instead]) => text.replace(found, instead), text)

/**
 * Completions for bash as they work: the parser gives the root command two names where its name has a dash, and bash one
 * word for all choices.
 */
const completions = (text: string): string =>
  text
    .replaceAll(`cmd="effect-memory"`, `cmd="effect__memory"`)
    .replace(/^( *)effect-memory\)$/m, "$1effect__memory)")
    .replaceAll(/(?<=-W ")[^"$]*,[^"$]*(?=")/g, (words) => words.replaceAll(",", " "))

const printed = (text: string): string =>
  text.startsWith("function _effect-memory_bash_completions") ? completions(text) : replaced(text, noise)

const tidy = (improved: (text: string) => string, colours: boolean) => (value: unknown): unknown => {
  const text = typeof value === "string" ? improved(value).trimEnd() : value
  return colours || typeof text !== "string" ? text : strip(text)
}

const complaint = (text: string): string => replaced(strip(text).trimStart(), sentences)

/** @internal */
export const tidied = (
  console: Console,
  colours: { readonly stdout: boolean; readonly stderr: boolean }
): Console => ({
  ...console,
  log: (...values) => console.log(...values.map(tidy(printed, colours.stdout))),
  error: (...values) => console.error(...values.map(tidy(complaint, colours.stderr)))
})
