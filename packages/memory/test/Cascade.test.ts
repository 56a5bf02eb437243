import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, TestClock } from "effect"
import { Memory, MemoryError, MemoryStore, Message, Summarizer, TokenCounter, TrimStrategy } from "effect-memory"
import { scripted, words } from "./summarizing.js"
import { contextOf, makeMemory, rounds, texts } from "./utilities.js"

const { assistant, system, tool, toolCall, toolResult, user } = Message

/** Ten tokens a round. */
const turns = (n: number, from = 1) =>
  Array.from({ length: n }, (_, i) => [
    user(`Question number ${100 + from + i}`),
    assistant(`The answer is no ${100 + from + i}`)
  ]).flat()

const step = (id: string, result: string) => [
  assistant([toolCall({ id, name: "f", params: {} })]),
  tool([toolResult({ id, name: "f", result })])
]

/** Leaves out messages by their texts. */
const without = (...gone: ReadonlyArray<string>): TrimStrategy.Service =>
  TrimStrategy.make(({ messages }) =>
    Effect.succeed({ messages: messages.filter((message) => !gone.includes(texts([message])[0])), replace: false })
  )

/** Does nothing, and tells what it saw. */
const spy = (seen: Array<ReadonlyArray<string>>): TrimStrategy.Service =>
  TrimStrategy.make(({ messages }) => {
    seen.push(texts(messages))
    return Effect.succeed({ messages, replace: false })
  })

/** An input with counts, as a memory would give it. */
const inputOf = Effect.fnUntraced(function*(messages: ReadonlyArray<Message.Message>, maxTokens: number) {
  return {
    messages,
    counts: yield* Effect.forEach(messages, TokenCounter.characters.countMessage),
    budget: { maxTokens, maxRounds: undefined },
    counter: TokenCounter.characters,
    standIns: [],
    newest: messages.findLastIndex((message) => message.role === "user")
  } satisfies TrimStrategy.TrimInput
})

const failure = new MemoryError.SummarizeError({ reason: "provider", detail: "no answer" })

