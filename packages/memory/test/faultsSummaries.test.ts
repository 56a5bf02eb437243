import { assert, describe, it } from "@effect/vitest"
import { Effect, Stream, TestClock } from "effect"
import { MemoryError, MemoryStore, Message, Summarizer, TokenCounter, TrimStrategy } from "effect-memory"
import { makeSummarizing, provenanceOf, type Reply, scripted, words } from "./summarizing.js"
import { makeMemory, rounds, texts } from "./utilities.js"

const { assistant, system, tool, toolCall, toolResult, user } = Message

/** Ten tokens a round. */
const turns = (n: number, from = 1) =>
  Array.from({ length: n }, (_, i) => [
    user(`Question number ${100 + from + i}`),
    assistant(`The answer is no ${100 + from + i}`)
  ]).flat()

const look = (id: string, name: string, result: unknown) => [
  assistant([toolCall({ id, name, params: {} })]),
  tool([toolResult({ id, name, result })])
]

const failing = (reason: MemoryError.SummarizeError["reason"]): Reply =>
  new MemoryError.SummarizeError({ reason, detail: "the model said: quota exceeded" })

/** A strategy over one model, and what the model was asked. */
const asking = Effect.fnUntraced(function*(
  complete: (call: Summarizer.Call) => Effect.Effect<Summarizer.Completion, MemoryError.SummarizeError>,
  improve: (summarizer: Summarizer.Service) => Summarizer.Service = (summarizer) => summarizer
) {
  const calls: Array<Summarizer.Call> = []
  const model = Summarizer.make((call) => Effect.zipRight(Effect.sync(() => calls.push(call)), complete(call)))
  const strategy = yield* Effect.provideService(TrimStrategy.summarize(), Summarizer.Summarizer, improve(model))
  return { strategy, calls }
})

describe("what must not be lost", () => {
  it.scoped("the system prompt, whatever trims a long history", () =>
    Effect.gen(function*() {
      const strategies = [
        TrimStrategy.windowDrop(),
        TrimStrategy.truncate(),
        TrimStrategy.clearToolResults(),
        TrimStrategy.shortenParts({ maxTokens: 5 }),
        (yield* scripted(Array(20).fill("so far"))).strategy
      ]
      const prompt = system("You are a careful assistant that never guesses.")
      for (const strategy of strategies) {
        const memory = yield* makeMemory({ maxTokens: 60, maxRounds: 5, strategy })
        yield* memory.record(prompt)
        for (let n = 1; n <= 10; n++) {
          yield* memory.recordAll(turns(1, n))
          assert.strictEqual((yield* memory.context)[0], prompt)
        }
      }
    }))

  it.scoped("the live request: a compaction in the middle of a turn does not bring the first task of the day back", () =>
    Effect.gen(function*() {
      const { memory } = yield* makeSummarizing(Array(20).fill("Finished: tasks 101 to 104"), { maxTokens: 60 })
      yield* memory.recordAll([...turns(4), user("Now the fifth task")])
      for (let i = 0; i < 6; i++) {
        yield* memory.recordAll(look(`c${i}`, "look", "x".repeat(60)))
        const context = yield* memory.context
        const asked = context.filter(({ role }) => role === "user")
        assert.deepStrictEqual(texts(asked).at(-1), "Now the fifth task")
        if (context.some((message) => provenanceOf(message) !== undefined)) assert.strictEqual(asked.length, 1)
      }
    }))

  it.scoped("a plan that is protected, in its place, through any number of compactions", () =>
    Effect.gen(function*() {
      const { memory, requests } = yield* makeSummarizing(Array(20).fill("so far"), { maxTokens: 70 })
      yield* memory.record(user("Plan"))
      const [call, todo] = look("todo", "todo_write", { open: ["test", "ship"] })
      yield* memory.record(call)
      yield* memory.recordProtected(todo)
      for (let n = 1; n <= 20; n++) {
        yield* memory.recordAll(turns(1, n))
        const context = yield* memory.context
        assert.strictEqual(context.indexOf(todo), context.indexOf(call) + 1)
      }
      assert.isAbove((yield* requests).length, 1)
    }))

  it.scoped("a plan whose tool is excluded from clearing", () =>
    Effect.gen(function*() {
      const strategy = TrimStrategy.clearToolResults({ keep: 1, exclude: ["todo_write"] })
      const memory = yield* makeMemory({ maxTokens: 10, strategy })
      const plan = look("todo", "todo_write", { open: ["test", "ship"] })
      yield* memory.recordAll([user("Plan"), ...plan, ...look("a", "look", "x".repeat(200)), ...look("b", "look", "y")])
      const context = yield* memory.context
      assert.include(context, plan[1])
      assert.match(texts(context)[4], /cleared/)
    }))
})

