import { assert, describe, it } from "@effect/vitest"
import { Chunk, Effect, Fiber, Stream, TestClock } from "effect"
import {
  type Memory,
  MemoryError,
  type MemoryEvent,
  Message,
  Summarizer,
  TokenCounter,
  TrimStrategy
} from "effect-memory"
import { bytes, makeSummarizing, prefix, provenanceOf, scripted, words } from "./summarizing.js"
import { makeMemory, rounds, texts } from "./utilities.js"

const { assistant, system, tool, toolCall, toolResult, user } = Message

/** Rounds of ten tokens: five and five. */
const turns = (n: number, from = 1) =>
  Array.from({ length: n }, (_, i) => [
    user(`Question number ${100 + from + i}`),
    assistant(`The answer is no ${100 + from + i}`)
  ]).flat()

/** A call and its result: the name, the empty arguments and four characters a token of the result. */
const step = (id: string, result: string) => [
  assistant([toolCall({ id, name: "look", params: {} })]),
  tool([toolResult({ id, name: "look", result })])
]

const failure = new MemoryError.SummarizeError({ reason: "provider", detail: "no answer" })

/** All events of a memory from now on. */
const watch = (memory: Memory.Service) =>
  Effect.gen(function*() {
    const seen: Array<MemoryEvent.MemoryEvent> = []
    yield* Effect.forkScoped(Stream.runForEach(memory.events, (event) => Effect.sync(() => seen.push(event))))
    yield* Effect.yieldNow()
    return Effect.as(Effect.repeatN(Effect.yieldNow(), 20), seen)
  })

describe("what a summary is", () => {
  it.scoped("it says where it comes from", () =>
    Effect.gen(function*() {
      yield* TestClock.adjust("5 seconds")
      const { memory } = yield* makeSummarizing(["Three questions were answered"], { maxTokens: 30 })
      yield* memory.recordAll(turns(4))
      assert.deepStrictEqual(provenanceOf((yield* memory.context)[0]), {
        messages: 6,
        tokensBefore: 30,
        tokensAfter: 14,
        at: 5000,
        counter: "characters",
        usage: undefined,
        from: 0,
        upTo: 6
      })
    }))

  it.scoped("it says what the model billed", () =>
    Effect.gen(function*() {
      const usage = { inputTokens: 120, outputTokens: 8 }
      const strategy = yield* Effect.provideService(
        TrimStrategy.summarize(),
        Summarizer.Summarizer,
        Summarizer.make(() => Effect.succeed({ text: "Three questions", usage }))
      )
      const memory = yield* makeMemory({ maxTokens: 30, strategy })
      yield* memory.recordAll(turns(4))
      assert.deepStrictEqual(provenanceOf((yield* memory.context)[0])?.["usage"], usage)
    }))

  it.scoped("the next one covers what it covered", () =>
    Effect.gen(function*() {
      const { memory } = yield* makeSummarizing(["three", "six"], { maxTokens: 30 })
      yield* memory.recordAll(turns(4))
      yield* memory.context
      yield* memory.recordAll(turns(3, 5))
      const context = yield* memory.context
      assert.deepStrictEqual(words(context), ["<six>", ...texts(turns(1, 7))])
      assert.deepInclude(provenanceOf(context[0]), { from: 0, upTo: 12 })
    }))

  it.scoped("it can be a user message, which opens no round", () =>
    Effect.gen(function*() {
      const { memory, requests } = yield* makeSummarizing(["first", "second"], {
        maxTokens: 40,
        maxRounds: 2,
        summarize: { role: "user", maxSummaryTokens: 8 }
      })
      yield* memory.recordAll(turns(3))
      const context = yield* memory.context
      assert.strictEqual(context[0].role, "user")
      assert.deepStrictEqual(words(context), ["<first>", ...texts(turns(2, 2))])
      assert.strictEqual((yield* memory.usage).rounds, 2)
      assert.deepStrictEqual(yield* memory.context, context)
      yield* memory.recordAll(turns(1, 4))
      assert.deepStrictEqual(words(yield* memory.context), ["<second>", ...texts(turns(2, 3))])
      assert.deepStrictEqual((yield* requests).map(({ previous }) => previous), [undefined, "first"])
    }))

  it.scoped("the summarizer is told the instructions of the caller", () =>
    Effect.gen(function*() {
      const { memory, requests } = yield* makeSummarizing(["short"], {
        maxTokens: 30,
        summarize: { prompt: "Only the names." }
      })
      yield* memory.recordAll(turns(4))
      yield* memory.context
      assert.strictEqual((yield* requests)[0].prompt, "Only the names.")
    }))
})

