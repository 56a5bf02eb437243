/**
 * Every transcript at hand, replayed with every strategy by the rules of all providers.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { Memory, MemoryStore, type Message, TokenCounter, Transcript, TrimStrategy } from "effect-memory"
import * as Breath from "../src/internal/breath.js"
import * as choices from "../src/internal/choices.js"
import * as names from "../src/internal/names.js"
import { conversationsOf, some, transcripts } from "./data.js"

/** Calls that are still open at the end may get their results yet. */
const faults = (context: ReadonlyArray<Message.Message>): ReadonlyArray<string> =>
  Transcript.diagnose(context, "strict")
    .filter(({ _tag }) => _tag !== "OpenCall")
    .map(({ _tag, message }) => `${_tag} in message ${message} of ${context.length}`)

/** Those of the command, and those that it has in a cascade only, by themselves. */
const strategies = [...names.choices.strategy, "clear", "shorten"] as const

interface Variant {
  readonly strategy: (typeof strategies)[number]
  readonly maxTokens: number
}

const budgets = [250, 500, 1_000, 2_000, 4_000, 8_000, 16_000, 32_000]

/**
 * Every strategy with every budget that the conversation exceeds. Where it does not, no strategy is asked and all
 * contexts are the same, so that once is enough.
 */
const variantsOf = Effect.fnUntraced(function*(messages: ReadonlyArray<Message.Message>) {
  const counts = yield* Effect.forEach(messages, TokenCounter.characters.countMessage)
  const tokens = counts.reduce((sum, n) => sum + n, 0)
  // Repair adds a little.
  const exceeded = budgets.filter((budget) => tokens * 1.1 + 50 > budget)
  const enough = budgets.slice(exceeded.length, exceeded.length + 1)
  return [
    ...strategies.flatMap((strategy) => exceeded.map((maxTokens): Variant => ({ strategy, maxTokens }))),
    ...enough.map((maxTokens): Variant => ({ strategy: "window", maxTokens }))
  ]
})

const strategyOf = ({ maxTokens, strategy }: Variant) => {
  const fixed = (service: TrimStrategy.Service) => Layer.succeed(TrimStrategy.TrimStrategy, service)
  switch (strategy) {
    case "clear":
      return fixed(TrimStrategy.clearToolResults())
    case "shorten":
      return fixed(TrimStrategy.shortenParts({ maxTokens: Math.max(50, maxTokens / 10) }))
    default:
      return choices.strategy(strategy, { maxTokens, target: undefined })
  }
}

const layer = (variant: Variant) =>
  Memory.layer({ maxTokens: variant.maxTokens, rules: "strict" }).pipe(
    Layer.provide([strategyOf(variant), MemoryStore.layerMemory]),
    Layer.provide(TokenCounter.layerCharacters)
  )

/** Most contexts of a conversation that are asked for with one budget. */
const mostContexts = 12

/** How much is recorded when a context is asked for: before assistant messages, and at the end. */
const stepsOf = (messages: ReadonlyArray<Message.Message>): ReadonlyArray<number> =>
  some([...messages.flatMap(({ role }, i) => role === "assistant" ? [i] : []), messages.length], mostContexts)

const replay = Effect.fnUntraced(function*(messages: ReadonlyArray<Message.Message>, variant: Variant) {
  const memory = yield* Memory.Memory
  let recorded = 0
  for (const step of stepsOf(messages)) {
    yield* memory.recordAll(messages.slice(recorded, step))
    recorded = step
    const what = `${variant.strategy} with ${variant.maxTokens} tokens after ${step} messages`
    assert.deepStrictEqual(faults(yield* memory.context), [], what)
  }
})

describe.skipIf(transcripts.length === 0)(
  "contexts of recorded transcripts can be sent to any provider",
  { sequential: true },
  () => {
    for (const file of transcripts) {
      // A real clock, so that the event loop gets its turn.
      it.live(file, () =>
        Effect.gen(function*() {
          const { breathe } = yield* Breath.make
          const conversations = yield* conversationsOf(file)
          assert.isNotEmpty(conversations)
          for (const conversation of conversations) {
            for (const variant of yield* variantsOf(conversation.messages)) {
              yield* Effect.provide(replay(conversation.messages, variant), layer(variant))
              yield* breathe
            }
          }
        }), 120_000)
    }
  }
)
