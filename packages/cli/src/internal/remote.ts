/**
 * Counters and summarizers over HTTP.
 */
import * as FetchHttpClient from "@effect/platform/FetchHttpClient"
import * as HttpClient from "@effect/platform/HttpClient"
import * as AnthropicSummarizer from "@effect-memory/platform/AnthropicSummarizer"
import * as AnthropicTokenCounter from "@effect-memory/platform/AnthropicTokenCounter"
import * as GeminiSummarizer from "@effect-memory/platform/GeminiSummarizer"
import * as GeminiTokenCounter from "@effect-memory/platform/GeminiTokenCounter"
import * as LlamaCppTokenCounter from "@effect-memory/platform/LlamaCppTokenCounter"
import * as OpenAiSummarizer from "@effect-memory/platform/OpenAiSummarizer"
import * as OpenAiTokenCounter from "@effect-memory/platform/OpenAiTokenCounter"
import type { InvalidOption } from "@effect-memory/platform/RemoteError"
import * as TgiTokenCounter from "@effect-memory/platform/TgiTokenCounter"
import * as VllmTokenCounter from "@effect-memory/platform/VllmTokenCounter"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import type * as Scope from "effect/Scope"
import type * as Summarizer from "effect-memory/Summarizer"
import type * as TokenCounter from "effect-memory/TokenCounter"
import { InvalidOptions } from "../CliError.js"
import * as services from "./services.js"
import type { Tally } from "./tally.js"

/** What a service is reached with. */
interface Access {
  /** Empty where a server has only one. */
  readonly model: string
  readonly baseUrl: string | undefined
  readonly apiKey: Redacted.Redacted<string>
}

/** What counts messages, and how far it may be off. @internal */
export interface Local {
  readonly local: TokenCounter.Service
  /** Default: that of the service. */
  readonly margin: number | undefined
}

/** A server of one's own that needs no key does not look at this one. */
const noKey = Redacted.make("none")

type Made<A> = Effect.Effect<A, InvalidOption, HttpClient.HttpClient>

const ofServer = ({ baseUrl, local, margin, model }: Access & Local) => ({
  baseUrl,
  local,
  margin,
  model: model === "" ? undefined : model
})

const counters: { readonly [S in services.Counting]: (given: Access & Local) => Made<TokenCounter.Service> } = {
  anthropic: AnthropicTokenCounter.make,
  openai: OpenAiTokenCounter.make,
  gemini: GeminiTokenCounter.make,
  vllm: (given) => VllmTokenCounter.make(ofServer(given)),
  llamacpp: (given) => LlamaCppTokenCounter.make(ofServer(given)),
  tgi: (given) => TgiTokenCounter.make(ofServer(given))
}

/** Room to think, in tokens, for models that cannot do without. */
const thinking = 4096

const thinks = (model: string): boolean => /^(?:gpt-[5-9]|o\d)/.test(model)

const summarizers: { readonly [S in services.Summarizing]: (given: Access) => Made<Summarizer.Service> } = {
  anthropic: AnthropicSummarizer.make,
  openai: (given) => OpenAiSummarizer.make({ ...given, reasoningTokens: thinks(given.model) ? thinking : 0 }),
  gemini: (given) => GeminiSummarizer.make({ ...given, reasoningTokens: thinking })
}

/** A service, and how it is reached. @internal */
export interface Place<Service extends services.Counting = services.Counting> {
  readonly named: services.Named<Service>
  readonly baseUrl: string | undefined
  /** The option that says where it is. */
  readonly urlOption: string
  readonly tally: Tally
}

/** Makes it over a client that keeps count. Errors name options of the command line. */
const connected = Effect.fnUntraced(function*<A>(
  { baseUrl, named, tally, urlOption }: Place,
  make: (access: Access) => Made<A>
): Effect.fn.Return<A, InvalidOptions, Scope.Scope> {
  const model = yield* services.modelOf(named)
  const apiKey = (yield* services.keyOf(named, baseUrl)) ?? noKey
  const context = yield* Layer.build(FetchHttpClient.layer)
  const client = HttpClient.tapRequest(Context.get(context, HttpClient.HttpClient), () => tally.sent)
  return yield* make({ model, baseUrl, apiKey }).pipe(
    Effect.provideService(HttpClient.HttpClient, client),
    Effect.mapError(({ expected, field, given }) =>
      new InvalidOptions({ reason: `${services.settingName(field, named, urlOption)} is ${given}: give ${expected}` })
    )
  )
})

/** A counter that counts messages locally and conversations at a service. @internal */
export const counter = (
  place: Place,
  local: Local
): Effect.Effect<TokenCounter.Service, InvalidOptions, Scope.Scope> =>
  Effect.map(
    connected(place, (access) => counters[place.named.service]({ ...access, ...local })),
    ({ countConversation, ...counter }) => ({
      ...counter,
      countConversation: countConversation && ((messages) => place.tally.call(countConversation(messages)))
    })
  )

/** A summarizer that asks a model at a service. @internal */
export const summarizer = (
  place: Place<services.Summarizing>
): Effect.Effect<Summarizer.Service, InvalidOptions, Scope.Scope> =>
  Effect.map(connected(place, summarizers[place.named.service]), ({ summarize }) => ({
    summarize: (request) => place.tally.call(summarize(request))
  }))
