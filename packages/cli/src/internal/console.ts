/**
 * The console that the command-line parser prints help and errors to: it writes colours whether or not anyone can see
 * them, and blank lines around every error.
 */
import type { Console } from "effect/Console"
import { strip } from "./style.js"

/** The usage of every command at the end of the help for all of them, which the description lists already. */
const usages = /\n[^\n]*COMMANDS[^\n]*\n.*$/s

/**
 * Completions for bash as they work: the parser gives the root command two names where its name has a dash, and bash one
 * word for all choices.
 */
const completions = (text: string): string =>
  text.startsWith("function _effect-memory_bash_completions")
    ? text
      .replaceAll(`cmd="effect-memory"`, `cmd="effect__memory"`)
      .replace(/^( *)effect-memory\)$/m, "$1effect__memory)")
      .replaceAll(/(?<=-W ")[^"$]*,[^"$]*(?=")/g, (words) => words.replaceAll(",", " "))
    : text

const tidy = (colours: boolean) => (value: unknown): unknown => {
  const text = typeof value === "string" ? completions(value.replace(usages, "").trimEnd()) : value
  return colours || typeof text !== "string" ? text : strip(text)
}

/** @internal */
export const tidied = (
  console: Console,
  colours: { readonly stdout: boolean; readonly stderr: boolean }
): Console => ({
  ...console,
  log: (...values) => console.log(...values.map(tidy(colours.stdout))),
  error: (...values) => console.error(...values.map(tidy(colours.stderr)))
})