describe("what is no summary", () => {
  it.scoped("an error: nothing is removed, and no text of it reaches the context", () =>
    Effect.gen(function*() {
      for (const reason of ["provider", "timeout", "refused", "truncated", "overflow", "empty"] as const) {
        const { memory } = yield* makeSummarizing([failing(reason), "made at last"], { maxTokens: 30 })
        yield* memory.recordAll(turns(4))
        assert.deepStrictEqual(yield* memory.context, turns(3, 2))
        const log = Array.from(yield* Stream.runCollect(memory.history), ({ message }) => message)
        assert.deepStrictEqual(log, turns(4))
        yield* TestClock.adjust("1 seconds")
        assert.deepStrictEqual(words(yield* memory.context), ["<made at last>", ...texts(turns(1, 4))])
      }
    }))

  it.scoped("one after retries, and then a fallback, before the typed error", () =>
    Effect.gen(function*() {
      let attempts = 0
      const down = Effect.suspend(() => {
        attempts++
        return new MemoryError.SummarizeError({ reason: "provider", detail: "connection reset" })
      })
      const { strategy } = yield* asking(() => down, Summarizer.orElse(Summarizer.extractive(TokenCounter.characters)))
      const memory = yield* makeMemory({ maxTokens: 30, strategy })
      yield* memory.recordAll(turns(4))
      const [summary] = yield* memory.context
      assert.isDefined(provenanceOf(summary))
      assert.notInclude(texts([summary])[0], "connection reset")
      assert.strictEqual(attempts, 1)
    }))

  it.scoped("a reply that was cut, declined or blank", () =>
    Effect.gen(function*() {
      const replies: ReadonlyArray<Summarizer.Completion> = [
        { text: "The user wanted to", finish: "length" },
        { text: "I cannot help with that", finish: "refusal" },
        { text: "" },
        { text: " \n\t\u00a0\u200b" }
      ]
      for (const reply of replies) {
        const { calls, strategy } = yield* asking(() => Effect.succeed(reply))
        const memory = yield* makeMemory({ maxTokens: 30, strategy })
        yield* memory.recordAll(turns(4))
        assert.deepStrictEqual(yield* memory.context, turns(3, 2))
        assert.strictEqual(calls.length, 1)
      }
    }))

  it.scoped("a model that thinks until it is cut is told apart, and does not end compaction for good", () =>
    Effect.gen(function*() {
      let finish: "length" | "stop" = "length"
      const { strategy } = yield* asking(() => Effect.sync(() => ({ text: "the story so far", finish })))
      const memory = yield* makeMemory({ maxTokens: 30, strategy })
      yield* memory.recordAll(turns(4))
      const error = yield* Effect.flip(memory.compact)
      assert.deepInclude((error as MemoryError.TrimError).cause, { _tag: "SummarizeError", reason: "truncated" })
      finish = "stop"
      yield* TestClock.adjust("1 seconds")
      assert.deepStrictEqual(words(yield* memory.context)[0], "<the story so far>")
    }))

  it.scoped("a text longer than what it stands for", () =>
    Effect.gen(function*() {
      const { memory } = yield* makeSummarizing(["and then ".repeat(700)], { maxTokens: 4000, maxRounds: 1 })
      yield* memory.recordAll([user("x".repeat(2600)), ...turns(1)])
      assert.deepStrictEqual(yield* memory.context, turns(1))
      yield* memory.setMaxRounds(undefined)
      assert.strictEqual((yield* memory.context).length, 3)
    }))
})

