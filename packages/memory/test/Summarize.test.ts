import { assert, describe, it } from "@effect/vitest"
import { Chunk, Effect, Fiber, Stream, TestClock } from "effect"
import { MemoryError, Message, Summarizer, TokenCounter, TrimStrategy } from "effect-memory"
import { makeSummarizing, prefix, provenanceOf, scripted, words } from "./summarizing.js"
import { makeMemory, rounds, texts } from "./utilities.js"

const { assistant, reasoning, system, text, tool, toolCall, toolResult, user } = Message

/** Eleven tokens a round: six and five. */
const long = (n: number, from = 1) =>
  Array.from({ length: n }, (_, i) => [
    user(`Question from round ${from + i}`),
    assistant(`Answer from round ${from + i}`)
  ]).flat()

const failure = new MemoryError.SummarizeError({ reason: "provider", detail: "no answer" })

/** A strategy whose model answers with one text, and the calls to that model. */
const asking = (reply: string) => {
  const calls: Array<Summarizer.Call> = []
  const model = Summarizer.make((call) => Effect.sync(() => ({ text: reply, n: calls.push(call) })))
  return Effect.map(
    Effect.provideService(TrimStrategy.summarize(), Summarizer.Summarizer, model),
    (strategy) => ({ strategy, calls })
  )
}

describe("a summary that changes where rounds begin", () => {
  it.scoped("the model is asked once where a call that is gone makes two rounds of one", () =>
    Effect.gen(function*() {
      const counter = TokenCounter.make({
        id: "test",
        count: (text) => Effect.succeed(Math.ceil(text.length / 4)),
        messageOverhead: 2,
        overhead: 3
      })
      const { memory, requests } = yield* makeSummarizing(["once", "twice"], {
        maxTokens: 55,
        maxRounds: 1,
        counter,
        summarize: { maxSummaryTokens: 20 }
      })
      const question = "Where does the bus to the harbour stop?"
      yield* memory.recordAll([
        user(question),
        assistant([text(question), toolCall({ id: "c", name: "look", params: {} })]),
        user(question),
        tool([toolResult({ id: "c", name: "look", result: question })]),
        assistant("at the bridge")
      ])
      const context = yield* memory.context
      assert.deepStrictEqual(words(context), ["<once>", question, "at the bridge"])
      assert.strictEqual((yield* memory.usage).rounds, 2)
      assert.deepStrictEqual(yield* memory.context, context)
      assert.strictEqual((yield* requests).length, 1)
    }))
})

