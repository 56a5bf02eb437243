import { assert, describe, it } from "@effect/vitest"
import { Effect, Either, Stream } from "effect"
import type { Memory } from "effect-memory"
import { ContextWindow, MemoryError, type MemoryEvent, Message, TokenCounter, TrimStrategy } from "effect-memory"
import { makeSummarizing, provenanceOf, words } from "./summarizing.js"
import { makeMemory, rounds, texts } from "./utilities.js"

const { assistant, system, tool, toolCall, toolResult, user } = Message

/** A call of two tokens and its result. */
const look = (id: string, result: string) => [
  assistant([toolCall({ id, name: "look", params: {} })]),
  tool([toolResult({ id, name: "look", result })])
]

const looks = (n: number, tokens: number) =>
  Array.from({ length: n }, (_, i) => look(`c${i}`, `${i} `.padEnd(4 * tokens, "x")))

const summaries = (n: number) => Array.from({ length: n }, (_, i) => `so far ${i}`)

/** All events of a memory from now on. */
const watch = (memory: Memory.Service) =>
  Effect.gen(function*() {
    const seen: Array<MemoryEvent.MemoryEvent> = []
    yield* Effect.forkScoped(Stream.runForEach(memory.events, (event) => Effect.sync(() => seen.push(event))))
    yield* Effect.yieldNow()
    return Effect.as(Effect.repeatN(Effect.yieldNow(), 50), seen)
  })

describe("empty and degenerate histories", () => {
  it.scoped("a limit of nothing gives the least that can be sent", () =>
    Effect.gen(function*() {
      const memory = yield* makeMemory({ maxTokens: 0, maxRounds: 0 })
      assert.deepStrictEqual(yield* memory.context, [])
      yield* memory.recordAll(rounds(2))
      assert.deepStrictEqual(texts(yield* memory.context), ["u2", "a2"])
    }))

  it.scoped("a system prompt larger than the budget is handed out, or told as an error with the figures", () =>
    Effect.gen(function*() {
      const prompt = system("s".repeat(400))
      for (const messages of [[prompt], [prompt, user("u1")]]) {
        const lenient = yield* makeMemory({ maxTokens: 50 })
        yield* lenient.recordAll(messages)
        assert.deepStrictEqual(yield* lenient.context, messages)
        const strict = yield* makeMemory({ maxTokens: 50, onOverflow: "fail" })
        yield* strict.recordAll(messages)
        const error = yield* Effect.flip(strict.context)
        assert.strictEqual(error._tag, "BudgetUnsatisfiable")
        if (error._tag === "BudgetUnsatisfiable") {
          assert.strictEqual(error.budget, 50)
          assert.strictEqual(error.floor.total, 99 + messages.length)
        }
      }
    }))

  it.scoped("a result of megabytes does not leave the system prompt alone", () =>
    Effect.gen(function*() {
      const messages = [system("setup"), user("What is in it?"), ...look("a", "x".repeat(6_000_000))]
      const plain = yield* makeMemory({ maxTokens: 8000 })
      yield* plain.recordAll(messages)
      // Compared by reference: a difference of megabytes would take hours to print.
      assert.isTrue((yield* plain.context).every((message, i) => message === messages[i]))
      assert.strictEqual((yield* plain.context).length, 4)
      const shrinking = yield* makeMemory({
        maxTokens: 8000,
        strategy: TrimStrategy.cascade(TrimStrategy.shortenParts({ maxTokens: 2000 }), TrimStrategy.windowDrop())
      })
      yield* shrinking.recordAll(messages)
      const context = yield* shrinking.context
      assert.deepStrictEqual(context.slice(0, 3), messages.slice(0, 3))
      assert.isAtMost(yield* TokenCounter.characters.countMessage(context[3]), 2000)
    }))

  it.scoped("after a compaction there is still a user message", () =>
    Effect.gen(function*() {
      const conversations = [
        [system("setup"), ...rounds(1), user("x".repeat(200)), assistant("y".repeat(200)), user("u3")],
        [system("setup"), user("Look"), ...looks(5, 40).flat()],
        [system("setup"), assistant("y".repeat(200)), assistant("z".repeat(20))]
      ]
      for (const messages of conversations) {
        const { memory } = yield* makeSummarizing(["so far"], {
          maxTokens: 56,
          rules: "anthropic",
          summarize: { maxSummaryTokens: 4 }
        })
        yield* memory.recordAll(messages)
        const context = yield* memory.context
        assert.include(texts(context).join(), "so far")
        assert.isTrue(context.some(({ role }) => role === "user"))
      }
    }))

  it.scoped("one request and a hundred tool rounds: the task and the newest work stay", () =>
    Effect.gen(function*() {
      const task = user("Find the leak")
      const work = looks(100, 50)
      const { memory: summarizing } = yield* makeSummarizing(summaries(100), {
        maxTokens: 1000,
        summarize: { maxSummaryTokens: 50 }
      })
      const memories = [
        summarizing,
        yield* makeMemory({ maxTokens: 1000, strategy: TrimStrategy.truncate() }),
        yield* makeMemory({
          maxTokens: 2100,
          strategy: TrimStrategy.cascade(TrimStrategy.clearToolResults({ keep: 2 }), TrimStrategy.truncate())
        })
      ]
      for (const memory of memories) {
        yield* memory.recordAll([...rounds(2), task])
        for (const step of work) {
          yield* memory.recordAll(step)
          const context = yield* memory.context
          assert.include(context, task)
          assert.deepStrictEqual(context.slice(-2), step)
        }
        assert.isAtLeast((yield* memory.context).length, 20)
      }
    }))
})