describe("what a summary is made from", () => {
  it.scoped("always the summary before it", () =>
    Effect.gen(function*() {
      const replies = Array.from({ length: 20 }, (_, i) => `summary ${i}`)
      const { memory, requests } = yield* makeSummarizing(replies, { maxTokens: 40 })
      for (let n = 1; n <= 20; n++) {
        yield* memory.recordAll(turns(1, n))
        yield* memory.context
      }
      const asked = yield* requests
      assert.isAbove(asked.length, 3)
      assert.deepStrictEqual(
        asked.map(({ previous }) => previous),
        [undefined, ...replies.slice(0, asked.length - 1)]
      )
    }))

  it.scoped("not from one huge result that could be shortened instead", () =>
    Effect.gen(function*() {
      const { requests, strategy } = yield* scripted(["never"])
      const memory = yield* makeMemory({
        maxTokens: 5000,
        strategy: TrimStrategy.cascade(TrimStrategy.shortenParts({ maxTokens: 1000 }), strategy)
      })
      const messages = [...turns(4), user("Read it"), ...look("a", "read", "line\n".repeat(500_000))]
      yield* memory.recordAll(messages)
      const context = yield* memory.context
      assert.deepStrictEqual(context.slice(0, -1), messages.slice(0, -1))
      assert.deepStrictEqual(yield* requests, [])
    }))

  it.scoped("in pieces, where it is larger than the model's own window", () =>
    Effect.gen(function*() {
      const maxInputTokens = 2000
      const { calls, strategy } = yield* asking(
        () => Effect.succeed({ text: "the pieces so far" }),
        Summarizer.chunked({ maxInputTokens, counter: TokenCounter.characters })
      )
      const memory = yield* makeMemory({ maxTokens: 3000, strategy })
      yield* memory.recordAll([
        user("a".repeat(40_000)),
        ...turns(200),
        ...look("x", "read", "b".repeat(40_000)),
        user("u")
      ])
      assert.deepStrictEqual(words(yield* memory.context), ["<the pieces so far>", "u"])
      assert.isAbove(calls.length, 1)
      for (const call of calls) {
        const tokens = yield* TokenCounter.characters.count(call.system + call.user)
        assert.isAtMost(tokens, maxInputTokens)
      }
    }))

  it.scoped("and it is marked as context, before what is going on, never the last word or the assistant's", () =>
    Effect.gen(function*() {
      for (const role of ["system", "user"] as const) {
        for (const rules of ["pairing", "strict"] as const) {
          const { memory } = yield* makeSummarizing(["so far", "so far"], {
            maxTokens: 40,
            rules,
            summarize: { role, maxSummaryTokens: 8 }
          })
          yield* memory.recordAll([...turns(4), user("x".repeat(40)), ...look("a", "look", "y".repeat(40))])
          const context = yield* memory.context
          const at = texts(context).findIndex((text) => text.includes("so far"))
          assert.isAtLeast(at, 0)
          assert.isBelow(at, context.length - 1)
          assert.notStrictEqual(context[at].role, "assistant")
          assert.match(texts(context)[at], /^Summary of prior context:\n/)
        }
      }
    }))
})

describe("ways back", () => {
  it.scoped("a compaction can be taken back, and the log has everything all along", () =>
    Effect.gen(function*() {
      const { memory } = yield* makeSummarizing(["the details are gone"], { maxTokens: 30 })
      yield* memory.recordAll(turns(4))
      assert.strictEqual((yield* memory.context).length, 3)
      const log = Array.from(yield* Stream.runCollect(memory.history), ({ message }) => message)
      assert.deepStrictEqual(log, turns(4))
      yield* memory.setMaxTokens(1000)
      yield* memory.restore
      assert.deepStrictEqual(yield* memory.context, turns(4))
    }))

  it.effect("the first turn after a restart goes on from the summary, with the latest request as it was said", () =>
    Effect.gen(function*() {
      const store = yield* MemoryStore.makeMemory
      const live = Effect.fnUntraced(function*(messages: ReadonlyArray<Message.Message>, reply: string) {
        const { memory, requests } = yield* makeSummarizing([reply], { maxTokens: 30, store })
        yield* memory.recordAll(messages)
        return { context: words(yield* memory.context), requests: yield* requests }
      }, Effect.scoped)
      const before = yield* live([...turns(3), user("The latest request")], "three")
      assert.deepStrictEqual(before.context, ["<three>", "The latest request"])
      const after = yield* live([], "never")
      assert.deepStrictEqual(after, { context: before.context, requests: [] })
      const later = yield* live([assistant("x".repeat(80)), ...rounds(1)], "four")
      assert.deepStrictEqual(later.context, ["<four>", "u1", "a1"])
      assert.strictEqual(later.requests[0].previous, "three")
      assert.deepStrictEqual(texts(later.requests[0].messages), ["The latest request", "x".repeat(80)])
    }))
})