describe("how large a summary is", () => {
  const cut = Effect.fnUntraced(function*(reply: string, counter: TokenCounter.Service, maxTokens: number) {
    const { memory } = yield* makeSummarizing([reply], { maxTokens, counter, summarize: { maxSummaryTokens: 5 } })
    yield* memory.recordAll(turns(8))
    const [summary] = yield* memory.context
    const text = texts([summary])[0].slice(prefix.length)
    return { text, over: (yield* counter.countMessage(summary)) - (yield* counter.countMessage(system(prefix))) }
  })

  it.scoped("what is over its cap is cut between code points: ideographs", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual(yield* cut("今天港口的天气很好", TokenCounter.characters, 60), {
        text: "今天港口的",
        over: 5
      })
    }))

  it.scoped("what is over its cap is cut between code points: emoji", () =>
    Effect.gen(function*() {
      // The prefix leaves two of its last token free.
      assert.deepStrictEqual(yield* cut("😀".repeat(100), TokenCounter.characters, 60), {
        text: "😀".repeat(22),
        over: 5
      })
    }))

  it.scoped("what is over its cap is cut between code points: bytes", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual(yield* cut("a😀b😀", bytes, 200), { text: "a😀", over: 5 })
    }))

  it.scoped("where not one code point fits there is no summary, and nothing is removed", () =>
    Effect.gen(function*() {
      const { memory } = yield* makeSummarizing(["😀".repeat(20)], {
        maxTokens: 200,
        counter: bytes,
        summarize: { maxSummaryTokens: 3 }
      })
      yield* memory.recordAll(turns(8))
      assert.deepStrictEqual(words(yield* memory.context), texts(turns(4, 5)))
      yield* memory.setMaxTokens(undefined)
      assert.deepStrictEqual(yield* memory.context, turns(8))
    }))

  it.scoped("a summary that is no shorter than what it stands for is refused", () =>
    Effect.gen(function*() {
      const { memory, requests } = yield* makeSummarizing(["word ".repeat(200)], { maxTokens: 1000, maxRounds: 1 })
      const failed = yield* Stream.filter(memory.events, (event) => event._tag === "TrimFailed").pipe(
        Stream.take(1),
        Stream.runCollect,
        Effect.fork
      )
      yield* Effect.yieldNow()
      yield* memory.recordAll(turns(2))
      assert.deepStrictEqual(words(yield* memory.context), texts(turns(1, 2)))
      assert.strictEqual((yield* requests).length, 1)
      const [event] = Chunk.toReadonlyArray(yield* Fiber.join(failed))
      assert.deepInclude(event.error.cause, { _tag: "SummarizeError", reason: "grew" })
    }))
})