describe("SummarizeStrategy vectors", () => {
  it.scoped("1: the oldest rounds become one summary in front of the newest", () =>
    Effect.gen(function*() {
      const { calls, strategy } = yield* asking("Key points from earlier rounds")
      const memory = yield* makeMemory({ maxTokens: 30, strategy })
      yield* memory.recordAll(long(4))
      const context = yield* memory.context
      assert.deepStrictEqual(texts(context), [
        `${prefix}Key points from earlier rounds`,
        "Question from round 4",
        "Answer from round 4"
      ])
      assert.strictEqual(context[0].role, "system")
      assert.strictEqual((yield* memory.usage).tokens, 25)
      assert.strictEqual(calls.length, 1)
      assert.include(calls[0].system, "summary")
      for (const n of [1, 2, 3]) assert.include(calls[0].user, `Question from round ${n}`)
      assert.notInclude(calls[0].user, "round 4")
    }))

  it.scoped("2, differs: the prefix is inside the reservation, so that two rounds stay from budget 37 on", () =>
    Effect.gen(function*() {
      const { memory, requests } = yield* makeSummarizing(["Highlights"], {
        maxTokens: 37,
        summarize: { maxSummaryTokens: 4 }
      })
      yield* memory.recordAll(long(4))
      assert.deepStrictEqual(words(yield* memory.context), ["<Highlights>", ...texts(long(2, 3))])
      assert.strictEqual((yield* memory.usage).tokens, 31)
      yield* memory.context
      assert.strictEqual((yield* requests).length, 1)
    }))

  it.scoped("2, differs: at budget 30 with a cap of 4 one round stays", () =>
    Effect.gen(function*() {
      const { memory, requests } = yield* makeSummarizing(["Highlights"], {
        maxTokens: 30,
        summarize: { maxSummaryTokens: 4 }
      })
      yield* memory.recordAll(long(4))
      assert.deepStrictEqual(words(yield* memory.context), ["<Highlights>", ...texts(long(1, 4))])
      yield* memory.context
      assert.strictEqual((yield* requests).length, 1)
    }))

  it.scoped("3: the next summary takes up the one before, with a cap of 6 at budget 39", () =>
    Effect.gen(function*() {
      const { memory, requests } = yield* makeSummarizing(["first segment highlights", "merged highlights"], {
        maxTokens: 39,
        summarize: { maxSummaryTokens: 6 }
      })
      yield* memory.recordAll(long(4))
      assert.deepStrictEqual(words(yield* memory.context), ["<first segment highlights>", ...texts(long(2, 3))])
      assert.strictEqual((yield* memory.usage).tokens, 35)
      yield* memory.recordAll(long(2, 5))
      assert.strictEqual((yield* memory.usage).tokens, 57)
      assert.deepStrictEqual(words(yield* memory.context), ["<merged highlights>", ...texts(long(2, 5))])
      assert.strictEqual((yield* memory.usage).tokens, 33)
      const [first, second, ...more] = yield* requests
      assert.deepStrictEqual(more, [])
      assert.strictEqual(first.previous, undefined)
      assert.strictEqual(second.previous, "first segment highlights")
      assert.deepStrictEqual(second.messages, long(2, 3))
    }))

  it.scoped("3: a summary over the cap is cut, and the next one still stands for everything", () =>
    Effect.gen(function*() {
      const { memory, requests } = yield* makeSummarizing(["first segment highlights", "merged highlights"], {
        maxTokens: 37,
        summarize: { maxSummaryTokens: 4 }
      })
      yield* memory.recordAll(long(4))
      assert.deepStrictEqual(words(yield* memory.context), ["<first segment high>", ...texts(long(2, 3))])
      yield* memory.recordAll(long(2, 5))
      assert.deepStrictEqual(words(yield* memory.context), ["<merged highlights>", ...texts(long(2, 5))])
      assert.deepStrictEqual((yield* requests).map(({ maxTokens, previous }) => [maxTokens, previous]), [
        [4, undefined],
        [4, "first segment high"]
      ])
    }))

  it.scoped("4, differs: a failed summary is tried again after the first back-off", () =>
    Effect.gen(function*() {
      const { memory, requests } = yield* makeSummarizing([failure, "second attempt succeeded"], { maxTokens: 30 })
      const failed = yield* memory.events.pipe(
        Stream.filter((event) => event._tag === "TrimFailed"),
        Stream.take(1),
        Stream.runCollect,
        Effect.fork
      )
      yield* Effect.yieldNow()
      yield* memory.recordAll(long(4))
      assert.deepStrictEqual(words(yield* memory.context), texts(long(2, 3)))
      assert.deepStrictEqual(
        Chunk.toReadonlyArray(yield* Fiber.join(failed)).map(({ retryAt }) => retryAt),
        [1000]
      )
      yield* TestClock.adjust("999 millis")
      assert.deepStrictEqual(words(yield* memory.context), texts(long(2, 3)))
      assert.strictEqual((yield* requests).length, 1)
      yield* TestClock.adjust("1 millis")
      assert.deepStrictEqual(words(yield* memory.context), ["<second attempt succeeded>", ...texts(long(1, 4))])
      assert.strictEqual((yield* requests).length, 2)
    }))

  it.scoped("5: an empty reply is no summary", () =>
    Effect.gen(function*() {
      const { memory, requests } = yield* makeSummarizing([""], { maxTokens: 30 })
      yield* memory.recordAll(long(4))
      assert.deepStrictEqual(words(yield* memory.context), texts(long(2, 3)))
      assert.strictEqual((yield* requests).length, 1)
    }))

  it.scoped("6: one long round stays as it is, and nobody is asked", () =>
    Effect.gen(function*() {
      const { memory, requests } = yield* makeSummarizing(["never"], { maxTokens: 5 })
      const messages = [user("A question that is far longer than the budget"), assistant("So is the answer to it")]
      yield* memory.recordAll(messages)
      assert.deepStrictEqual(yield* memory.context, messages)
      assert.deepStrictEqual(yield* requests, [])
    }))

  it.scoped("7: nothing stays nothing", () =>
    Effect.gen(function*() {
      const { requests, strategy } = yield* scripted(["never"])
      const result = yield* strategy.trim({
        messages: [],
        counts: [],
        budget: { maxTokens: 10, maxRounds: undefined },
        counter: TokenCounter.characters,
        standIns: [],
        newest: 0
      })
      assert.deepStrictEqual(result.messages, [])
      assert.isFalse(result.replace)
      assert.deepStrictEqual(yield* requests, [])
    }))

  it.scoped("8: the model reads a line for each message, without reasoning", () =>
    Effect.gen(function*() {
      const { calls, strategy } = yield* asking("Sums.")
      const memory = yield* makeMemory({ maxTokens: 20, strategy })
      yield* memory.recordAll([
        user("calculate ".repeat(8)),
        system("setup"),
        assistant([
          reasoning("I think about it"),
          text("A moment."),
          toolCall({ id: "t1", name: "calc", params: { expr: "1+1" } })
        ]),
        tool([toolResult({ id: "t1", name: "calc", result: "2" })]),
        user("thanks")
      ])
      assert.deepStrictEqual(words(yield* memory.context), ["<Sums.>", "thanks"])
      const lines = calls[0].user.split("\n")
      assert.include(lines, "system: setup")
      assert.include(lines, "assistant: A moment.")
      assert.include(lines, `tool_calls: calc {"expr":"1+1"}`)
      assert.include(lines, "tool_result: 2")
      assert.isTrue(lines.some((line) => line.startsWith("user: calculate")))
      assert.notInclude(calls[0].user, "I think")
    }))

  it.scoped("9, differs: a budget without room for any summary asks nobody and drops rounds", () =>
    Effect.gen(function*() {
      const { requests, strategy } = yield* scripted(["never"])
      const messages = rounds(2)
      const result = yield* strategy.trim({
        messages,
        counts: [1, 1, 1, 1],
        budget: { maxTokens: 2, maxRounds: undefined },
        counter: TokenCounter.characters,
        standIns: [],
        newest: 2
      })
      assert.deepStrictEqual(texts(result.messages), ["u2", "a2"])
      assert.isFalse(result.replace)
      assert.deepStrictEqual(yield* requests, [])
    }))

  it.scoped("the example program", () =>
    Effect.gen(function*() {
      const turn = (n: number) => [user(`question for round ${n}`), assistant(`reply for round ${n}`)]
      const { memory, requests } = yield* makeSummarizing(["the first rounds in short", "all rounds in short"], {
        maxTokens: 30
      })
      yield* memory.recordAll([1, 2, 3, 4].flatMap(turn))
      assert.strictEqual((yield* memory.usage).tokens, 40)
      const context = yield* memory.context
      assert.deepStrictEqual(words(context), ["<the first rounds in short>", ...texts(turn(4))])
      assert.strictEqual((yield* memory.usage).tokens, 23)
      assert.deepStrictEqual(yield* memory.context, context)
      assert.strictEqual((yield* requests).length, 1)
      yield* memory.recordAll([5, 6].flatMap(turn))
      assert.strictEqual((yield* memory.usage).tokens, 43)
      assert.deepStrictEqual(words(yield* memory.context), ["<all rounds in short>", ...texts(turn(6))])
      const [, second, ...more] = yield* requests
      assert.deepStrictEqual(more, [])
      assert.strictEqual(second.previous, "the first rounds in short")
    }))
})

