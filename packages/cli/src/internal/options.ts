/**
 * Options that several commands take.
 */
import * as Args from "@effect/cli/Args"
import * as HelpDoc from "@effect/cli/HelpDoc"
import * as Options from "@effect/cli/Options"
import * as ValidationError from "@effect/cli/ValidationError"
import * as Effect from "effect/Effect"
import type * as Option from "effect/Option"
import { aliases, choices, type FormatName, rules as checkedBy } from "./names.js"

type Parsed<A> = Effect.Effect<A, ValidationError.ValidationError>

const invalid = (sentence: string): Parsed<never> => Effect.fail(ValidationError.invalidValue(HelpDoc.p(sentence)))

const parseWhole = (name: string, least: number) => (text: string): Parsed<number> => {
  const value = Number(text)
  if (!/^\d+$/.test(text) || value < least) {
    return invalid(`--${name} is ${JSON.stringify(text)}: give a whole number of at least ${least}`)
  }
  return Number.isSafeInteger(value)
    ? Effect.succeed(value)
    : invalid(`--${name} is ${text}, which is too large: give at most ${Number.MAX_SAFE_INTEGER}`)
}

const number = (name: string, description: string): Options.Options<string> =>
  Options.text(name).pipe(Options.withPseudoName("number"), Options.withDescription(description))

/**
 * A whole number. The parser's own integers take −1 and do not say which option is wrong.
 *
 * @internal
 */
export const wholeNumber = (name: string, least: number, description: string): Options.Options<number> =>
  Options.mapEffect(number(name, description), parseWhole(name, least))

/**
 * One whole number or more, each behind the name of the option.
 *
 * @internal
 */
export const wholeNumbers = (
  name: string,
  least: number,
  description: string
): Options.Options<ReadonlyArray<number>> =>
  number(name, description).pipe(
    Options.atLeast(1),
    Options.mapEffect((texts) => Effect.forEach(texts, parseWhole(name, least)))
  )

const choice = <Name extends keyof typeof choices>(
  name: Name,
  description: string
): Options.Options<(typeof choices)[Name][number]> =>
  Options.withDescription(Options.choice(name, choices[name]), description)

/** @internal */
export const file = Args.text({ name: "file" }).pipe(
  Args.withDescription("The transcript: a JSON document, or a JSON record a line; `-` for standard input.")
)

/** @internal */
export const target: Options.Options<number> = number(
  "target",
  "How far to trim what is over the budget: to a fraction of it, such as 0.7, or to so many tokens. The lower, the " +
    "longer the beginning of the contexts stays the same."
).pipe(
  Options.mapEffect((text) => {
    const value = Number(text)
    const isTarget = text.trim() !== "" && value > 0 && (value < 1 || Number.isSafeInteger(value))
    return isTarget
      ? Effect.succeed(value)
      : invalid(`--target is ${JSON.stringify(text)}: give a fraction between 0 and 1, or a whole number of tokens`)
  })
)

/** @internal */
export const counter: Options.Options<string> = Options.text("counter").pipe(
  Options.withDescription(
    "What counts the tokens: `characters`, an estimate for any model; `tiktoken:MODEL`, exact for OpenAI models and " +
      "encodings, such as tiktoken:gpt-4o; `estimate:MODEL`, measured for Claude and Gemini models. Or a service, by " +
      "which whole conversations are counted, while messages are counted here: `anthropic:MODEL`, `openai:MODEL`, " +
      "`gemini:MODEL`, with a key in ANTHROPIC_API_KEY, OPENAI_API_KEY, GEMINI_API_KEY; `vllm:MODEL`, `llamacpp`, `tgi`."
  ),
  Options.withDefault("characters")
)

const url = (name: string, description: string): Options.Options<Option.Option<string>> =>
  Options.text(name).pipe(Options.withPseudoName("url"), Options.withDescription(description), Options.optional)

/** @internal */
export const baseUrl = url(
  "base-url",
  "Where the service is, if not where it usually is: with /v1 for openai, with /v1beta for gemini, without for others. " +
    "No key is needed then, but one that is set is sent."
)

/** @internal */
export const summarizer: Options.Options<string> = Options.text("summarizer").pipe(
  Options.withDescription(
    "What summarizes, for the strategies that do: `extractive`, without a model, or a model of a service: " +
      "`anthropic:MODEL`, `openai:MODEL`, `gemini:MODEL`, with keys as for counters. Conversations are sent there."
  ),
  Options.withDefault("extractive")
)

/** @internal */
export const summarizerBaseUrl = url(
  "summarizer-base-url",
  "Where the service of the summarizer is, if --base-url is where that of the counter is."
)

/** @internal */
export const provider = choice(
  "provider",
  "Whose rules the contexts are repaired by, so that they can be sent: those of one provider, `strict` for all of " +
    "them, `pairing` for what all have in common, `none` for messages as they were recorded."
).pipe(Options.withAlias(aliases.provider))

/** @internal */
export const maxRounds = wholeNumber("max-rounds", 0, "Most rounds of a context.").pipe(Options.optional)

/** @internal */
export const strategy = choice(
  "strategy",
  "What is done to a conversation that is over the budget: `window`, the default, drops the oldest rounds, `truncate` " +
    "the oldest groups of calls and results, `summarize` has the oldest rounds summarized, `cascade` " +
    "clears old results, shortens long parts and then summarizes."
)

const formatName = (name: string, description: string): Options.Options<FormatName> =>
  Options.choice(name, choices.format).pipe(Options.withPseudoName("format"), Options.withDescription(description))

/** @internal */
export const to = formatName("to", "The format to write.")

/** @internal */
export const output = Options.text("output").pipe(
  Options.withAlias("o"),
  Options.withPseudoName("file"),
  Options.withDescription("The file to write, `-` for standard output. It may be the one that is read."),
  Options.withDefault("-")
)

/** @internal */
export const json = (description: string) => Options.boolean("json").pipe(Options.withDescription(description))

/** @internal */
export const rules = Options.choice("provider", checkedBy).pipe(
  Options.withAlias(aliases.provider),
  Options.withDescription(
    "Whose rules it is checked by: those of one provider, `strict` for all of them, `pairing` for what all have in " +
      "common. By default those of the provider whose format it is."
  )
)

/** @internal */
export const by = choice("by", "What the tokens are told by: message, round, role, or kind of part.")

/** @internal */
export const format = formatName("format", "The format of the file. By default it is found by content.").pipe(
  Options.optional
)

/** @internal */
export const conversation = wholeNumber("conversation", 1, "Take this one only, of a file that holds many.").pipe(
  Options.optional
)

/** @internal */
export const strict = Options.boolean("strict").pipe(
  Options.withDescription("Stop at the first record that cannot be read, instead of reading the others.")
)