describe("when a summary is asked for", () => {
  it.scoped("never for a previous summary alone: a growing newest round asks about each group once", () =>
    Effect.gen(function*() {
      const { memory, requests } = yield* makeSummarizing(Array.from({ length: 20 }, (_, i) => `so far ${i}`), {
        maxTokens: 60,
        summarize: { maxSummaryTokens: 8 }
      })
      yield* memory.recordAll([...turns(2), user("Look everywhere")])
      for (let i = 0; i < 12; i++) {
        yield* memory.recordAll(step(`c${i}`, `found ${i} `.repeat(4)))
        yield* memory.context
        yield* memory.context
      }
      const asked = yield* requests
      assert.isAtLeast(asked.length, 2)
      assert.isTrue(asked.every(({ messages }) => messages.length > 0))
      assert.isTrue(asked.slice(1).every(({ previous }, i) => previous === `so far ${i}`))
      const summarized = asked.flatMap(({ messages }) => messages)
      assert.strictEqual(new Set(summarized).size, summarized.length)
    }))

  it.scoped("not for a view that only its newest round holds over the budget", () =>
    Effect.gen(function*() {
      const { memory, requests } = yield* makeSummarizing(["three", "never"], { maxTokens: 30 })
      yield* memory.recordAll(turns(4))
      yield* memory.context
      yield* memory.record(user("x".repeat(400)))
      for (let i = 0; i < 5; i++) assert.deepStrictEqual(words(yield* memory.context), ["<three>", "x".repeat(400)])
      assert.strictEqual((yield* requests).length, 1)
    }))

  it.scoped("not where there is no room for the shortest summary", () =>
    Effect.gen(function*() {
      const { memory, requests } = yield* makeSummarizing(["never"], { maxTokens: 17 })
      yield* memory.recordAll(turns(4))
      for (let i = 0; i < 3; i++) assert.deepStrictEqual(words(yield* memory.context), texts(turns(1, 4)))
      assert.deepStrictEqual(yield* requests, [])
      yield* memory.setMaxTokens(18)
      yield* memory.context
      assert.strictEqual((yield* requests).length, 1)
    }))

  it.scoped("not where what would go is no longer than the shortest summary", () =>
    Effect.gen(function*() {
      const { memory, requests } = yield* makeSummarizing(["never"], { maxTokens: 1000, maxRounds: 2 })
      yield* memory.recordAll(rounds(4))
      assert.deepStrictEqual(words(yield* memory.context), texts(rounds(2, 3)))
      assert.deepStrictEqual(yield* requests, [])
    }))

  it.scoped("for closed groups of a newest round that alone is too large", () =>
    Effect.gen(function*() {
      const { memory, requests } = yield* makeSummarizing(["two looks"], {
        maxTokens: 38,
        summarize: { maxSummaryTokens: 4 }
      })
      const open = assistant([toolCall({ id: "c9", name: "wait", params: {} })])
      yield* memory.recordAll([
        system("setup"),
        user("Look"),
        ...step("c1", "x".repeat(60)),
        ...step("c2", "y".repeat(60)),
        open,
        ...step("c3", "z".repeat(20))
      ])
      const context = yield* memory.context
      assert.deepStrictEqual(words(context), ["setup", "Look", "<two looks>", "tool-call", "tool-call", "z".repeat(20)])
      assert.strictEqual(context[3], open)
      assert.deepStrictEqual((yield* requests)[0].messages, [
        ...step("c1", "x".repeat(60)),
        ...step("c2", "y".repeat(60))
      ])
    }))

  it.scoped("not for the system prompt of a conversation without a user", () =>
    Effect.gen(function*() {
      const { memory, requests } = yield* makeSummarizing(["notes"], {
        maxTokens: 40,
        summarize: { maxSummaryTokens: 4 }
      })
      const notes = [assistant("n".repeat(100)), assistant("m".repeat(20))]
      yield* memory.recordAll([system("setup ".repeat(8)), ...notes])
      assert.deepStrictEqual(words(yield* memory.context), ["setup ".repeat(8), "<notes>", "m".repeat(20)])
      assert.deepStrictEqual((yield* requests)[0].messages, notes.slice(0, 1))
    }))

  it.scoped("the originals of what was cleared before", () =>
    Effect.gen(function*() {
      const { requests, strategy } = yield* scripted(["all looks"], { maxSummaryTokens: 4 })
      const memory = yield* makeMemory({
        maxTokens: 50,
        strategy: TrimStrategy.cascade(TrimStrategy.clearToolResults({ keep: 1 }), strategy)
      })
      const looks = [user("Look"), ...step("c1", "found ".repeat(20)), ...step("c2", "seen ".repeat(20))]
      yield* memory.recordAll([...looks, user("y".repeat(80)), ...step("c3", "z")])
      assert.deepStrictEqual(words(yield* memory.context), ["<all looks>", "y".repeat(80), "tool-call", "z"])
      assert.deepStrictEqual((yield* requests).map(({ messages }) => messages), [looks])
    }))
})