describe("SummarizeStrategy derived vectors", () => {
  /** Characters, but a summary has no prefix to pay: the room of the source. */
  const withoutPrefix: TokenCounter.Service = {
    ...TokenCounter.characters,
    countMessage: (message) =>
      provenanceOf(message) === undefined
        ? TokenCounter.characters.countMessage(message)
        : TokenCounter.characters.count(texts([message])[0].slice(prefix.length))
  }
  const messages = [system("setup"), ...rounds(2)]

  it.scoped("a recorded system prompt is summarized where the strategy says so", () =>
    Effect.gen(function*() {
      const { memory, requests } = yield* makeSummarizing(["S"], {
        maxTokens: 4,
        counter: withoutPrefix,
        summarize: { maxSummaryTokens: 1, system: "trim" }
      })
      yield* memory.recordAll(messages)
      assert.deepStrictEqual(words(yield* memory.context), ["<S>", "u2", "a2"])
      assert.deepStrictEqual(texts((yield* requests)[0].messages), ["setup", "u1", "a1"])
    }))

  it.scoped("differs: by default the system prompt stays in front of the summary, and is charged", () =>
    Effect.gen(function*() {
      const { memory, requests } = yield* makeSummarizing(["S"], {
        maxTokens: 5,
        counter: withoutPrefix,
        summarize: { maxSummaryTokens: 1 }
      })
      yield* memory.recordAll(messages)
      assert.deepStrictEqual(words(yield* memory.context), ["setup", "<S>", "u2", "a2"])
      assert.deepStrictEqual(texts((yield* requests)[0].messages), ["u1", "a1"])
    }))

  it.scoped("rounds over the limit are summarized even if their tokens fit", () =>
    Effect.gen(function*() {
      const { memory, requests } = yield* makeSummarizing(["two rounds"], { maxTokens: 1000, maxRounds: 2 })
      yield* memory.recordAll(long(4))
      assert.deepStrictEqual(words(yield* memory.context), ["<two rounds>", ...texts(long(2, 3))])
      assert.deepStrictEqual((yield* requests).map(({ messages }) => messages), [long(2)])
    }))

  it.scoped("differs: a small budget makes the cap small, not the window", () =>
    Effect.gen(function*() {
      const { memory, requests } = yield* makeSummarizing(["fifty-nine rounds in one short line"], { maxTokens: 100 })
      yield* memory.recordAll(rounds(59))
      const context = yield* memory.context
      assert.strictEqual((yield* requests)[0].maxTokens, 91)
      assert.deepStrictEqual(words(context), ["<fifty-nine rounds in one short line>", "u59", "a59"])
    }))
})
