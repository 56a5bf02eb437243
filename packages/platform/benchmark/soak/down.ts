/**
 * What a context costs while the services are down for good, against the same memory without them.
 */
import { HttpClient } from "@effect/platform"
import { AnthropicTokenCounter, OpenAiSummarizer } from "@effect-memory/platform"
import { Effect, Redacted } from "effect"
import { Memory, MemoryError, MemoryStore, Summarizer, TokenCounter, TrimStrategy } from "effect-memory"
import { turnsOf } from "./conversations.js"
import { keys } from "./services.js"

interface Cost {
  readonly strategy: string
  /** Milliseconds of a context, in the median. */
  readonly down: number
  readonly local: number
  /** Messages of the last context. */
  readonly messages: readonly [number, number]
  /** Requests that reached the client while it was measured. */
  readonly requests: number
}

const policy = { attemptTimeout: "100 millis", backoff: "10 millis", breakerCooldown: "1 hour" } as const

const turnsBefore = 300

const turnsMeasured = 200

const median = (times: ReadonlyArray<number>): number => times.toSorted((a, b) => a - b)[times.length >> 1]

const strategies = {
  drop: () => Effect.succeed(TrimStrategy.windowDrop()),
  summarize: (summarizer: Summarizer.Service) =>
    Effect.provideService(
      TrimStrategy.summarize({ maxSummaryTokens: 150 }),
      Summarizer.Summarizer,
      summarizer
    )
}

const makeMemory = Effect.fnUntraced(function*(
  counter: TokenCounter.Service,
  strategy: TrimStrategy.Service,
  maxTokens: number
) {
  return yield* Memory.make({ maxTokens }).pipe(
    Effect.provideService(TokenCounter.TokenCounter, counter),
    Effect.provideService(TrimStrategy.TrimStrategy, strategy),
    Effect.provideService(MemoryStore.MemoryStore, yield* MemoryStore.makeMemory)
  )
})

const timed = <A, E>(effect: Effect.Effect<A, E>) =>
  Effect.suspend(() => {
    const begin = performance.now()
    return Effect.map(effect, (found) => ({ found, millis: performance.now() - begin }))
  })

const localSummarizer: Summarizer.Service = {
  summarize: () => new MemoryError.SummarizeError({ reason: "provider", detail: "down" })
}

/** Both memories hold the same, and by the margin half of the budget is what a memory without exact counts goes by. */
export const measure = Effect.fnUntraced(
  function*(site: { readonly client: HttpClient.HttpClient; readonly url: string }) {
    const costs: Array<Cost> = []
    for (const name of ["drop", "summarize"] as const) {
      let requests = 0
      const client = HttpClient.tapRequest(site.client, () => Effect.sync(() => requests++))
      const counter = yield* AnthropicTokenCounter.make({
        apiKey: Redacted.make(keys[0]),
        model: "claude-sonnet-4-5",
        baseUrl: site.url,
        policy
      }).pipe(Effect.provideService(HttpClient.HttpClient, client))
      const summarizer = yield* OpenAiSummarizer.make({ model: "gpt-4.1-mini", baseUrl: `${site.url}/v1`, policy })
        .pipe(
          Effect.provideService(HttpClient.HttpClient, client)
        )
      const down = yield* makeMemory(counter, yield* strategies[name](summarizer), 8000)
      const local = yield* makeMemory(TokenCounter.characters, yield* strategies[name](localSummarizer), 4000)
      const turns = turnsOf(0, turnsBefore + turnsMeasured, 7).map((turn) => turn.flatMap(({ messages }) => messages))
      const times: { readonly down: Array<number>; readonly local: Array<number> } = { down: [], local: [] }
      const last = { down: 0, local: 0 }
      for (const [n, messages] of turns.entries()) {
        yield* down.recordAll(messages)
        yield* local.recordAll(messages)
        if (n < turnsBefore - 20) continue
        if (n === turnsBefore) requests = 0
        // In turn, so that neither always comes first.
        const both = { down: timed(down.context), local: timed(local.context) }
        const { down: one, local: other } = n % 2 === 0
          ? yield* Effect.all(both, { concurrency: 1 })
          : yield* Effect.all({ local: both.local, down: both.down }, { concurrency: 1 })
        if (n < turnsBefore) continue
        times.down.push(one.millis)
        times.local.push(other.millis)
        last.down = one.found.length
        last.local = other.found.length
      }
      costs.push({
        strategy: name,
        down: median(times.down),
        local: median(times.local),
        messages: [last.down, last.local],
        requests
      })
    }
    return costs
  },
  Effect.scoped
)
