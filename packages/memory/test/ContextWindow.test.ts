import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Layer, TestClock } from "effect"
import { ContextWindow, MemoryError, Message, Summarizer, TokenCounter, Transcript, TrimStrategy } from "effect-memory"
import { bytes, makeWindow, provenanceOf, type Reply, scripted, words } from "./summarizing.js"
import { texts } from "./utilities.js"

const { assistant, file, system, tool, toolCall, toolResult, user } = Message

/** What is left of messages in a window, in words. */
const fit = (messages: ReadonlyArray<Message.Message>, maxTokens: number, strategy?: TrimStrategy.Service) =>
  Effect.flatMap(makeWindow(maxTokens, strategy), (window) => Effect.map(window.fit(messages), words))

/** The same with a summarizer, and what it was asked. */
const fitSummarizing = Effect.fnUntraced(function*(
  messages: ReadonlyArray<Message.Message>,
  maxTokens: number,
  replies: ReadonlyArray<Reply>,
  options?: TrimStrategy.SummarizeOptions
) {
  const { requests, strategy } = yield* scripted(replies, options)
  const window = yield* makeWindow(maxTokens, strategy)
  const fitted = yield* window.fit(messages)
  return { fitted, requests: yield* requests, tokens: yield* tokensOf(fitted) }
})

const tokensOf = (messages: ReadonlyArray<Message.Message>, counter = bytes) =>
  Effect.reduce(
    messages,
    counter.overhead,
    (sum, message) => Effect.map(counter.countMessage(message), (tokens) => sum + tokens)
  )

const questions = (n: number) => Array.from({ length: n }, (_, i) => [user(`Q${i + 1}`), assistant(`A${i + 1}`)]).flat()

