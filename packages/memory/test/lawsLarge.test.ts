import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { Message, TrimStrategy } from "effect-memory"
import { makeMemory, rounds } from "./utilities.js"

const { assistant, system, text, tool, toolCall, toolResult, user } = Message

const timeout = 120_000

/** No times are asserted: what grows with the square of the length does not come to its end. */
describe("15: nothing takes more than time linear in its length", () => {
  it.scoped("a long log, trimmed by the plain window", () =>
    Effect.gen(function*() {
      const memory = yield* makeMemory({ maxTokens: 1000 })
      yield* memory.recordAll(rounds(50_000))
      assert.isAtMost((yield* memory.context).length, 1000)
      assert.strictEqual((yield* memory.usage).messages, 100_000)
      for (let i = 0; i < 100; i++) {
        yield* memory.record(user(`u${i}`))
        yield* memory.context
      }
    }), timeout)

  it.scoped("a long log, materialized with gaps", () =>
    Effect.gen(function*() {
      const everyOther = TrimStrategy.make(({ messages, newest }) =>
        Effect.succeed({
          messages: [system("s"), ...messages.filter((_, i) => i % 4 > 1 || i >= newest)],
          replace: true
        })
      )
      const memory = yield* makeMemory({ maxTokens: 1000, strategy: everyOther })
      yield* memory.recordAll(rounds(20_000))
      assert.isAtMost((yield* memory.context).length, 1000)
      yield* memory.setMaxTokens(undefined)
      assert.strictEqual((yield* memory.context).length, 20_001)
      yield* memory.restore
      assert.strictEqual((yield* memory.context).length, 40_000)
    }), timeout)

  it.scoped("a strategy that makes many messages of few", () =>
    Effect.gen(function*() {
      const many = Array.from({ length: 150_000 }, () => system("s"))
      const strategy = TrimStrategy.make(({ messages, newest }) =>
        Effect.succeed({ messages: [...many, ...messages.slice(newest)], replace: true })
      )
      const memory = yield* makeMemory({ maxTokens: 3, strategy })
      yield* memory.recordAll(rounds(3))
      assert.strictEqual((yield* memory.context).length, 2)
    }), timeout)

  it.scoped("many calls in one message, answered one by one and out of order", () =>
    Effect.gen(function*() {
      const ids = Array.from({ length: 20_000 }, (_, i) => `c${i}`)
      const memory = yield* makeMemory({ maxTokens: 1 })
      yield* memory.recordAll([
        user("u"),
        assistant(ids.map((id) => toolCall({ id, name: "f", params: {} }))),
        ...ids.slice().reverse().map((id) => tool([toolResult({ id, name: "f", result: id })]))
      ])
      assert.strictEqual((yield* memory.context).length, 20_002)
      yield* memory.record(user("v"))
      assert.strictEqual((yield* memory.context).length, 1)
    }), timeout)

  it.scoped("one message of many parts, of much text, of deep arguments", () =>
    Effect.gen(function*() {
      const memory = yield* makeMemory({})
      let deep: unknown = 1
      for (let i = 0; i < 400; i++) deep = i % 2 === 0 ? { a: deep } : [deep]
      const messages = [
        user(Array.from({ length: 100_000 }, (_, i) => text(`${i}`))),
        user("猫".repeat(5_000_000)),
        user("a".repeat(10_000_000)),
        assistant([toolCall({ id: "c1", name: "f", params: deep })])
      ]
      for (const message of messages) yield* memory.record(message)
      assert.deepStrictEqual((yield* memory.context).length, 4)
      assert.isAtLeast((yield* memory.usage).tokens, 7_500_000)
    }), timeout)
})
