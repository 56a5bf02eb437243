import { assert, describe, it } from "@effect/vitest"
import { Chunk, Effect, Layer, Stream } from "effect"
import { Memory, MemoryStore, Message, TokenCounter, type Transcript } from "effect-memory"
import * as choices from "../src/internal/choices.js"
import { recorded } from "../src/internal/contents.js"
import type { StrategyName } from "../src/internal/names.js"
import * as Replay from "../src/Replay.js"

const long = (word: string, words: number): string => Array.from({ length: words }, (_, i) => `${word} ${i}.`).join(" ")

/** A round with two groups of a call and its result. */
const round = (n: number, words: number): ReadonlyArray<Message.Message> => {
  const group = (id: string) => [
    Message.assistant([Message.toolCall({ id, name: "look", params: { at: id } })]),
    Message.tool([Message.toolResult({ id, name: "look", result: long(`seen ${id}`, words) })])
  ]
  return [Message.user(`Question ${n}?`), ...group(`a${n}`), ...group(`b${n}`), Message.assistant(`Answer ${n}.`)]
}

const conversation = (rounds: number, words: number): ReadonlyArray<Message.Message> => [
  Message.system("Look before you answer."),
  ...Array.from({ length: rounds }, (_, n) => round(n, words)).flat()
]

const last = (
  messages: ReadonlyArray<Message.Message>,
  strategy: StrategyName,
  maxTokens: number,
  rules: Transcript.Rules = "pairing"
) =>
  Replay.turns(messages, { conversation: 1, strategy, maxTokens }).pipe(
    Stream.provideLayer(
      Memory.layer({ maxTokens, rules }).pipe(
        Layer.provide([choices.strategy(strategy, { maxTokens, target: undefined }), MemoryStore.layerMemory]),
        Layer.provideMerge(TokenCounter.layerCharacters)
      )
    ),
    Stream.runCollect,
    Effect.map((turns) => Chunk.unsafeLast(turns))
  )

describe("what a context holds", () => {
  it.effect("window leaves out and does nothing else", () =>
    Effect.gen(function*() {
      const { cleared, context, leftOut, shortened, summarized } = yield* last(conversation(8, 40), "window", 1000)
      assert.deepStrictEqual([cleared, shortened, summarized], [0, 0, 0])
      assert.strictEqual(context.rounds + leftOut.rounds, 8)
      assert.isAbove(leftOut.rounds, 0)
    }))

  it.effect("a summary stands for messages that are not left out", () =>
    Effect.gen(function*() {
      const messages = conversation(8, 40)
      const { context, leftOut, summarized } = yield* last(messages, "summarize", 1000)
      assert.isAbove(summarized, 0)
      assert.deepStrictEqual([leftOut.rounds, leftOut.messages], [0, 0])
      assert.strictEqual(summarized + context.messages - 1, messages.length)
      assert.strictEqual(context.rounds + summarized / 6, 8)
    }))

  it.effect("cascade clears results before it shortens or summarizes", () =>
    Effect.gen(function*() {
      const { cleared, context, shortened, summarized } = yield* last(conversation(4, 40), "cascade", 1000)
      assert.isAbove(cleared, 0)
      assert.deepStrictEqual([shortened, summarized, context.rounds], [0, 0, 4])
    }))

  it.effect("cascade shortens what clearing leaves alone", () =>
    Effect.gen(function*() {
      const pasted = [Message.user(long("pasted", 600)), Message.assistant(long("read", 600)), Message.user("Thanks.")]
      const { cleared, context, leftOut, shortened, summarized } = yield* last(pasted, "cascade", 1000)
      assert.deepStrictEqual([cleared, shortened, summarized], [0, 2, 0])
      // Nothing of the first round is as it was recorded, and yet it is there.
      assert.deepStrictEqual([context.rounds, leftOut.rounds], [2, 0])
    }))

  it.effect("repair by the rules of all providers neither clears nor shortens", () =>
    Effect.gen(function*() {
      const messages = [
        Message.assistant("Hello! "),
        Message.user("one"),
        Message.system("two"),
        Message.user("three"),
        Message.assistant([Message.toolCall({ id: "c1", name: "look", params: "not an object" })]),
        Message.user("four"),
        Message.assistant("five ")
      ]
      const { cleared, context, leftOut, shortened, summarized } = yield* last(messages, "cascade", 1000, "strict")
      assert.deepStrictEqual([cleared, shortened, summarized], [0, 0, 0])
      assert.deepStrictEqual([context.rounds, leftOut.rounds], [3, 0])
    }))

  it("knows placeholders that were recorded for what they are", () => {
    const cleared = Message.tool([
      {
        ...Message.toolResult({ id: "c1", name: "f", result: "gone" }),
        options: { "effect-memory": { cleared: true } }
      }
    ])
    const messages = [
      Message.user("u"),
      Message.assistant([Message.toolCall({ id: "c1", name: "f", params: {} })]),
      cleared
    ]
    assert.deepStrictEqual(recorded(messages).contents(messages), {
      rounds: 1,
      summarized: { messages: 0, rounds: 0 },
      summaries: 0,
      cleared: 0,
      shortened: 0
    })
  })
})
