/**
 * `effect-memory convert`, as far as its help goes.
 */
import * as Command from "@effect/cli/Command"
import * as Effect from "effect/Effect"
import { help } from "./help.js"
import { load } from "./load.js"
import * as options from "./options.js"

const config = {
  file: options.file,
  to: options.to,
  output: options.output,
  format: options.format,
  conversation: options.conversation,
  strict: options.strict,
  json: options.json("Tell about each conversation as a line of JSON.")
}

const run = load("convert", () => import("./convertRun.js"))

/** @internal */
export const command = Command.make(
  "convert",
  config,
  (config) => Effect.flatMap(run, ({ convert }) => convert(config))
).pipe(
  Command.withDescription(help(
    "convert",
    "Writes transcripts in another format. What that format cannot carry is told on standard output, or on standard " +
      "error where the transcript goes to standard output.",
    [
      ["session.jsonl --to anthropic-messages > body.json", "As the body of a request."],
      ["session.jsonl --to native --output session.native.jsonl", "In the format that carries everything."],
      ["- --format sharegpt --to openai-chat < dataset.json", "From standard input."]
    ]
  ))
)
