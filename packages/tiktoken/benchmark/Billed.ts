/**
 * How far counts are from what providers billed for recorded requests: prints a table of errors. Needs the data folder
 * beside the checkout.
 *
 * The result stands in the README.
 */
import { TiktokenCounter } from "@effect-memory/tiktoken"
import { Effect } from "effect"
import { TokenCounter } from "effect-memory"
import {
  anthropicRequests,
  type Billed,
  claudeCodeGrowth,
  geminiRequests,
  isPresent,
  openAiRequests
} from "../test/support/billed.js"

type Count = (billed: Billed) => Effect.Effect<number, unknown>

const messagesAnd = (counter: TokenCounter.Service, billed: Billed, rest: number) =>
  Effect.map(
    Effect.forEach(billed.messages, counter.countMessage),
    (messages) => messages.reduce((sum, tokens) => sum + tokens, rest)
  )

const characters: Count = (billed) =>
  Effect.flatMap(
    billed.tools.length === 0 ? Effect.succeed(0) : TokenCounter.characters.count(JSON.stringify(billed.tools)),
    (tools) => messagesAnd(TokenCounter.characters, billed, tools)
  )

const tiktoken =
  (make: (billed: Billed) => ReturnType<typeof TiktokenCounter.make>, isPart = false): Count => (billed) =>
    Effect.gen(function*() {
      const counter = yield* make(billed)
      // What a session grew by is a part of a request: the priming of the reply is in both requests.
      return yield* messagesAnd(
        counter,
        billed,
        isPart ? 0 : counter.overhead + (yield* counter.countTools(billed.tools))
      )
    })

const byModel = tiktoken(({ model }) => TiktokenCounter.make({ model, fallback: "o200k_base" }))
const unscaled = tiktoken(({ model }) => TiktokenCounter.makeEstimate({ model, factor: 1 }))
const estimate = tiktoken(({ model }) => TiktokenCounter.makeEstimate({ model }))
const grown = (factor?: number): Count => tiktoken(({ model }) => TiktokenCounter.makeEstimate({ model, factor }), true)

const quantile = (sorted: ReadonlyArray<number>, q: number): number => {
  const at = q * (sorted.length - 1)
  const below = Math.floor(at)
  return sorted[below] + (at - below) * (sorted[Math.ceil(at)] - sorted[below])
}

const percent = (error: number): string => `${error > 0 ? "+" : ""}${(100 * error).toFixed(1)} %`

const row = (what: string, requests: ReadonlyArray<Billed>, name: string, count: Count) =>
  Effect.gen(function*() {
    const errors = yield* Effect.forEach(requests, (billed) =>
      Effect.map(count(billed), (tokens) => tokens / billed.tokens - 1))
    const sorted = [...errors].sort((a, b) =>
      a - b
    )
    const sizes = errors.map(Math.abs).sort((a, b) => a - b)
    console.log(
      `| ${what} | ${requests.length} | ${name} | ${percent(quantile(sorted, 0.5))} | ` +
        `${(100 * quantile(sizes, 0.5)).toFixed(1)} % | ${(100 * quantile(sizes, 0.9)).toFixed(1)} % |`
    )
  })

const program = Effect.gen(function*() {
  const text = (billed: Billed): boolean => billed.tools.length === 0 && !billed.isOpaque
  const tools = (billed: Billed): boolean => billed.tools.length > 0 && !billed.isOpaque
  const openAi = openAiRequests()
  const anthropic = anthropicRequests()
  const gemini = geminiRequests()
  const grownBy = claudeCodeGrowth()
  console.log("| requests | n | counter | median error | median size of error | 90th percentile |")
  console.log("| --- | ---: | --- | ---: | ---: | ---: |")
  const groups: ReadonlyArray<readonly [string, ReadonlyArray<Billed>, ReadonlyArray<readonly [string, Count]>]> = [
    ["OpenAI chat, text", openAi.filter(text), [["characters", characters], ["tiktoken", byModel]]],
    ["OpenAI chat, tools", openAi.filter(tools), [["characters", characters], ["tiktoken", byModel]]],
    [
      "Anthropic, text",
      anthropic.filter(text),
      [["characters", characters], ["o200k_base", unscaled], ["estimate", estimate]]
    ],
    [
      "Anthropic, tools",
      anthropic.filter(tools),
      [["characters", characters], ["o200k_base", unscaled], ["estimate", estimate]]
    ],
    [
      "Claude Code, growth between requests",
      grownBy,
      [["characters", characters], ["o200k_base", grown(1)], ["estimate", grown()]]
    ],
    [
      "Gemini, text and tools",
      gemini.filter((billed) => !billed.isOpaque),
      [["characters", characters], ["o200k_base", unscaled], ["estimate", estimate]]
    ]
  ]
  for (const [what, requests, counters] of groups) {
    for (const [name, count] of counters) yield* row(what, requests, name, count)
  }
})

if (isPresent) await Effect.runPromise(program)
else console.log("No recorded requests beside this checkout.")
