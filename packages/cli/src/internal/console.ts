/**
 * The console that the command-line parser prints help and errors to: it writes colours whether or not anyone can see
 * them, and blank lines around every error.
 */
import type { Console } from "effect/Console"
import { strip } from "./style.js"

const tidy = (colours: boolean) => (value: unknown): unknown => {
  const text = typeof value === "string" ? value.trimEnd() : value
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
