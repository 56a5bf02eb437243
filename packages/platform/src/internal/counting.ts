/**
 * Counters that have whole conversations counted by a service.
 */
import * as HttpClient from "@effect/platform/HttpClient"
import * as Cache from "effect/Cache"
import * as Cause from "effect/Cause"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Equal from "effect/Equal"
import * as Hash from "effect/Hash"
import type * as Redacted from "effect/Redacted"
import * as Ref from "effect/Ref"
import * as Schema from "effect/Schema"
import { TokenCountError } from "effect-memory/MemoryError"
import type * as Message from "effect-memory/Message"
import * as TokenCounter from "effect-memory/TokenCounter"
import { InvalidOption, type RemoteError } from "../RemoteError.js"
import * as RemotePolicy from "../RemotePolicy.js"
import type * as RemoteTokenCounter from "../RemoteTokenCounter.js"
import * as remote from "./remote.js"
import * as settings from "./settings.js"

/** @internal */
export interface Provider<A, I> extends RemotePolicy.Endpoint {
  /** Name of the module, for spans. */
  readonly module: string
  readonly model: string | undefined
  readonly baseUrl: string
  readonly path: string
  readonly headers: { readonly [name: string]: string | Redacted.Redacted<string> }
  /** How far `TokenCounter.characters` may be off. */
  readonly margin: number
  /** The body of a request; none where there is nothing to count. */
  readonly body: (messages: ReadonlyArray<Message.Message>) => unknown
  readonly answer: Schema.Schema<A, I>
  readonly tokens: (answer: A) => number
}

/** What a service counts in a conversation that is not empty. @internal */
export const Tokens = Schema.Int.pipe(Schema.positive())

/** Requests are the same where their bodies are, whoever asks. */
class Request implements Equal.Equal {
  private readonly hash: number

  constructor(
    readonly body: string,
    readonly run: Effect.Effect<number, RemoteError>,
    /** Whether it was this one that was sent, and not its like of somebody else. */
    readonly isSent: Effect.Effect<boolean>
  ) {
    this.hash = Hash.string(body)
  }

  [Hash.symbol](): number {
    return this.hash
  }

  [Equal.symbol](that: unknown): boolean {
    return that instanceof Request && that.body === this.body
  }
}

/** Remembers answers, not failures or defects; requests that are under way are shared. */
const remembering = (capacity: number) =>
  Effect.map(
    Cache.make({ capacity, timeToLive: Duration.infinity, lookup: ({ run }: Request) => run }),
    (cache) => {
      const get = (request: Request): Effect.Effect<Either.Either<number, number>, RemoteError> =>
        cache.getEither(request).pipe(
          Effect.tapErrorCause(() => cache.invalidate(request)),
          // Where somebody else asked first and gave up, this is not the interruption of who waits here.
          Effect.catchAllCause((cause) =>
            Effect.if(Cause.isInterruptedOnly(cause) ? request.isSent : Effect.succeed(true), {
              onTrue: () => Effect.failCause(cause),
              onFalse: () => get(request)
            })
          )
        )
      return get
    }
  )

const encode = Schema.encode(Schema.parseJson())

/** The service counts tools with every conversation: so must the sum, or it would be off by all of them. */
const withTools = Effect.fnUntraced(function*(local: TokenCounter.Service, tools: RemoteTokenCounter.Options["tools"]) {
  if (tools === undefined) return local
  const json = yield* Effect.mapError(
    encode(tools),
    () =>
      new InvalidOption({
        field: "tools",
        given: "what is no JSON",
        expected: "tool definitions as the service takes them"
      })
  )
  const tokens = yield* Effect.orElseSucceed(local.count(json), () => Math.ceil(json.length / 4))
  return { ...local, overhead: local.overhead + tokens }
})

/**
 * A counter that counts messages locally, and conversations by a service.
 *
 * @internal
 */
export const make: <A, I>(
  provider: Provider<A, I>,
  options: RemoteTokenCounter.Options,
  policy: RemotePolicy.Options | undefined
) => Effect.Effect<TokenCounter.Service, InvalidOption, HttpClient.HttpClient> = Effect.fnUntraced(
  function*(provider, { capacity, local = TokenCounter.characters, margin, tools }, policy) {
    const { model, module, operation, service } = provider
    const endpoint = { service, operation }
    const url = yield* settings.url("baseUrl", provider.baseUrl, provider.path)
    const known = {
      margin: yield* settings.positive("margin", margin ?? provider.margin),
      capacity: yield* settings.whole("capacity", capacity ?? 32, 1)
    }
    // Somebody waits for the context.
    const { admit, run } = yield* RemotePolicy.make(endpoint, {
      ...policy,
      attemptTimeout: policy?.attemptTimeout ?? "10 seconds",
      deadline: policy?.deadline ?? "20 seconds"
    })
    const client = yield* HttpClient.HttpClient
    const post = remote.post(
      client,
      { ...endpoint, url, path: provider.path, headers: provider.headers },
      provider.answer
    )
    const remember = yield* remembering(known.capacity)

    const counter = model === undefined ? service : `${service}/${model}`
    const failed = (reason: string, cause?: RemoteError) =>
      new TokenCountError({ counter, reason, ...(cause === undefined ? {} : { cause }) })
    const unanswered = (error: RemoteError) => failed(error.message, error)
    const unsendable = () =>
      failed("the conversation cannot be written as JSON: decode it with Message.fromUnknown first")

    const admitted = Effect.mapError(admit, unanswered)

    const count = Effect.fnUntraced(function*(messages: ReadonlyArray<Message.Message>) {
      const body = yield* Effect.try({ try: () => provider.body(messages), catch: unsendable })
      if (body === undefined) return 0
      const json = yield* Effect.mapError(encode(body), unsendable)
      const context = yield* Effect.context<never>()
      const sent = yield* Ref.make(false)
      const asked = Ref.set(sent, true).pipe(
        Effect.zipRight(run(post(json))),
        Effect.map(provider.tokens),
        Effect.provide(context)
      )
      const found = yield* Effect.mapError(
        remember(new Request(json, asked, Ref.get(sent))),
        unanswered
      )
      const tokens = Either.merge(found)
      yield* Effect.annotateCurrentSpan({ tokens, cached: Either.isLeft(found) })
      return tokens
    })

    return TokenCounter.verified({
      countConversation: (messages) =>
        messages.length === 0
          ? Effect.succeed(0)
          : count(messages).pipe(
            Effect.withSpan(`${module}.countConversation`, {
              captureStackTrace: false,
              attributes: { messages: messages.length }
            }),
            // First of all: a request takes longer to write than a memory does without it.
            (counted) => Effect.zipRight(admitted, counted)
          )
    }, { local: yield* withTools(local, tools), margin: known.margin })
  }
)