describe("ContextWindow vectors", () => {
  it.effect("1: it tells its size", () =>
    Effect.gen(function*() {
      assert.strictEqual((yield* ContextWindow.ContextWindow).maxTokens, 4096)
    }).pipe(Effect.provide(ContextWindow.layerTruncate({ maxTokens: 4096 }))))

  it.effect("2: with any counter and strategy too", () =>
    Effect.gen(function*() {
      assert.strictEqual((yield* makeWindow(8192)).maxTokens, 8192)
    }))

  it.effect("3: what fits comes back as it is", () =>
    Effect.gen(function*() {
      const messages = [user("Hello"), assistant("Hi there")]
      const window = yield* makeWindow(1000)
      assert.deepStrictEqual(yield* window.fit(messages), messages)
    }))

  it.effect("4: nothing stays nothing", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual(yield* fit([], 100), [])
      assert.deepStrictEqual(yield* fit([], 0), [])
    }))

  it.effect("5: system messages are free when groups are dropped", () =>
    Effect.gen(function*() {
      const messages = [system("You are"), user("Q1?"), assistant("A1!"), user("Q2?"), assistant("A2!")]
      assert.deepStrictEqual(yield* fit(messages, 30), texts(messages))
      assert.deepStrictEqual(yield* fit(messages, 29), ["You are", "A1!", "Q2?", "A2!"])
    }))

  it.effect("6: the oldest go first", () =>
    Effect.gen(function*() {
      const messages = [
        system("Sys"),
        user("Old question here"),
        assistant("Old answer here"),
        user("New"),
        assistant("Ans")
      ]
      assert.deepStrictEqual(yield* fit(messages, 25), ["Sys", "New", "Ans"])
    }))

  it.effect("7: a system message alone stays", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual(yield* fit([system("Hello")], 20), ["Hello"])
    }))

  it.effect("8: however long it is", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual(yield* fit([system("A long system message")], 5), ["A long system message"])
    }))

  it.scoped("9, differs: a summary takes the place of the oldest rounds, within the budget, so that A3 goes", () =>
    Effect.gen(function*() {
      const { fitted, requests, tokens } = yield* fitSummarizing([system("S"), ...questions(4)], 50, ["S."])
      // One token is left for the text of the summary.
      assert.deepStrictEqual(words(fitted), ["S", "<S>", "Q4", "A4"])
      assert.strictEqual(tokens, 50)
      assert.strictEqual(requests.length, 1)
    }))

  it.scoped("10: there is exactly one summary, and the newest messages are there", () =>
    Effect.gen(function*() {
      const { fitted } = yield* fitSummarizing([system("S"), ...questions(4)], 51, ["S."])
      assert.deepStrictEqual(words(fitted), ["S", "<S.>", "Q4", "A4"])
    }))

  it.scoped("11: with the caller's own prompt", () =>
    Effect.gen(function*() {
      const { fitted, requests } = yield* fitSummarizing([system("S"), ...questions(4)], 50, ["O."], {
        prompt: "Please compress"
      })
      assert.deepStrictEqual(words(fitted), ["S", "<O>", "Q4", "A4"])
      assert.strictEqual(requests[0].prompt, "Please compress")
    }))

  it.scoped("12: a system message alone is not summarized", () =>
    Effect.gen(function*() {
      const { fitted, requests } = yield* fitSummarizing([system("S")], 50, ["never"])
      assert.deepStrictEqual(words(fitted), ["S"])
      assert.deepStrictEqual(requests, [])
      assert.deepStrictEqual((yield* fitSummarizing([system("S")], 1, ["never"])).requests, [])
    }))

  it.effect("13: two short messages in a large window", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual(yield* fit([user("a"), assistant("b")], 100, TrimStrategy.truncate()), ["a", "b"])
    }))

  it.effect("14 and 15: whatever the prompt, the conversation is sent", () =>
    Effect.gen(function*() {
      for (const prompt of [undefined, "no placeholder at all", "{conversation}"]) {
        const calls: Array<Summarizer.Call> = []
        const strategy = yield* Effect.provideService(
          TrimStrategy.summarize({ prompt }),
          Summarizer.Summarizer,
          Summarizer.make((call) => Effect.sync(() => ({ text: "s", n: calls.push(call) })))
        )
        yield* fit([system("S"), ...questions(4)], 50, strategy)
        assert.include(calls[0].user, "user: Q3\nassistant: A3")
        if (prompt !== undefined) assert.strictEqual(calls[0].system, prompt)
      }
    }))

  it.effect("16: three short messages by the default counter", () =>
    Effect.gen(function*() {
      const window = yield* ContextWindow.ContextWindow
      assert.strictEqual((yield* window.fit([system("Be brief."), user("Hi"), assistant("Hello")])).length, 3)
    }).pipe(Effect.provide(ContextWindow.layerTruncate({ maxTokens: 4096 }))))

  it.effect("17: the system message stays first", () =>
    Effect.gen(function*() {
      const messages = [system("Sys"), user("Old"), assistant("OldA"), user("New"), assistant("NewA")]
      assert.strictEqual(yield* tokensOf(messages), 39)
      assert.deepStrictEqual(yield* fit(messages, 40), texts(messages))
    }))

  it.effect("18: a long system prompt does not drive the question out", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual(yield* fit([system("LongSystemPrompt"), user("Q")], 10), ["LongSystemPrompt", "Q"])
    }))

  it.effect("19: the newest message is there, whatever the budget", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual(yield* fit([system("S"), user("q1"), assistant("a1"), user("q2")], 2), ["S", "q2"])
    }))

  it.scoped("20, differs: the user message of the newest round stays as well, since an answer alone means nothing", () =>
    Effect.gen(function*() {
      const { fitted, requests } = yield* fitSummarizing([system("S"), user("q1"), assistant("a1")], 2, ["never"])
      assert.deepStrictEqual(words(fitted), ["S", "q1", "a1"])
      assert.deepStrictEqual(requests, [])
    }))

  it.scoped("21, differs: where no summary has room nobody is asked, and whole rounds go, system messages charged", () =>
    Effect.gen(function*() {
      const { fitted, requests, tokens } = yield* fitSummarizing([system("S"), ...questions(2)], 20, ["x".repeat(500)])
      assert.deepStrictEqual(words(fitted), ["S", "Q2", "A2"])
      assert.strictEqual(tokens, 19)
      assert.deepStrictEqual(requests, [])
    }))
})

