/**
 * What `npm start` runs: `effect-memory replay` on the sample session, or on what is given behind `--`.
 */
import * as path from "node:path"
import { fileURLToPath } from "node:url"
import { Config, Effect } from "effect"

// npm runs scripts at the root of the repository; files are meant to be where it was started.
process.chdir(Effect.runSync(Config.withDefault(Config.string("INIT_CWD"), process.cwd())))

const sample = path.relative("", fileURLToPath(new URL("session.jsonl", import.meta.url)))

const budget = ["--max-tokens", "8000"]

const flags = new Set(["--json", "--strict", "--help", "-h", "--wizard", "--version"])

const given = process.argv.slice(2)

const takesValue = (arg: string | undefined): boolean =>
  arg !== undefined && arg.startsWith("-") && !arg.includes("=") && !flags.has(arg)

const hasFile = given.some((arg, i) => (arg === "-" || !arg.startsWith("-")) && !takesValue(given[i - 1]))

const hasBudget = given.some((arg) => arg === "--max-tokens" || arg.startsWith("--max-tokens="))

process.argv = [
  ...process.argv.slice(0, 2),
  "replay",
  ...(hasFile ? [] : [sample]),
  ...given,
  ...(hasBudget ? [] : budget)
]

await import("../src/bin.js")
