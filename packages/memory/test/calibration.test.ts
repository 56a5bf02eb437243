import { assert, describe, it } from "@effect/vitest"
import { Effect, FastCheck, Layer } from "effect"
import { Memory, MemoryStore, Message, TokenCounter, TrimStrategy } from "effect-memory"

const calibratedLayer = (maxTokens: number, counter = TokenCounter.characters) =>
  Memory.layer({ maxTokens }).pipe(
    Layer.provide([
      Layer.effect(TokenCounter.TokenCounter, TokenCounter.calibrated(counter)),
      TrimStrategy.layerWindowDrop,
      MemoryStore.layerMemory
    ])
  )

const tokensOf = (messages: ReadonlyArray<Message.Message>) =>
  Effect.map(
    Effect.forEach(messages, TokenCounter.characters.countMessage),
    (counts) => counts.reduce((sum, n) => sum + n, 0)
  )

/** Bills `fixed + factor × tokens` for each turn of a conversation, and answers the bills. */
const converse = (turns: ReadonlyArray<number>, fixed: number, factor: number) =>
  Effect.gen(function*() {
    const memory = yield* Memory.Memory
    const bills: Array<number> = []
    for (const [turn, size] of turns.entries()) {
      yield* memory.record(Message.user(`question ${turn} ${"x".repeat(size)}`))
      const inputTokens = Math.round(fixed + factor * (yield* tokensOf(yield* memory.context)))
      bills.push(inputTokens)
      yield* memory.observeUsage({ inputTokens })
      yield* memory.record(Message.assistant("y".repeat(size)))
    }
    return bills
  })

describe("TokenCounter.calibrated", () => {
  it.effect("keeps a window full to its bill, not to its count", () =>
    Effect.gen(function*() {
      const bills = yield* converse(Array.from({ length: 60 }, () => 400), 500, 1.5)
      assert.isAtMost(Math.max(...bills.slice(20)), 4000)
      assert.isAtLeast(Math.min(...bills.slice(40)), 3000, "the window is used")
    }).pipe(Effect.provide(calibratedLayer(4000))))

  it.effect.prop(
    "never bills more than the budget twice in a row",
    {
      turns: FastCheck.array(FastCheck.integer({ min: 0, max: 600 }), { minLength: 5, maxLength: 60 }),
      fixed: FastCheck.integer({ min: 0, max: 1000 }),
      factor: FastCheck.double({ min: 0.8, max: 2.5, noNaN: true })
    },
    ({ factor, fixed, turns }) =>
      Effect.gen(function*() {
        const bills = yield* converse(turns, fixed, factor)
        bills.forEach((bill, i) => {
          if (i > 0 && bills[i - 1] > 4000) assert.isAtMost(bill, 4000, `turn ${i} after ${bills[i - 1]}`)
        })
      }).pipe(Effect.provide(calibratedLayer(4000))),
    { fastCheck: { numRuns: 60 } }
  )

  it.effect("leaves the budget as it is until something was billed", () =>
    Effect.gen(function*() {
      const memory = yield* Memory.Memory
      yield* memory.recordAll([Message.user("x".repeat(8000)), Message.assistant("a"), Message.user("x".repeat(7990))])
      assert.strictEqual((yield* memory.context).length, 3)
      yield* memory.observeUsage({ inputTokens: 0 })
      assert.strictEqual((yield* memory.context).length, 3)
      yield* memory.observeUsage({ inputTokens: 6000 })
      assert.strictEqual((yield* memory.context).length, 1)
    }).pipe(Effect.provide(calibratedLayer(4000))))

  it.effect("counts nothing again when a bill comes in", () =>
    Effect.gen(function*() {
      const counted: Array<string> = []
      const counter = TokenCounter.make({
        id: "recording",
        count: (text) => Effect.sync(() => counted.push(text)).pipe(Effect.as(text.length))
      })
      yield* converse([10, 10, 10, 10, 10], 5, 1.2).pipe(Effect.provide(calibratedLayer(60, counter)))
      assert.strictEqual(counted.filter((text) => text.startsWith("question")).length, 5)
    }))

  it.effect("a memory forgets its bills when it is cleared", () =>
    Effect.gen(function*() {
      const memory = yield* Memory.Memory
      yield* converse([10], 9000, 1)
      yield* memory.clear
      yield* memory.recordAll([Message.user("x".repeat(4000)), Message.assistant("a"), Message.user("x".repeat(4000))])
      assert.strictEqual((yield* memory.context).length, 3)
    }).pipe(Effect.provide(calibratedLayer(4000))))
})
