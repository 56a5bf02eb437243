import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { Message, TokenCounter, TrimStrategy } from "effect-memory"
import { makeWindow } from "./summarizing.js"
import { makeMemory, rounds, texts } from "./utilities.js"

const { assistant, system, text, tool, toolCall, toolResult, user } = Message

const placeholder = "[Result cleared to save space. Call the tool again if it is needed.]"

/** A call of two tokens and a result of 25. */
const step = (n: number, name = "f") => [
  assistant([toolCall({ id: `c${n}`, name, params: {} })]),
  tool([toolResult({ id: `c${n}`, name, result: `r${n} `.padEnd(100, ".") })])
]

const steps = (n: number, from = 1) => Array.from({ length: n }, (_, i) => step(from + i)).flat()

/** Each result in a word: `r1`, or `-` for a cleared one. */
const results = (messages: ReadonlyArray<Message.Message>) =>
  messages.flatMap(Message.toolResults).map(({ result }) => result === placeholder ? "-" : String(result).slice(0, 2))

type Options = Parameters<typeof TrimStrategy.clearToolResults>[0]

const cleared = Effect.fnUntraced(function*(
  messages: ReadonlyArray<Message.Message>,
  maxTokens: number,
  options?: Options
) {
  const memory = yield* makeMemory({ maxTokens, strategy: TrimStrategy.clearToolResults(options) })
  yield* memory.recordAll(messages)
  return yield* memory.context
}, Effect.scoped)