describe("compactions that help nobody", () => {
  it.scoped("what must stay is over the budget: no summary is asked for before every call", () =>
    Effect.gen(function*() {
      const { memory, requests } = yield* makeSummarizing(summaries(50), { maxTokens: 15_564 })
      yield* memory.recordAll(rounds(2))
      for (let i = 0; i < 10; i++) yield* memory.recordProtected(user(`${i}`.repeat(12_000)))
      for (let i = 0; i < 10; i++) {
        yield* memory.recordAll(rounds(1, 3 + i))
        assert.isAtLeast((yield* memory.context).length, 10)
      }
      assert.deepStrictEqual(yield* requests, [])
    }))

  it.scoped("an agent that reads the same files again after each compaction asks about each reading once", () =>
    Effect.gen(function*() {
      const { memory, requests } = yield* makeSummarizing(summaries(100), {
        maxTokens: 1000,
        summarize: { maxSummaryTokens: 50 }
      })
      yield* memory.record(user("Fix the build"))
      for (let i = 0; i < 30; i++) {
        yield* memory.recordAll([...look(`a${i}`, "a".repeat(1600)), ...look(`b${i}`, "b".repeat(1600))])
        for (let again = 0; again < 3; again++) assert.isAtMost((yield* memory.context).length, 8)
      }
      const asked = (yield* requests).flatMap(({ messages }) => messages)
      assert.strictEqual(new Set(asked).size, asked.length)
      assert.isAtMost((yield* requests).length, 30)
    }))

  it.scoped("a long tool loop compacts no more often than there is room between target and budget", () =>
    Effect.gen(function*() {
      const { memory } = yield* makeSummarizing(summaries(200), {
        maxTokens: 1000,
        summarize: { maxSummaryTokens: 50, target: 0.5 }
      })
      const events = yield* watch(memory)
      yield* memory.record(user("A small handover"))
      for (const step of looks(111, 28)) {
        yield* memory.recordAll(step)
        yield* memory.context
      }
      const commits = (yield* events).filter(({ _tag }) => _tag === "CompactionCommitted").length
      assert.isAtLeast(commits, 1)
      assert.isAtMost(commits, Math.floor(111 * 30 / 500))
    }))

  it.scoped("a summary does not grow with every compaction", () =>
    Effect.gen(function*() {
      let plan = ""
      const grow = Effect.sync(() => plan += "One more unfinished point of the plan. ".repeat(40))
      const { memory, requests } = yield* makeSummarizing(Array(30).fill(grow), {
        maxTokens: 1000,
        summarize: { maxSummaryTokens: 100 }
      })
      for (let n = 0; n < 30; n++) {
        yield* memory.recordAll([user(`${n}`.repeat(400)), assistant(`${n}`.repeat(400))])
        const summary = (yield* memory.context).find((message) => provenanceOf(message) !== undefined)
        if (summary !== undefined) assert.isAtMost(yield* TokenCounter.characters.countMessage(summary), 107)
      }
      assert.isAbove((yield* requests).length, 5)
    }))

  it.scoped("work near its end is not repeated: the last conclusion stays as it was said", () =>
    Effect.gen(function*() {
      const { memory } = yield* makeSummarizing(summaries(100), { maxTokens: 500, summarize: { maxSummaryTokens: 50 } })
      yield* memory.record(user("Who wrote to the disk?"))
      const conclusion = assistant("It was the cron job of Monday, I only have to write it down.")
      yield* memory.recordAll([...looks(20, 100).flat(), conclusion])
      const context = yield* memory.context
      assert.strictEqual(context.at(-1), conclusion)
      assert.strictEqual(texts(context)[0], "Who wrote to the disk?")
    }))

  it.scoped("an overflow is answered by one attempt, then by an error", () =>
    Effect.gen(function*() {
      const { memory, requests } = yield* makeSummarizing(summaries(20), {
        maxTokens: 100,
        onOverflow: "fail",
        summarize: { maxSummaryTokens: 10 }
      })
      yield* memory.recordAll([user("x".repeat(200)), assistant("y".repeat(100)), user("z".repeat(330))])
      yield* memory.context
      yield* memory.record(assistant("z".repeat(400)))
      for (let i = 0; i < 5; i++) {
        assert.strictEqual((yield* Effect.flip(memory.context))._tag, "BudgetUnsatisfiable")
      }
      assert.strictEqual((yield* requests).length, 1)
    }))

  it.scoped("compacting ahead of need is told by the commit, and not tried again before a round begins", () =>
    Effect.gen(function*() {
      const { memory, requests } = yield* makeSummarizing(summaries(20), {
        maxTokens: 100,
        background: { at: 0.5 },
        summarize: { maxSummaryTokens: 10 }
      })
      const events = yield* watch(memory)
      yield* memory.recordAll([user("x".repeat(100)), assistant("y".repeat(20)), user("z".repeat(120)), assistant("a")])
      assert.strictEqual((yield* memory.context).length, 4)
      assert.isTrue((yield* events).some(({ _tag }) => _tag === "CompactionCommitted"))
      assert.deepStrictEqual(words(yield* memory.context), ["<so far 0>", "z".repeat(120), "a"])
      for (let i = 0; i < 5; i++) {
        yield* memory.record(assistant(`step ${i} `.repeat(3)))
        yield* memory.context
        yield* events
      }
      const before = (yield* requests).length
      assert.isAtMost(before, 2)
      for (let i = 0; i < 5; i++) yield* memory.context
      yield* events
      assert.strictEqual((yield* requests).length, before)
    }))
})

