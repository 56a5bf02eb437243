/**
 * `effect-memory count`, as far as its help goes.
 */
import * as Command from "@effect/cli/Command"
import * as Options from "@effect/cli/Options"
import * as Effect from "effect/Effect"
import { help } from "./help.js"
import { load } from "./load.js"
import * as options from "./options.js"

const config = {
  file: options.file,
  counter: options.counter,
  baseUrl: options.baseUrl,
  by: options.by.pipe(Options.optional),
  format: options.format,
  conversation: options.conversation,
  strict: options.strict,
  json: options.json("Write JSON lines: an object for each row, and one for each conversation.")
}

const run = load("count", () => import("./countRun.js"))

/** @internal */
export const command = Command.make("count", config, (config) => Effect.flatMap(run, ({ count }) => count(config)))
  .pipe(
    Command.withDescription(help(
      "count",
      "Counts the tokens of transcripts, and tells where they are. Where the " +
        "counter is a service, rows and shares are counted here, and what the service counts is told of each conversation " +
        "as a whole.",
      [
        ["session.jsonl", "All tokens of each conversation."],
        ["session.jsonl --by part --counter tiktoken:gpt-4o", "Text, reasoning, calls and results, exactly."],
        ["session.jsonl --counter anthropic:claude-sonnet-4-5", "Asking Anthropic, with the key in ANTHROPIC_API_KEY."],
        ["session.jsonl --by round --json | jq .tokens", "For programs."]
      ]
    ))
  )