describe("clearToolResults", () => {
  it.effect("clears old results inside the newest round, oldest first, and no more than it must", () =>
    Effect.gen(function*() {
      // 1 + 6 × 27 = 163; each cleared result wins 8.
      const messages = [user("u1"), ...steps(6)]
      assert.deepStrictEqual(results(yield* cleared(messages, 163)), ["r1", "r2", "r3", "r4", "r5", "r6"])
      assert.deepStrictEqual(results(yield* cleared(messages, 162)), ["-", "r2", "r3", "r4", "r5", "r6"])
      assert.deepStrictEqual(results(yield* cleared(messages, 155)), ["-", "r2", "r3", "r4", "r5", "r6"])
      assert.deepStrictEqual(results(yield* cleared(messages, 154)), ["-", "-", "r3", "r4", "r5", "r6"])
    }))

  it.effect("leaves the newest three groups with results alone", () =>
    Effect.gen(function*() {
      const messages = [user("u1"), ...steps(5), assistant("done")]
      const context = yield* cleared(messages, 1)
      assert.deepStrictEqual(results(context), ["-", "-", "r3", "r4", "r5"])
      assert.deepStrictEqual(context.slice(5), messages.slice(5))
    }))

  it.effect("keep says how many, at least one", () =>
    Effect.gen(function*() {
      const messages = [user("u1"), ...steps(4)]
      assert.deepStrictEqual(results(yield* cleared(messages, 1, { keep: 2 })), ["-", "-", "r3", "r4"])
      assert.deepStrictEqual(results(yield* cleared(messages, 1, { keep: 1 })), ["-", "-", "-", "r4"])
      assert.deepStrictEqual(results(yield* cleared(messages, 1, { keep: 0 })), ["-", "-", "-", "r4"])
      assert.deepStrictEqual(results(yield* cleared(messages, 1, { keep: 9 })), ["r1", "r2", "r3", "r4"])
    }))

  it.effect("tools by name are excluded", () =>
    Effect.gen(function*() {
      const messages = [user("u1"), ...step(1), ...step(2, "todo"), ...step(3), ...step(4)]
      assert.deepStrictEqual(
        results(yield* cleared(messages, 1, { keep: 1, exclude: ["todo"] })),
        ["-", "r2", "-", "r4"]
      )
    }))

  it.effect("nothing is cleared where less than the minimum would be won", () =>
    Effect.gen(function*() {
      const messages = [user("u1"), ...steps(5)]
      const all = ["r1", "r2", "r3", "r4", "r5"]
      assert.deepStrictEqual(results(yield* cleared(messages, 130, { minimum: 17 })), all)
      assert.deepStrictEqual(results(yield* cleared(messages, 130, { minimum: 16 })), ["-", "-", ...all.slice(2)])
      assert.deepStrictEqual(results(yield* cleared(messages, 130, { minimum: 9 })), ["-", "-", ...all.slice(2)])
      assert.deepStrictEqual(results(yield* cleared(messages, 130, { minimum: 8 })), ["-", ...all.slice(1)])
    }))

  it.effect("nothing is cleared for a limit of rounds, which it could not help", () =>
    Effect.gen(function*() {
      const memory = yield* makeMemory({
        maxRounds: 1,
        strategy: TrimStrategy.clearToolResults({ keep: 1, minimum: 1 })
      })
      const messages = [user("u2"), ...steps(3)]
      yield* memory.recordAll([...rounds(1), ...messages])
      assert.deepStrictEqual(yield* memory.context, messages)
    }).pipe(Effect.scoped))

  it.effect("calls stay as they are; a cleared result keeps id, name and failure, and says what happened to it", () =>
    Effect.gen(function*() {
      const failed = tool([
        toolResult({ id: "c1", name: "f", result: "x".repeat(100), isFailure: true, options: { p: { a: 1 } } })
      ], { q: { b: 2 } })
      const call = assistant([text("A moment."), toolCall({ id: "c1", name: "f", params: { a: 1 } })])
      const context = yield* cleared([user("u1"), call, failed, ...step(2)], 1, { keep: 1 })
      assert.strictEqual(context[1], call)
      assert.deepStrictEqual(
        context[2],
        tool([
          toolResult({
            id: "c1",
            name: "f",
            result: placeholder,
            isFailure: true,
            options: { "p": { a: 1 }, "effect-memory": { cleared: true } }
          })
        ], { q: { b: 2 } })
      )
    }))

  it.effect("all results of parallel calls go, in whatever messages they stand", () =>
    Effect.gen(function*() {
      const result = (id: string) => toolResult({ id, name: "f", result: id.repeat(50) })
      const call = (id: string) => toolCall({ id, name: "f", params: {} })
      const messages = [
        user("u1"),
        assistant([call("r1"), call("r2"), call("r3")]),
        tool([result("r3"), result("r1")]),
        tool([result("r2")]),
        assistant([call("r4"), result("r4")]),
        ...step(5)
      ]
      assert.deepStrictEqual(results(yield* cleared(messages, 1, { keep: 2 })), ["-", "-", "-", "r4", "r5"])
      assert.deepStrictEqual(results(yield* cleared(messages, 1, { keep: 1 })), ["-", "-", "-", "-", "r5"])
    }))

  it.effect("what a provider has run itself is left alone, since it is sent back as it came", () =>
    Effect.gen(function*() {
      const search = assistant([
        toolCall({ id: "s", name: "search", params: {}, providerExecuted: true }),
        toolResult({ id: "s", name: "search", result: "x".repeat(200), providerExecuted: true })
      ])
      const context = yield* cleared([user("u1"), search, ...steps(3)], 1, { keep: 1 })
      assert.strictEqual(context[1], search)
      assert.deepStrictEqual(results(context), ["-", "-", "r3"])
    }))

  it.effect("a group with open calls is left alone", () =>
    Effect.gen(function*() {
      const call = (id: string) => toolCall({ id, name: "f", params: {} })
      const messages = [
        user("u1"),
        assistant([call("c0"), call("open")]),
        tool([toolResult({ id: "c0", name: "f", result: "r0".padEnd(100) })]),
        ...steps(3)
      ]
      const context = yield* cleared(messages, 1, { keep: 1 })
      assert.deepStrictEqual(results(context), ["r0", "-", "-", "r3"])
    }))

  it.effect("what would not become shorter stays", () =>
    Effect.gen(function*() {
      const short = [
        assistant([toolCall({ id: "c0", name: "f", params: {} })]),
        tool([
          toolResult({ id: "c0", name: "f", result: "ok" })
        ])
      ]
      assert.deepStrictEqual(
        results(yield* cleared([user("u1"), ...short, ...steps(2)], 1, { keep: 1 })),
        ["ok", "-", "r2"]
      )
    }))

  it.effect("old rounds are cleared before they are dropped", () =>
    Effect.gen(function*() {
      const messages = [system("s"), ...rounds(1), user("u2"), ...steps(4), ...rounds(1, 3)]
      const context = yield* cleared(messages, 105, { keep: 2 })
      assert.deepStrictEqual(results(context), ["-", "-", "r3", "r4"])
      assert.strictEqual(context.length, messages.length)
      // Where that is not enough, the plain window drops whole rounds.
      assert.deepStrictEqual(texts(yield* cleared(messages, 60, { keep: 2 })), ["s", "u3", "a3"])
    }))

  it.effect("a protected round is never cleared", () =>
    Effect.gen(function*() {
      const memory = yield* makeMemory({ maxTokens: 1, strategy: TrimStrategy.clearToolResults({ keep: 1 }) })
      yield* memory.record(user("u1"))
      yield* memory.recordProtected(step(1)[0])
      yield* memory.recordAll([...step(1).slice(1), ...rounds(1, 2)])
      assert.deepStrictEqual(results(yield* memory.context), ["r1"])
    }).pipe(Effect.scoped))

  it.effect("clearing what was cleared changes nothing", () =>
    Effect.gen(function*() {
      const window = yield* makeWindow(
        100,
        TrimStrategy.clearToolResults({ keep: 2 }),
        TokenCounter.characters
      )
      const once = yield* window.fit([user("u1"), ...steps(5)])
      const twice = yield* window.fit(once)
      assert.deepStrictEqual(results(once), ["-", "-", "-", "r4", "r5"])
      assert.isTrue(twice.every((message, i) => message === once[i]))
      // And what is new is cleared when its time has come.
      assert.deepStrictEqual(results(yield* window.fit([...twice, ...steps(2, 6)])), [
        "-",
        "-",
        "-",
        "-",
        "-",
        "r6",
        "r7"
      ])
    }))

  it.effect("a projection: the log keeps the results, and a higher budget brings them back", () =>
    Effect.gen(function*() {
      const memory = yield* makeMemory({ maxTokens: 100, strategy: TrimStrategy.clearToolResults({ keep: 1 }) })
      const messages = [user("u1"), ...steps(5)]
      yield* memory.recordAll(messages)
      assert.include(results(yield* memory.context), "-")
      yield* memory.setMaxTokens(1000)
      assert.deepStrictEqual(yield* memory.context, messages)
    }).pipe(Effect.scoped))

  it.effect("each message and each cleared form is counted once, however many contexts", () =>
    Effect.gen(function*() {
      const counted = new Map<Message.Message, number>()
      let placeholders = 0
      const counter: TokenCounter.Service = {
        ...TokenCounter.characters,
        countMessage: (message) =>
          Effect.tap(TokenCounter.characters.countMessage(message), () =>
            Effect.sync(() => {
              counted.set(message, (counted.get(message) ?? 0) + 1)
              if (results([message]).includes("-")) placeholders++
            }))
      }
      const memory = yield* makeMemory({
        maxTokens: 100,
        counter,
        strategy: TrimStrategy.clearToolResults({ keep: 1 })
      })
      yield* memory.record(user("u1"))
      for (let n = 1; n <= 12; n++) {
        yield* memory.recordAll(step(n))
        yield* memory.context
        yield* memory.context
      }
      assert.strictEqual(placeholders, 11)
      assert.deepStrictEqual(new Set(counted.values()), new Set([1]))
    }).pipe(Effect.scoped))

  it.effect("options that are no whole numbers are errors that say so", () =>
    Effect.gen(function*() {
      for (const given of [-1, 1.5, NaN, Infinity]) {
        for (const name of ["keep", "minimum"] as const) {
          const strategy = TrimStrategy.clearToolResults({ [name]: given })
          const error = yield* Effect.flip(strategy.trim({
            messages: [],
            counts: [],
            budget: { maxTokens: 1, maxRounds: undefined },
            counter: TokenCounter.characters,
            standIns: [],
            newest: 0
          }))
          assert.include(error.message, `${name} is ${given}`)
        }
      }
    }))
})
