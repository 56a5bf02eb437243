/**
 * `effect-memory replay`, as far as its help goes.
 */
import * as Command from "@effect/cli/Command"
import * as Options from "@effect/cli/Options"
import * as Effect from "effect/Effect"
import { help } from "./help.js"
import { load } from "./load.js"
import * as options from "./options.js"

const config = {
  file: options.file,
  maxTokens: options.wholeNumbers(
    "max-tokens",
    0,
    "The budget: most tokens of a context. Several of them are compared with each other."
  ),
  maxRounds: options.maxRounds,
  strategies: options.strategy.pipe(Options.repeated),
  target: options.target.pipe(Options.optional),
  provider: options.provider.pipe(Options.withDefault("pairing")),
  counter: options.counter,
  baseUrl: options.baseUrl,
  summarizer: options.summarizer,
  summarizerBaseUrl: options.summarizerBaseUrl,
  format: options.format,
  conversation: options.conversation,
  strict: options.strict,
  json: options.json("Write JSON lines: an object for each context, for each conversation and for the file.")
}

const run = load("replay", () => import("./replayRun.js"))

/** @internal */
export const command = Command.make(
  "replay",
  config,
  (config) => Effect.flatMap(run, ({ replay }) => replay(config))
).pipe(
  Command.withDescription(help(
    "replay",
    "Records a transcript message after message, asks for the context before each reply as an agent would and once " +
      "at the end, and shows what every context holds and what it leaves out. Where the counter is a service, it is " +
      "asked about every context; while it does not answer, contexts are held by what is counted here.",
    [
      ["session.jsonl --max-tokens 8000", "A row for each context, then the totals."],
      ["session.jsonl --max-tokens 8000 --max-tokens 32000", "A row for each budget."],
      [
        "session.jsonl --max-tokens 8000 --strategy window --strategy cascade",
        "A row for each strategy."
      ],
      [
        "session.jsonl --max-tokens 8000 --counter tiktoken:gpt-4o --provider openai",
        "Counted and repaired as for that model."
      ],
      [
        "session.jsonl --max-tokens 8000 --counter anthropic:claude-sonnet-4-5",
        "Counted by Anthropic, with the key in ANTHROPIC_API_KEY."
      ],
      [
        "session.jsonl --max-tokens 8000 --strategy summarize --summarizer openai:qwen3 --base-url http://localhost:11434/v1",
        "Summarized by a model of this machine."
      ],
      ["requests.jsonl --max-tokens 8000 --conversation 3", "The third conversation of the file only."],
      ["session.jsonl --max-tokens 8000 --json | jq .context.tokens", "For programs."]
    ]
  ))
)
