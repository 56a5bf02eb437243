/**
 * What a command counts and summarizes with.
 */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type * as Scope from "effect/Scope"
import type { TokenCountError } from "effect-memory/MemoryError"
import type * as Summarizer from "effect-memory/Summarizer"
import type * as TokenCounter from "effect-memory/TokenCounter"
import { type BrokenInstallation, InvalidOptions, type UnknownCounter, UnknownSummarizer } from "../CliError.js"
import type { Asked } from "../Remote.js"
import * as counters from "./counters.js"
import { load } from "./load.js"
import type { StrategyName } from "./names.js"
import * as services from "./services.js"
import * as tally from "./tally.js"
import { remembering } from "./totals.js"

/** As they are given on the command line. @internal */
export interface Options {
  readonly counter: string
  /** Where the service of the counter is, or that of the summarizer. */
  readonly baseUrl: Option.Option<string>
  /** Default `extractive`. */
  readonly summarizer?: string | undefined
  /** Where the service of the summarizer is. */
  readonly summarizerBaseUrl?: Option.Option<string> | undefined
}

/** @internal */
export interface Means {
  readonly counter: TokenCounter.Service
  /** None where summaries are made without a model. */
  readonly summarizer: Summarizer.Service | undefined
  /** What the services were asked so far. */
  readonly asked: Effect.Effect<ReadonlyArray<Asked>>
}

type Failure = BrokenInstallation | InvalidOptions | TokenCountError | UnknownCounter | UnknownSummarizer

const remote = load("@effect-memory/platform", () => import("./remote.js"))

const named = ({ counter, summarizer = "extractive" }: Options) => ({
  counter: services.find("--counter", counter, services.counting),
  summarizer: services.find("--summarizer", summarizer, services.summarizing)
})

type Named = ReturnType<typeof named>

const faultOf = (
  { baseUrl, summarizer, summarizerBaseUrl = Option.none() }: Options,
  known: Named,
  strategies: ReadonlyArray<StrategyName>
) => {
  if (summarizer !== undefined && summarizer !== "extractive" && known.summarizer === undefined) {
    return new UnknownSummarizer({ given: summarizer })
  }
  if (known.summarizer !== undefined && !strategies.some((name) => name === "summarize" || name === "cascade")) {
    return new InvalidOptions({
      reason:
        "--summarizer is for strategies that summarize: choose one with --strategy summarize or --strategy cascade"
    })
  }
  const services = summarizer === undefined ? "--counter" : "--counter or --summarizer"
  if (Option.isSome(baseUrl) && known.counter === undefined && known.summarizer === undefined) {
    return new InvalidOptions({
      reason: `--base-url is where a service is, and none is asked: name one with ${services}, or leave it out`
    })
  }
  if (Option.isSome(summarizerBaseUrl) && known.summarizer === undefined) {
    return new InvalidOptions({
      reason:
        "--summarizer-base-url is where a service is, and none is asked: name one with --summarizer, or leave it out"
    })
  }
  // What is meant for one provider must not go to another.
  return known.counter !== undefined && known.summarizer !== undefined &&
      known.counter.service !== known.summarizer.service && Option.isSome(baseUrl) && Option.isNone(summarizerBaseUrl)
    ? new InvalidOptions({
      reason: `--base-url is where ${known.counter.service} is: say with --summarizer-base-url where ` +
        `${known.summarizer.service} is`
    })
    : undefined
}

const counted = "contexts are held by what is counted locally, with a margin"

const summarized = "whole rounds are dropped until it is asked again"

const counterOf = Effect.fnUntraced(function*(
  named: services.Named | undefined,
  { baseUrl, counter }: Options,
  say: tally.Options["say"]
): Effect.fn.Return<Pick<Means, "counter" | "asked">, Failure, Scope.Scope> {
  if (named === undefined) return { counter: yield* counters.make(counter), asked: Effect.succeed([]) }
  const kept = yield* tally.make({ use: "counter", name: counter, instead: counted, say })
  const { counter: make } = yield* remote
  const place = { named, baseUrl: Option.getOrUndefined(baseUrl), urlOption: "--base-url", tally: kept }
  return {
    counter: remembering(yield* make(place, yield* counters.beside(named))),
    asked: Effect.map(kept.asked, (asked) => [asked])
  }
})

const summarizerOf = Effect.fnUntraced(function*(
  named: services.Named<services.Summarizing> | undefined,
  { baseUrl, summarizerBaseUrl = Option.none() }: Options,
  say: tally.Options["say"]
): Effect.fn.Return<Pick<Means, "summarizer" | "asked">, Failure, Scope.Scope> {
  if (named === undefined) return { summarizer: undefined, asked: Effect.succeed([]) }
  const kept = yield* tally.make({ use: "summarizer", name: named.name, instead: summarized, say })
  const { summarizer: make } = yield* remote
  const own = Option.isSome(summarizerBaseUrl)
  const place = {
    named,
    baseUrl: Option.getOrUndefined(own ? summarizerBaseUrl : baseUrl),
    urlOption: own ? "--summarizer-base-url" : "--base-url",
    tally: kept
  }
  return { summarizer: yield* make(place), asked: Effect.map(kept.asked, (asked) => [asked]) }
})

/**
 * Services live as long as the scope. The first failure of each is said, since the memory goes on without.
 *
 * @internal
 */
export const make = Effect.fnUntraced(function*(
  options: Options,
  say: tally.Options["say"],
  /** The strategies that it is for. Default: none, and no summarizer. */
  strategies: ReadonlyArray<StrategyName> = []
): Effect.fn.Return<Means, Failure, Scope.Scope> {
  const known = named(options)
  const fault = faultOf(options, known, strategies)
  if (fault !== undefined) return yield* fault
  const { asked, counter } = yield* counterOf(known.counter, options, say)
  const { asked: askedToo, summarizer } = yield* summarizerOf(known.summarizer, options, say)
  return { counter, summarizer, asked: Effect.zipWith(asked, askedToo, (left, right) => [...left, ...right]) }
})