describe("ContextWindow", () => {
  const call = (id: string, name = "f") => assistant([toolCall({ id, name, params: {} })])
  const result = (id: string, text: string) => tool([toolResult({ id, name: "f", result: text })])

  it.effect("a large result as the newest message empties nothing", () =>
    Effect.gen(function*() {
      const messages = [user("hello"), call("c"), result("c", "a long tool result")]
      assert.deepStrictEqual(yield* fit(messages, 7), texts(messages))
      assert.deepStrictEqual(yield* fit([system("S"), ...messages], 7), ["S", ...texts(messages)])
      const parallel = [
        user("H"),
        assistant([toolCall({ id: "1", name: "f", params: {} }), toolCall({ id: "2", name: "f", params: {} })]),
        result("1", "r1"),
        result("2", "r2")
      ]
      assert.deepStrictEqual(yield* fit(parallel, 12), texts(parallel))
    }))

  it.effect("the newest message is charged: beside a large one there is no room for older ones", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual(yield* fit([user("aa"), assistant("b"), user("X".repeat(50))], 10), ["X".repeat(50)])
    }))

  it.effect("the overhead of the conversation is charged", () =>
    Effect.gen(function*() {
      const messages = [user("1"), assistant("2"), user("3")]
      assert.deepStrictEqual(yield* fit(messages, 11), ["3"])
      assert.deepStrictEqual(yield* fit(messages, 12), ["2", "3"])
      assert.deepStrictEqual(yield* fit(messages, 17), ["1", "2", "3"])
    }))

  it.effect("any counter will do: one token a message, none beside it", () =>
    Effect.gen(function*() {
      const each: TokenCounter.Service = {
        id: "each",
        overhead: 0,
        count: () => Effect.succeed(1),
        countMessage: () => Effect.succeed(1)
      }
      const window = yield* makeWindow(3, TrimStrategy.truncate(), each)
      assert.deepStrictEqual(words(yield* window.fit(questions(5))), ["A4", "Q5", "A5"])
    }))

  it.effect("system messages stay where they stand, over the budget or not", () =>
    Effect.gen(function*() {
      const messages = [user("q1"), system("mid"), assistant("a1"), user("q2")]
      assert.deepStrictEqual(yield* fit(messages, 100), ["q1", "mid", "a1", "q2"])
      assert.deepStrictEqual(yield* fit(messages, 14), ["mid", "a1", "q2"])
    }))

  it.effect("calls and results stay together, and go together", () =>
    Effect.gen(function*() {
      const messages = [
        user("q1"),
        call("a"),
        result("a", "r".repeat(20)),
        call("b"),
        result("b", "s"),
        user("q2"),
        assistant("a2")
      ]
      for (let maxTokens = 0; maxTokens <= 80; maxTokens++) {
        const window = yield* makeWindow(maxTokens)
        const fitted = yield* window.fit(messages)
        assert.deepStrictEqual(Transcript.diagnose(fitted, "pairing"), [])
        assert.deepStrictEqual(texts(fitted.slice(-2)), ["q2", "a2"])
        if (maxTokens >= 14) assert.isAtMost(yield* tokensOf(fitted), maxTokens)
      }
    }))

  it.effect("old groups of the newest round go too, its user message and its newest group stay", () =>
    Effect.gen(function*() {
      const messages = [user("q"), call("a"), result("a", "r".repeat(30)), call("b"), result("b", "s".repeat(30))]
      assert.deepStrictEqual(yield* fit(messages, 60), ["q", "tool-call", "s".repeat(30)])
      assert.deepStrictEqual(yield* fit(messages, 1), ["q", "tool-call", "s".repeat(30)])
    }))

  it.effect("calls, names and files are charged", () =>
    Effect.gen(function*() {
      const picture = file({ mediaType: "image/png", data: "iVBORw0KGgo=" })
      assert.deepStrictEqual(yield* fit([user([picture]), assistant("a"), user("q")], 1000), ["a", "q"])
      const calls = [user("q1"), call("a", "n".repeat(50)), result("a", "r"), user("q2")]
      assert.deepStrictEqual(yield* fit(calls, 40), ["q2"])
    }))

  it.effect("what cannot be sent is repaired, also within the budget", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual(yield* fit([result("x", "orphan"), user("q")], 100), ["q"])
    }))

  it.effect("the list that comes back is the caller's own", () =>
    Effect.gen(function*() {
      const messages = questions(3)
      const window = yield* makeWindow(100)
      const fitted = yield* window.fit(messages)
      fitted.push(user("more"))
      assert.deepStrictEqual(yield* window.fit(messages), messages)
    }))

  it.effect("each message is counted once, whatever comes after", () =>
    Effect.gen(function*() {
      const counted: Array<Message.Message> = []
      const counter: TokenCounter.Service = {
        ...bytes,
        countMessage: (message) =>
          Effect.tap(bytes.countMessage(message), () => Effect.sync(() => counted.push(message)))
      }
      const window = yield* makeWindow(60, TrimStrategy.truncate(), counter)
      const messages = questions(50)
      for (let n = 1; n <= messages.length; n++) yield* window.fit(messages.slice(0, n))
      assert.deepStrictEqual(counted, messages)
    }))

  it.effect("a counter may have to wait for its answer", () =>
    Effect.gen(function*() {
      const remote: TokenCounter.Service = {
        ...bytes,
        countMessage: (message) => Effect.delay(bytes.countMessage(message), "1 seconds")
      }
      const window = yield* makeWindow(20, TrimStrategy.truncate(), remote)
      const fitted = yield* Effect.fork(window.fit(questions(3)))
      yield* TestClock.adjust("1 minutes")
      assert.deepStrictEqual(words(yield* Fiber.join(fitted)), ["A2", "Q3", "A3"])
    }))

  it.effect("a strategy that never answers is given up", () =>
    Effect.gen(function*() {
      const window = yield* makeWindow(20, TrimStrategy.make(() => Effect.never))
      const fitted = yield* Effect.fork(window.fit(questions(3)))
      yield* TestClock.adjust("119 seconds")
      assert.isNull(fitted.unsafePoll())
      yield* TestClock.adjust("1 second")
      assert.deepStrictEqual(words(yield* Fiber.join(fitted)).at(-1), "A3")
    }))

  it.effect("errors say what is at fault", () =>
    Effect.gen(function*() {
      assert.strictEqual((yield* Effect.flip(makeWindow(-1)))._tag, "InvalidBudget")
      const down = new MemoryError.TokenCountError({ counter: "down", reason: "no answer" })
      const counter = TokenCounter.make({ id: "down", count: () => Effect.fail(down) })
      const window = yield* makeWindow(10, TrimStrategy.truncate(), counter)
      assert.strictEqual((yield* Effect.flip(window.fit([user("q")]))).message, down.message)
      // @ts-expect-error no such role
      const error = yield* Effect.flip((yield* makeWindow(10)).fit([{ role: "bot", content: [], options: {} }]))
      assert.strictEqual(error._tag, "InvalidMessage")
      // @ts-expect-error null is no part
      const second = yield* Effect.flip((yield* makeWindow(10)).fit([user("q"), { ...user("q"), content: [null] }]))
      assert.strictEqual(second._tag === "InvalidMessage" && second.field, "messages.1.content.0")
    }))

  it.effect("counter and strategy come by layer", () =>
    Effect.gen(function*() {
      const window = yield* ContextWindow.ContextWindow
      assert.deepStrictEqual(words(yield* window.fit(questions(3))), ["Q3", "A3"])
    }).pipe(Effect.provide(
      ContextWindow.layer({ maxTokens: 20 }).pipe(
        Layer.provide([Layer.succeed(TokenCounter.TokenCounter, bytes), TrimStrategy.layerWindowDrop])
      )
    )))
})

