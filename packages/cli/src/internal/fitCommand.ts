/**
 * `effect-memory fit`, as far as its help goes.
 */
import * as Command from "@effect/cli/Command"
import * as Options from "@effect/cli/Options"
import * as Effect from "effect/Effect"
import { help } from "./help.js"
import { load } from "./load.js"
import * as options from "./options.js"

const config = {
  file: options.file,
  maxTokens: options.wholeNumber("max-tokens", 0, "The budget: most tokens of what is written."),
  maxRounds: options.maxRounds,
  strategy: options.strategy.pipe(Options.withDefault("window")),
  target: options.target.pipe(Options.optional),
  provider: options.provider.pipe(Options.optional),
  counter: options.counter,
  baseUrl: options.baseUrl,
  summarizer: options.summarizer,
  summarizerBaseUrl: options.summarizerBaseUrl,
  to: options.to.pipe(Options.optional),
  output: options.output,
  format: options.format,
  conversation: options.conversation,
  strict: options.strict,
  json: options.json("Tell about each conversation as a line of JSON.")
}

const run = load("fit", () => import("./fitRun.js"))

/** @internal */
export const command = Command.make("fit", config, (config) => Effect.flatMap(run, ({ fit }) => fit(config))).pipe(
  Command.withDescription(help(
    "fit",
    "Brings transcripts within a budget and writes them, ready to be sent: what is left follows the rules of the " +
      "provider whose format it is written in. What became of them is told on standard output, or on standard error " +
      "where the transcript goes to standard output.",
    [
      ["session.jsonl --max-tokens 8000 > short.jsonl", "In the same format."],
      ["session.jsonl --max-tokens 8000 --to openai-chat --output body.json", "As the body of a request."],
      ["session.jsonl --max-tokens 8000 --strategy cascade --target 0.7", "Clearing and shortening first, to 5,600."],
      ["- --max-tokens 8000 --counter tiktoken:gpt-4o < body.json", "From standard input, counted for a model."]
    ]
  ))
)