describe("when there is no summary", () => {
  it.scoped("the one before stays, and so does everything that was recorded since", () =>
    Effect.gen(function*() {
      const { memory } = yield* makeSummarizing(["three", failure], {
        maxTokens: 30,
        summarize: { maxSummaryTokens: 4 }
      })
      yield* memory.recordAll(turns(4))
      assert.deepStrictEqual(words(yield* memory.context), ["<three>", ...texts(turns(1, 4))])
      yield* memory.recordAll(turns(2, 5))
      assert.deepStrictEqual(words(yield* memory.context), ["<three>", ...texts(turns(2, 5))])
      yield* memory.setMaxTokens(1000)
      assert.deepStrictEqual(words(yield* memory.context), ["<three>", ...texts(turns(3, 4))])
    }))

  it.scoped("it is asked for again after 1, 2, 4 … seconds, and each failure is an event", () =>
    Effect.gen(function*() {
      const { memory, requests } = yield* makeSummarizing([failure, "", failure, "three", failure], { maxTokens: 30 })
      const events = yield* watch(memory)
      yield* memory.recordAll(turns(4))
      const asked: Array<number> = []
      for (let second = 0; second <= 8; second++) {
        yield* memory.context
        asked.push((yield* requests).length)
        yield* TestClock.adjust("1 seconds")
      }
      assert.deepStrictEqual(asked, [1, 2, 2, 3, 3, 3, 3, 4, 4])
      assert.deepStrictEqual(
        (yield* events).flatMap((event) => event._tag === "TrimFailed" ? [event.retryAt] : []),
        [1000, 3000, 7000]
      )
      // A success starts the back-off anew.
      yield* memory.recordAll(turns(3, 5))
      yield* memory.context
      assert.strictEqual((yield* events).flatMap((e) => e._tag === "TrimFailed" ? [e.retryAt] : []).at(-1), 10_000)
    }))

  it.scoped("a summarizer that dies is one that failed", () =>
    Effect.gen(function*() {
      const { memory } = yield* makeSummarizing([Effect.die("bug")], { maxTokens: 30 })
      yield* memory.recordAll(turns(4))
      assert.deepStrictEqual(words(yield* memory.context), texts(turns(3, 2)))
    }))

  it.scoped("a summarizer that hangs is one that failed, after the time limit", () =>
    Effect.gen(function*() {
      const { memory } = yield* makeSummarizing([Effect.never], { maxTokens: 30, trimTimeout: "10 seconds" })
      yield* memory.recordAll(turns(4))
      const fiber = yield* Effect.fork(memory.context)
      yield* TestClock.adjust("10 seconds")
      assert.deepStrictEqual(words(yield* Fiber.join(fiber)), texts(turns(3, 2)))
    }))

  it.scoped("a cap that is no number is an error that says so", () =>
    Effect.gen(function*() {
      for (const maxSummaryTokens of [0, -1, 1.5, NaN, Infinity]) {
        const { memory, requests } = yield* makeSummarizing(["never"], {
          maxTokens: 30,
          summarize: { maxSummaryTokens }
        })
        yield* memory.recordAll(turns(4))
        const error = yield* Effect.flip(memory.compact)
        assert.include(error.message, `maxSummaryTokens is ${maxSummaryTokens}`)
        assert.deepStrictEqual(words(yield* memory.context), texts(turns(3, 2)))
        assert.deepStrictEqual(yield* requests, [])
      }
    }))
})

describe("summaries and protected rounds", () => {
  it.scoped("what is protected keeps its place, and is never summarized", () =>
    Effect.gen(function*() {
      const { memory, requests } = yield* makeSummarizing(["first", "second", "third"], {
        maxTokens: 48,
        summarize: { maxSummaryTokens: 4 }
      })
      yield* memory.recordAll([...turns(1), user("Remember this")])
      yield* memory.recordProtected(assistant("The door code is 1"))
      for (const [i, summary] of ["first", "second", "third"].entries()) {
        yield* memory.recordAll(turns(3, 2 + 3 * i))
        assert.deepStrictEqual(words(yield* memory.context), [
          `<${summary}>`,
          "Remember this",
          "The door code is 1",
          ...texts(turns(2, 3 + 3 * i))
        ])
      }
      const asked = (yield* requests).flatMap(({ messages }) => texts(messages))
      assert.notInclude(asked.join(), "door")
    }))

  it.scoped("protected tokens are charged, and what they leave is what the rest must fit", () =>
    Effect.gen(function*() {
      const { memory } = yield* makeSummarizing(["first"], { maxTokens: 50, summarize: { maxSummaryTokens: 4 } })
      yield* memory.recordProtected(user("p".repeat(60)))
      yield* memory.recordAll(turns(4))
      assert.deepStrictEqual(words(yield* memory.context), ["p".repeat(60), "<first>", ...texts(turns(2, 3))])
      assert.isAtMost((yield* memory.usage).tokens, 50)
    }))
})