describe("budgets and how they are given", () => {
  it.effect("a limit that is none is refused", () =>
    Effect.gen(function*() {
      for (const maxTokens of [-1, 0.5, NaN, Infinity, 2 ** 60]) {
        for (const limits of [{ maxTokens }, { maxRounds: maxTokens }]) {
          const error = yield* Effect.flip(makeMemory(limits))
          assert.strictEqual(error._tag, "InvalidBudget")
          assert.include(error.message, String(maxTokens))
        }
        const window = yield* Effect.either(
          Effect.provide(ContextWindow.ContextWindow, ContextWindow.layerTruncate({ maxTokens }))
        )
        assert.isTrue(Either.isLeft(window) && window.left instanceof MemoryError.InvalidBudget)
      }
    }).pipe(Effect.scoped))

  it.scoped("a model too small for its prompt does not compact on every message", () =>
    Effect.gen(function*() {
      const { memory, requests } = yield* makeSummarizing(summaries(50), { maxTokens: 200 })
      yield* memory.record(system("s".repeat(1000)))
      for (let n = 1; n <= 20; n++) {
        yield* memory.recordAll(rounds(1, n))
        assert.deepStrictEqual(texts(yield* memory.context).slice(1), [`u${n}`, `a${n}`])
      }
      assert.deepStrictEqual(yield* requests, [])
    }))
})