describe("ContextWindow with summaries", () => {
  const long = (n: number, from = 1) =>
    Array.from({ length: n }, (_, i) => [user(`Question ${from + i}`), assistant(`Answer ${from + i}`)]).flat()

  it.scoped("a summary that is fed back is merged into the next: there is never more than one", () =>
    Effect.gen(function*() {
      const { requests, strategy } = yield* scripted(["first", "second", "third"], { maxSummaryTokens: 8 })
      const window = yield* makeWindow(100, strategy)
      let messages: ReadonlyArray<Message.Message> = [system("S")]
      for (const [i, summary] of ["first", "second", "third"].entries()) {
        messages = yield* window.fit([...messages, ...long(4, 1 + 4 * i)])
        assert.strictEqual(words(messages)[1], `<${summary}>`)
        assert.strictEqual(messages.filter((message) => provenanceOf(message) !== undefined).length, 1)
        assert.isAtMost(yield* tokensOf(messages), 100)
      }
      assert.deepStrictEqual((yield* requests).map(({ previous }) => previous), [undefined, "first", "second"])
      const asked = (yield* requests).flatMap(({ messages }) => texts(messages))
      assert.deepStrictEqual(asked, texts(long(12)).slice(0, asked.length))
    }))

  it.scoped("the budget holds, however long the reply", () =>
    Effect.gen(function*() {
      const { fitted, tokens } = yield* fitSummarizing([system("S"), ...long(4)], 100, ["x".repeat(500)])
      assert.strictEqual(tokens, 100)
      assert.deepStrictEqual(words(fitted).slice(2), texts(long(1, 4)))
    }))

  it.scoped("no window opens with a result whose call was summarized", () =>
    Effect.gen(function*() {
      const messages = [
        user("x".repeat(20)),
        assistant([toolCall({ id: "c", name: "f", params: {} })]),
        tool([toolResult({ id: "c", name: "f", result: "res" })]),
        user("q2")
      ]
      const { fitted } = yield* fitSummarizing(messages, 44, ["s"])
      assert.deepStrictEqual(words(fitted), ["<s>", "q2"])
    }))

  it.scoped("a summary of nothing but blanks is none", () =>
    Effect.gen(function*() {
      const { fitted } = yield* fitSummarizing([system("S"), ...questions(4)], 51, [" \n "])
      assert.isFalse(fitted.some((message) => provenanceOf(message) !== undefined))
    }))

  it.scoped("a failure drops groups instead, within the budget and with the summary so far", () =>
    Effect.gen(function*() {
      const failure = new MemoryError.SummarizeError({ reason: "provider", detail: "no answer" })
      for (const reply of [Effect.fail(failure), Effect.die("bug"), "", "   "]) {
        const { requests, strategy } = yield* scripted(["first", reply], { maxSummaryTokens: 8 })
        const window = yield* makeWindow(100, strategy)
        const fitted = yield* window.fit([system("System prompt"), ...long(4)])
        const next = yield* window.fit([...fitted, system("A later note"), ...long(3, 5)])
        assert.strictEqual((yield* requests).length, 2)
        assert.deepStrictEqual(words(next), ["System prompt", "<first>", "Answer 6", "Question 7", "Answer 7"])
        assert.isAtMost(yield* tokensOf(next), 100)
      }
    }))

  it.scoped("a failure drops old groups of the newest round as well", () =>
    Effect.gen(function*() {
      const step = (id: string) => [
        assistant([toolCall({ id, name: "f", params: {} })]),
        tool([toolResult({ id, name: "f", result: id.repeat(20) })])
      ]
      const messages = [user("q"), ...step("a"), ...step("b"), ...step("c")]
      const { fitted, requests, tokens } = yield* fitSummarizing(messages, 90, [""])
      assert.strictEqual(requests.length, 1)
      assert.deepStrictEqual(words(fitted), ["q", "tool-call", "b".repeat(20), "tool-call", "c".repeat(20)])
      assert.isAtMost(tokens, 90)
    }))
})
