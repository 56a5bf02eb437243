/**
 * Every transcript at hand, replayed with every strategy by the rules of all providers.
 */
import { assert, describe, it } from "@effect/vitest"
import type { Conversation } from "@effect-memory/formats"
import { Effect, Layer, Stream } from "effect"
import { Memory, MemoryStore, type Message, TokenCounter, Transcript } from "effect-memory"
import * as Breath from "../src/internal/breath.js"
import * as choices from "../src/internal/choices.js"
import * as names from "../src/internal/names.js"
import * as Replay from "../src/Replay.js"
import { conversationsOf, transcripts } from "./data.js"

/** Calls that are still open at the end may get their results yet. */
const faults = (context: ReadonlyArray<Message.Message>): ReadonlyArray<string> =>
  Transcript.diagnose(context, "strict")
    .filter(({ _tag }) => _tag !== "OpenCall")
    .map(({ _tag, message }) => `${_tag} in message ${message} of ${context.length}`)

interface Variant {
  readonly strategy: names.StrategyName
  readonly maxTokens: number
}

const budgets = [500, 4_000, 32_000]

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
    ...names.choices.strategy.flatMap((strategy) => exceeded.map((maxTokens): Variant => ({ strategy, maxTokens }))),
    ...enough.map((maxTokens): Variant => ({ strategy: "window", maxTokens }))
  ]
})

/** A memory whose every context is looked at. */
const memory = ({ maxTokens, strategy }: Variant) =>
  Layer.effect(
    Memory.Memory,
    Effect.map(Memory.Memory, (memory) => ({
      ...memory,
      context: Effect.tap(memory.context, (context) =>
        Effect.sync(() =>
          assert.deepStrictEqual(faults(context), [], `${strategy} with ${maxTokens} tokens`)
        ))
    }))
  ).pipe(
    Layer.provide(Memory.layer({ maxTokens, rules: "strict" })),
    Layer.provide([choices.strategy(strategy, { maxTokens, target: undefined }), MemoryStore.layerMemory]),
    Layer.provideMerge(TokenCounter.layerCharacters)
  )

const replay = ({ index, messages }: Conversation.Conversation, variant: Variant, breathe: Effect.Effect<void>) =>
  Replay.turns(messages, { conversation: index + 1, ...variant }).pipe(
    Stream.provideLayer(memory(variant)),
    Stream.runForEach(() => breathe)
  )

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
              yield* replay(conversation, variant, breathe)
            }
          }
        }), 120_000)
    }
  }
)
