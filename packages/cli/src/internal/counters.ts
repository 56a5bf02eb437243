/**
 * Counters by name.
 */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import type { TokenCountError } from "effect-memory/MemoryError"
import * as TokenCounter from "effect-memory/TokenCounter"
import { type BrokenInstallation, UnknownCounter } from "../CliError.js"
import { load } from "./load.js"
import type { Local } from "./remote.js"
import type * as services from "./services.js"
import { remembering } from "./totals.js"

const tiktoken = load("@effect-memory/tiktoken", () => import("@effect-memory/tiktoken"))

type Failure = UnknownCounter | TokenCountError | BrokenInstallation

/** By the name of a model, or of an encoding. */
const exact = Effect.fnUntraced(function*(name: string): Effect.fn.Return<TokenCounter.Service, Failure> {
  const { Encoding, TiktokenCounter } = yield* tiktoken
  const model = name.slice("tiktoken:".length)
  const options = Schema.is(Encoding.Encoding)(model) ? { encoding: model } : { model }
  return yield* Effect.catchTag(
    TiktokenCounter.make(options),
    "UnknownModel",
    ({ known }) =>
      new UnknownCounter({ given: name, known: Array.from(new Set([...known, ...Encoding.Encoding.literals])) })
  )
})

const estimate = Effect.fnUntraced(function*(name: string): Effect.fn.Return<TokenCounter.Service, Failure> {
  const { TiktokenCounter } = yield* tiktoken
  return yield* Effect.catchTag(
    TiktokenCounter.makeEstimate({ model: name.slice("estimate:".length) }),
    "UnknownModel",
    ({ known }) => new UnknownCounter({ given: name, known })
  )
})

const named = (name: string): Effect.Effect<TokenCounter.Service, Failure> => {
  if (name === "characters") return Effect.succeed(TokenCounter.characters)
  if (name.startsWith("tiktoken:")) return exact(name)
  if (name.startsWith("estimate:")) return estimate(name)
  return new UnknownCounter({ given: name, known: [] })
}

/** How far the sums of a local counter may be off a bill, with room to spare; default: that of the service. */
const margins: { readonly [S in services.Counting]?: number } = { anthropic: 0.4, openai: 0.15 }

const characters: Local = { local: TokenCounter.characters, margin: undefined }

/**
 * What counts messages beside a service: the best that is known for the model.
 *
 * @internal
 */
export const beside = Effect.fnUntraced(function*(
  { model, service }: services.Named
): Effect.fn.Return<Local, TokenCountError | BrokenInstallation> {
  const isEstimated = service === "anthropic" || service === "gemini"
  if (model === undefined || !(isEstimated || service === "openai")) return characters
  const { TiktokenCounter } = yield* tiktoken
  return yield* (isEstimated ? TiktokenCounter.makeEstimate({ model }) : TiktokenCounter.make({ model })).pipe(
    Effect.map((local): Local => ({ local, margin: margins[service] })),
    Effect.catchTag("UnknownModel", () => Effect.succeed(characters))
  )
})

/**
 * The local counter of a name, which counts each message once.
 *
 * @internal
 */
export const make = (name: string): Effect.Effect<TokenCounter.Service, Failure> => Effect.map(named(name), remembering)
