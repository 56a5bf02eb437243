/**
 * `effect-memory check`, as far as its help goes.
 */
import * as Command from "@effect/cli/Command"
import * as Options from "@effect/cli/Options"
import * as Effect from "effect/Effect"
import { help } from "./help.js"
import { load } from "./load.js"
import * as options from "./options.js"

const config = {
  file: options.file,
  provider: options.rules.pipe(Options.optional),
  fix: Options.boolean("fix").pipe(
    Options.withDescription("Write the transcript without what was found, in its own format, and be content.")
  ),
  output: options.output,
  format: options.format,
  conversation: options.conversation,
  strict: options.strict,
  json: options.json("Write JSON lines: an object for each finding, and one for each conversation.")
}

const run = load("check", () => import("./checkRun.js"))

/** @internal */
export const command = Command.make("check", config, (config) => Effect.flatMap(run, ({ check }) => check(config)))
  .pipe(
    Command.withDescription(help(
      "check",
      "Finds what a provider would refuse: calls without results, results without calls, empty messages, roles out of " +
        "turn. Where there is such a thing, the exit code is 1. Calls at the end whose results may still come are " +
        "told, but are no fault.",
      [
        ["session.jsonl", "By the rules of the provider whose format it is."],
        ["session.jsonl --provider strict", "By those of all providers."],
        ["session.jsonl --provider anthropic --fix --output repaired.jsonl", "Repaired, ready to be sent."]
      ]
    ))
  )
