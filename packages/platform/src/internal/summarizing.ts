/**
 * Summarizers that ask a model at a service.
 */
import * as HttpClient from "@effect/platform/HttpClient"
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import type * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import { SummarizeError } from "effect-memory/MemoryError"
import * as Summarizer from "effect-memory/Summarizer"
import type { InvalidOption, RemoteError } from "../RemoteError.js"
import * as RemotePolicy from "../RemotePolicy.js"
import * as remote from "./remote.js"
import * as settings from "./settings.js"

/** What an answer says; `overflow`: there was no more room in the window of the model. @internal */
export interface Answered extends Omit<Summarizer.Completion, "finish"> {
  readonly finish: "stop" | "length" | "refusal" | "overflow"
}

/** @internal */
export interface Provider<A, I> extends RemotePolicy.Endpoint {
  readonly baseUrl: string
  readonly path: string
  readonly headers: { readonly [name: string]: string | Redacted.Redacted<string> }
  /** The body of a request. */
  readonly body: (call: Summarizer.Call) => unknown
  readonly answer: Schema.Schema<A, I>
  readonly read: (answer: A) => Answered
}

const tokens = (value: unknown): number | undefined =>
  Predicate.isNumber(value) && Number.isSafeInteger(value) && value >= 0 ? value : undefined

/**
 * What was billed. The first of the fields must be there, of the input and of the output: services leave out others, and
 * what is odd is as if it had not been said.
 *
 * @internal
 */
export const usageOf = (
  said: unknown,
  input: ReadonlyArray<string>,
  output: ReadonlyArray<string>
): { readonly usage?: Summarizer.Usage } => {
  if (!Predicate.isRecord(said)) return {}
  const sum = ([first, ...others]: ReadonlyArray<string>) => {
    const least = tokens(said[first])
    return least === undefined ? undefined : others.reduce((sum, name) => sum + (tokens(said[name]) ?? 0), least)
  }
  const [inputTokens, outputTokens] = [sum(input), sum(output)]
  return inputTokens === undefined || outputTokens === undefined ? {} : { usage: { inputTokens, outputTokens } }
}

/** A system prompt that is blank is none. @internal */
export const systemOf = ({ system }: Summarizer.Call): string | undefined => system.trim() === "" ? undefined : system

const reasonOf = (kind: RemoteError["kind"]): SummarizeError["reason"] =>
  kind === "timeout" ? "timeout" : kind === "tooLarge" ? "overflow" : "provider"

const failed = (error: RemoteError): SummarizeError =>
  new SummarizeError({
    reason: reasonOf(error.kind),
    detail: error.kind === "tooLarge" ? `${error.message}, or split it with Summarizer.chunked` : error.message,
    cause: error
  })

const encode = Schema.encode(Schema.parseJson())

/** @internal */
export const make: <A, I>(
  provider: Provider<A, I>,
  policy: RemotePolicy.Options | undefined
) => Effect.Effect<Summarizer.Service, InvalidOption, HttpClient.HttpClient> = Effect.fnUntraced(
  function*(provider, policy) {
    const endpoint = { service: provider.service, operation: provider.operation }
    const url = yield* settings.url("baseUrl", provider.baseUrl, provider.path)
    // A memory gives a strategy two minutes by default.
    const { run } = yield* RemotePolicy.make(endpoint, {
      ...policy,
      attemptTimeout: policy?.attemptTimeout ?? "1 minute",
      deadline: policy?.deadline ?? "110 seconds"
    })
    const client = yield* HttpClient.HttpClient
    const post = remote.post(
      client,
      { ...endpoint, url, path: provider.path, headers: provider.headers },
      provider.answer
    )

    return Summarizer.make(Effect.fnUntraced(function*(call) {
      const json = yield* Effect.orDie(encode(provider.body(call)))
      const { finish, ...completion } = provider.read(yield* Effect.mapError(run(post(json)), failed))
      if (finish === "overflow") {
        return yield* new SummarizeError({
          reason: "overflow",
          detail: "the window of the model was full before the reply ended: split the input with Summarizer.chunked"
        })
      }
      return { ...completion, finish }
    }))
  }
)
