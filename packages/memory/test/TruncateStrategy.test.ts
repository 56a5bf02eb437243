import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { Message, TrimStrategy } from "effect-memory"
import { makeMemory, rounds, texts } from "./utilities.js"

const { assistant, system, tool, toolCall, toolResult, user } = Message

/** Two tokens of call, and the result. */
const step = (id: string, result: string) => [
  assistant([toolCall({ id, name: "f", params: {} })]),
  tool([toolResult({ id, name: "f", result })])
]

const makeTruncating = (maxTokens: number, maxRounds?: number) =>
  makeMemory({ maxTokens, maxRounds, strategy: TrimStrategy.truncate() })

describe("truncate", () => {
  it.scoped("drops groups, oldest first, each with its results", () =>
    Effect.gen(function*() {
      const memory = yield* makeTruncating(8)
      yield* memory.recordAll([...rounds(1), user("u2"), ...step("c1", "r1"), ...step("c2", "r2"), ...rounds(1, 3)])
      assert.deepStrictEqual(texts(yield* memory.context), ["tool-call", "r1", "tool-call", "r2", "u3", "a3"])
      yield* memory.setMaxTokens(7)
      assert.deepStrictEqual(texts(yield* memory.context), ["tool-call", "r2", "u3", "a3"])
      yield* memory.setMaxTokens(1000)
      assert.strictEqual((yield* memory.context).length, 9)
    }))

  it.scoped("drops groups inside the newest round: its user messages, its newest group and its open calls stay", () =>
    Effect.gen(function*() {
      const memory = yield* makeTruncating(1)
      const open = assistant([toolCall({ id: "open", name: "wait", params: {} })])
      yield* memory.recordAll([...rounds(1), user("u2"), ...step("c1", "r1"), open, ...step("c2", "r2")])
      const context = yield* memory.context
      assert.deepStrictEqual(texts(context), ["u2", "tool-call", "tool-call", "r2"])
      assert.strictEqual(context[1], open)
    }))

  it.scoped("system messages are free, and stay where they stand", () =>
    Effect.gen(function*() {
      const memory = yield* makeTruncating(3)
      const long = "s".repeat(400)
      yield* memory.recordAll([system(long), user("u1"), system(`mid ${long}`), assistant("a1"), ...rounds(1, 2)])
      assert.deepStrictEqual(texts(yield* memory.context), [long, `mid ${long}`, "a1", "u2", "a2"])
      yield* memory.setMaxTokens(4)
      assert.strictEqual((yield* memory.context).length, 6)
    }))

  it.scoped("protected rounds stay in place and are charged", () =>
    Effect.gen(function*() {
      const memory = yield* makeTruncating(4)
      yield* memory.recordAll(rounds(1))
      yield* memory.recordProtected(user("u2"))
      yield* memory.recordAll([assistant("a2"), ...rounds(2, 3)])
      assert.deepStrictEqual(texts(yield* memory.context), ["u2", "a2", "u4", "a4"])
      yield* memory.setMaxTokens(5)
      assert.deepStrictEqual(texts(yield* memory.context), ["u2", "a2", "a3", "u4", "a4"])
    }))

  it.scoped("a limit of rounds holds as well", () =>
    Effect.gen(function*() {
      const memory = yield* makeTruncating(1000, 2)
      yield* memory.recordAll(rounds(4))
      assert.deepStrictEqual(texts(yield* memory.context), ["u3", "a3", "u4", "a4"])
    }))
})