describe("cascade", () => {
  it.scoped("each stage sees what the one before has left", () =>
    Effect.gen(function*() {
      const seen: Array<ReadonlyArray<string>> = []
      const strategy = TrimStrategy.cascade(spy(seen), without("u1"), spy(seen), without("a1"), spy(seen))
      const memory = yield* makeMemory({ maxTokens: 3, strategy })
      yield* memory.recordAll(rounds(3))
      assert.deepStrictEqual(texts(yield* memory.context), ["u3", "a3"])
      assert.deepStrictEqual(seen, [
        ["u1", "a1", "u2", "a2", "u3", "a3"],
        ["a1", "u2", "a2", "u3", "a3"],
        ["u2", "a2", "u3", "a3"]
      ])
    }))

  it.scoped("stops as soon as the budget holds", () =>
    Effect.gen(function*() {
      const seen: Array<ReadonlyArray<string>> = []
      const strategy = TrimStrategy.cascade(without("u1"), without("a1"), spy(seen), TrimStrategy.windowDrop())
      const memory = yield* makeMemory({ maxTokens: 4, strategy })
      yield* memory.recordAll(rounds(3))
      assert.deepStrictEqual(texts(yield* memory.context), ["u2", "a2", "u3", "a3"])
      assert.deepStrictEqual(seen, [])
    }))

  it.scoped("a limit of rounds is a budget too", () =>
    Effect.gen(function*() {
      const seen: Array<ReadonlyArray<string>> = []
      const strategy = TrimStrategy.cascade(without("u1", "a1"), spy(seen), TrimStrategy.windowDrop(), spy(seen))
      const memory = yield* makeMemory({ maxRounds: 1, strategy })
      yield* memory.recordAll(rounds(3))
      assert.deepStrictEqual(texts(yield* memory.context), ["u3", "a3"])
      assert.deepStrictEqual(seen, [["u2", "a2", "u3", "a3"]])
    }))

  it.scoped("first what is cheap: clear, shorten, drop", () =>
    Effect.gen(function*() {
      const memory = yield* makeMemory({
        strategy: TrimStrategy.cascade(
          TrimStrategy.clearToolResults({ keep: 1 }),
          TrimStrategy.shortenParts({ maxTokens: 20 }),
          TrimStrategy.windowDrop()
        )
      })
      yield* memory.recordAll([
        user("u1"),
        ...step("c1", "x".repeat(200)),
        ...step("c2", "y".repeat(200)),
        user("u2"),
        assistant("z".repeat(200))
      ])
      const kinds = Effect.fnUntraced(function*(maxTokens: number) {
        yield* memory.setMaxTokens(maxTokens)
        return texts(yield* memory.context).map((text) =>
          text.startsWith("[Result") ? "cleared" : text.includes("left out") ? "shortened" : text.slice(0, 4)
        )
      })
      assert.deepStrictEqual(yield* kinds(156), ["u1", "tool", "xxxx", "tool", "yyyy", "u2", "zzzz"])
      assert.deepStrictEqual(yield* kinds(155), ["u1", "tool", "cleared", "tool", "yyyy", "u2", "zzzz"])
      assert.deepStrictEqual(yield* kinds(122), ["u1", "tool", "cleared", "tool", "shortened", "u2", "zzzz"])
      assert.deepStrictEqual(yield* kinds(92), ["u1", "tool", "cleared", "tool", "shortened", "u2", "shortened"])
      assert.deepStrictEqual(yield* kinds(50), ["u2", "shortened"])
      assert.strictEqual((yield* kinds(1000)).length, 7)
    }))

  it.effect("tells which stage did what to which message", () =>
    Effect.gen(function*() {
      const { strategy } = yield* scripted(["Looked at both"], { maxSummaryTokens: 4 })
      const cascade = TrimStrategy.cascade(
        TrimStrategy.clearToolResults({ keep: 1 }),
        TrimStrategy.shortenParts({ maxTokens: 10 }),
        strategy
      )
      const messages = [
        user("u1"),
        ...step("c1", "x".repeat(200)),
        user("y".repeat(200)),
        ...step("c2", "z".repeat(200)),
        ...rounds(1, 3)
      ]
      const input = yield* inputOf(messages, 30)
      const result = yield* cascade.trim(input)
      assert.isTrue(result.replace)
      assert.deepStrictEqual(result.actions, [
        { index: 2, strategy: "clearToolResults", action: "cleared" },
        { index: 3, strategy: "shortenParts", action: "shortened" },
        { index: 5, strategy: "shortenParts", action: "shortened" },
        ...[0, 1, 2, 3, 4, 5].map((index) => ({ index, strategy: "summarize", action: "summarized" as const }))
      ])
      assert.deepStrictEqual(result.covers, [0, 1, 2, 3, 4, 5])
      assert.deepStrictEqual(result.origin, [-1, 6, 7])
    }).pipe(Effect.scoped))

  it.scoped("a growing newest round stays within the budget, also after a compaction that only clearing makes fit", () =>
    Effect.gen(function*() {
      const { requests, strategy } = yield* scripted(Array.from({ length: 60 }, (_, i) => `s${i}`), {
        maxSummaryTokens: 4
      })
      const memory = yield* makeMemory({
        maxTokens: 150,
        strategy: TrimStrategy.cascade(
          TrimStrategy.clearToolResults({ keep: 1 }),
          strategy
        )
      })
      yield* memory.recordAll([...rounds(2), user("go on")])
      for (let i = 0; i < 30; i++) {
        yield* memory.recordAll(step(`c${i}`, "x".repeat(200)))
        const context = yield* memory.context
        const counts = yield* Effect.forEach(context, TokenCounter.characters.countMessage)
        assert.isAtMost(counts.reduce((sum, n) => sum + n, 0), 150, `step ${i}`)
        const asked = (yield* requests).length
        yield* memory.context
        assert.strictEqual((yield* requests).length, asked, "an unchanged conversation is summarized once")
      }
    }))

  it.scoped("what a stage has only left out is not materialized by a later one", () =>
    Effect.gen(function*() {
      const [q1, a1] = texts(turns(1))
      const { requests, strategy } = yield* scripted(["The second"], { maxSummaryTokens: 4 })
      const memory = yield* makeMemory({ maxTokens: 31, strategy: TrimStrategy.cascade(without(q1, a1), strategy) })
      yield* memory.recordAll(turns(5))
      assert.deepStrictEqual(words(yield* memory.context), ["<The second>", ...texts(turns(2, 4))])
      assert.deepStrictEqual((yield* requests).map(({ messages }) => messages), [turns(2, 2)])
      yield* memory.setMaxTokens(1000)
      assert.deepStrictEqual(words(yield* memory.context), [q1, a1, "<The second>", ...texts(turns(2, 4))])
    }))

  it.scoped("what a stage has made is left out by no later one, and merged by the next compaction", () =>
    Effect.gen(function*() {
      const { requests, strategy } = yield* scripted(["one", "two"], { maxSummaryTokens: 4 })
      const memory = yield* makeMemory({
        maxTokens: 30,
        strategy: TrimStrategy.cascade(strategy, TrimStrategy.windowDrop(), TrimStrategy.truncate())
      })
      yield* memory.recordAll([...turns(3), user("x".repeat(200))])
      assert.deepStrictEqual(words(yield* memory.context), ["x".repeat(200)])
      yield* memory.setMaxTokens(70)
      assert.deepStrictEqual(words(yield* memory.context), ["<one>", "x".repeat(200)])
      yield* memory.recordAll(turns(2, 5))
      assert.deepStrictEqual(words(yield* memory.context), ["<two>", ...texts(turns(2, 5))])
      assert.deepStrictEqual((yield* requests).map(({ previous }) => previous), [undefined, "one"])
    }))

  it.scoped("a stage that fails makes the cascade fail: what only projects is done meanwhile, and no model is asked", () =>
    Effect.gen(function*() {
      const { requests, strategy } = yield* scripted([failure, "at last"], { maxSummaryTokens: 4 })
      const memory = yield* makeMemory({
        maxTokens: 36,
        strategy: TrimStrategy.cascade(TrimStrategy.clearToolResults({ keep: 1 }), strategy)
      })
      const looks = [user("Look"), ...step("c1", "x".repeat(100)), ...step("c2", "y".repeat(20))]
      yield* memory.recordAll([...turns(1), ...looks])
      for (let i = 0; i < 3; i++) {
        const context = texts(yield* memory.context)
        assert.deepStrictEqual(context[0], "Look")
        assert.include(context[2], "cleared")
        yield* memory.record(assistant(`step ${i}`))
      }
      assert.strictEqual((yield* requests).length, 1)
      yield* TestClock.adjust("1 seconds")
      assert.deepStrictEqual(words(yield* memory.context)[0], "<at last>")
      assert.strictEqual((yield* requests).length, 2)
    }))

  it.effect("a stage whose answer makes no sense is an error that says so", () =>
    Effect.gen(function*() {
      const wrong: ReadonlyArray<Partial<TrimStrategy.TrimResult>> = [
        { origin: [0] },
        { origin: [9, 9] },
        { covers: [-1] }
      ]
      for (const part of wrong) {
        const bad = TrimStrategy.make(({ messages }) =>
          Effect.succeed({ messages: messages.slice(0, 2), replace: true, ...part })
        )
        const input = yield* inputOf(rounds(3), 1)
        const error = yield* Effect.flip(TrimStrategy.cascade(spy([]), bad).trim(input))
        assert.match(error.reason, /origin|covers/)
      }
    }))

  it.scoped("cascades nest, and one without stages leaves everything to the plain window", () =>
    Effect.gen(function*() {
      const nested = TrimStrategy.cascade(TrimStrategy.cascade(without("u1"), without("a1")), without("u2", "a2"))
      const memory = yield* makeMemory({ maxTokens: 2, strategy: nested })
      yield* memory.recordAll(rounds(3))
      assert.deepStrictEqual(texts(yield* memory.context), ["u3", "a3"])
      const empty = yield* makeMemory({ maxTokens: 5, strategy: TrimStrategy.cascade() })
      yield* empty.recordAll(rounds(3))
      assert.deepStrictEqual(texts(yield* empty.context), ["u2", "a2", "u3", "a3"])
    }))

  it.scoped("system prompts go where all stages say so", () =>
    Effect.gen(function*() {
      const messages = [system("setup"), ...rounds(2)]
      const trim = TrimStrategy.cascade(
        TrimStrategy.windowDrop({ system: "trim" }),
        TrimStrategy.windowDrop({ system: "trim" })
      )
      const memory = yield* makeMemory({ maxTokens: 4, strategy: trim })
      yield* memory.recordAll(messages)
      assert.deepStrictEqual(texts(yield* memory.context), ["u1", "a1", "u2", "a2"])
      const keep = TrimStrategy.cascade(TrimStrategy.windowDrop({ system: "trim" }), TrimStrategy.windowDrop())
      const keeping = yield* makeMemory({ maxTokens: 4, strategy: keep })
      yield* keeping.recordAll(messages)
      assert.deepStrictEqual(texts(yield* keeping.context), ["setup", "u2", "a2"])
    }))

  it.scoped("system messages are free where only truncate has a say, and charged where a stage charges them", () =>
    Effect.gen(function*() {
      const messages = [
        system("s".repeat(40)),
        user("q"),
        ...step("c1", "x".repeat(100)),
        ...step("c2", "y".repeat(100))
      ]
      const fitted = Effect.fnUntraced(function*(maxTokens: number, ...stages: ReadonlyArray<TrimStrategy.Service>) {
        const memory = yield* makeMemory({ maxTokens, strategy: TrimStrategy.cascade(...stages) })
        yield* memory.recordAll(messages)
        return (yield* memory.context).length
      })
      const [clear, shorten] = [
        TrimStrategy.clearToolResults({ keep: 9 }),
        TrimStrategy.shortenParts({ maxTokens: 99 })
      ]
      assert.strictEqual(yield* fitted(55, clear, shorten, TrimStrategy.truncate()), 6)
      assert.strictEqual(yield* fitted(54, clear, shorten, TrimStrategy.truncate()), 4)
      assert.strictEqual(yield* fitted(65, TrimStrategy.windowDrop(), TrimStrategy.truncate()), 6)
      assert.strictEqual(yield* fitted(64, TrimStrategy.windowDrop(), TrimStrategy.truncate()), 4)
    }))

  it.effect("a plan asks nobody and says what every stage would do", () =>
    Effect.gen(function*() {
      const { requests, strategy } = yield* scripted(["never"], { maxSummaryTokens: 4 })
      const cascade = TrimStrategy.cascade(TrimStrategy.clearToolResults({ keep: 1 }), strategy)
      const messages = [user("u1"), ...step("c1", "x".repeat(100)), ...step("c2", "y".repeat(60)), ...turns(1)]
      const plan = yield* (cascade.plan ?? cascade.trim)(yield* inputOf(messages, 30))
      assert.deepStrictEqual(plan.actions?.map(({ action, index }) => [action, index]), [
        ["cleared", 2],
        ...[0, 1, 2, 3, 4].map((index) => ["summarized", index])
      ])
      assert.deepStrictEqual(yield* requests, [])
      assert.isUndefined(TrimStrategy.cascade(spy([]), strategy).plan)
    }).pipe(Effect.scoped))

  it.scoped("everything new is counted once", () =>
    Effect.gen(function*() {
      const counted = new Map<string, number>()
      const counter = TokenCounter.make({
        id: "watching",
        count: (text) =>
          Effect.sync(() => counted.set(text, (counted.get(text) ?? 0) + 1)).pipe(
            Effect.zipRight(TokenCounter.characters.count(text))
          )
      })
      const { strategy } = yield* scripted(["first", "second", "third"], { maxSummaryTokens: 4 })
      const memory = yield* makeMemory({
        maxTokens: 60,
        counter,
        strategy: TrimStrategy.cascade(TrimStrategy.clearToolResults({ keep: 1 }), strategy, TrimStrategy.windowDrop())
      })
      for (let n = 0; n < 12; n++) {
        yield* memory.recordAll([user(`Question ${n}`), ...step(`c${n}`, `${n} `.repeat(50)), assistant(`Answer ${n}`)])
        yield* memory.context
        yield* memory.context
      }
      const twice = Array.from(counted).filter(([text, times]) =>
        times > 1 && !["f", "{}"].includes(text) && !text.startsWith("[Result")
      )
      assert.deepStrictEqual(twice, [])
    }))

  it.effect("stages come by layer, values and effects mixed", () =>
    Effect.gen(function*() {
      const context = yield* contextOf([...turns(4)])
      assert.deepStrictEqual(context.slice(1), texts(turns(1, 4)))
    }).pipe(Effect.provide(
      Memory.layer({ maxTokens: 30 }).pipe(
        Layer.provide(
          TrimStrategy.layerCascade(
            TrimStrategy.clearToolResults(),
            TrimStrategy.summarize({ maxSummaryTokens: 8 }),
            TrimStrategy.windowDrop()
          )
        ),
        Layer.provide([TokenCounter.layerCharacters, MemoryStore.layerMemory, Summarizer.layerTest(["Three rounds"])])
      )
    )))
})
