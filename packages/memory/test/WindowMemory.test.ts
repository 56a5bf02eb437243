import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Stream } from "effect"
import {
  Budget,
  Memory,
  MemoryError,
  MemoryStore,
  Message,
  TokenCounter,
  Transcript,
  TrimStrategy
} from "effect-memory"
import { contextOf, makeMemory, memoryLayer, rounds, texts } from "./utilities.js"

const { assistant, system, text, tool, toolCall, toolResult, user } = Message

const window = (maxTokens: number, maxRounds?: number) => Memory.layerWindow({ maxTokens, maxRounds })

/** The source's rule: a recorded system prompt goes like any other message. */
const trimmingSystem = (options: Memory.Options) =>
  memoryLayer({ ...options, strategy: TrimStrategy.windowDrop({ system: "trim" }) })

/** A context within a budget, from a memory of its own. */
const fitted = (messages: ReadonlyArray<Message.Message>, memory: Layer.Layer<Memory.Memory, unknown>) =>
  Effect.provide(contextOf(messages), memory)

const calculation = [
  user("calculate"),
  assistant([
    toolCall({ id: "t1", name: "calc", params: "1+1" }),
    toolCall({ id: "t2", name: "calc", params: "2+2" })
  ]),
  tool([toolResult({ id: "t1", name: "calc", result: "2" })]),
  tool([toolResult({ id: "t2", name: "calc", result: "4" })]),
  user("continue"),
  assistant("okay")
]

const loadSkill = assistant([text("a2"), toolCall({ id: "c1", name: "load_skill", params: { name: "x" } })])

const skill = (body: string) => tool([toolResult({ id: "c1", name: "load_skill", result: body })])

/** Vector 19: the skill that the second round loads is protected. */
const recordSkill = Effect.gen(function*() {
  const memory = yield* Memory.Memory
  yield* memory.recordAll([...rounds(1), user("u2"), loadSkill])
  yield* memory.recordProtected(skill("<skill_content>body</skill_content>"))
  yield* memory.recordAll(rounds(1, 3))
  return memory
})

describe("WindowMemory vectors", () => {
  it.effect("1: everything fits", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual(yield* contextOf([user("hello"), assistant("hello!")]), ["hello", "hello!"])
    }).pipe(Effect.provide(window(1000))))

  it.effect("2: drops whole rounds, oldest first", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual(yield* contextOf(rounds(3)), ["u3", "a3"])
    }).pipe(Effect.provide(window(3))))

  it.effect("3: drops calls with their results", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual(yield* contextOf(calculation), ["continue", "okay"])
    }).pipe(Effect.provide(window(8))))

  it.effect("3, differs: names of tools count, so that all six messages need 12", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual(yield* fitted(calculation, window(11)), ["continue", "okay"])
      assert.strictEqual((yield* fitted(calculation, window(12))).length, 6)
    }))

  it.effect("4: a system prompt goes first where the strategy says so", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual(yield* contextOf([system("setup"), ...rounds(2)]), ["u2", "a2"])
    }).pipe(Effect.provide(trimmingSystem({ maxTokens: 3 }))))

  it.effect("4, differs: by default the system prompt is kept and charged", () =>
    Effect.gen(function*() {
      const messages = [system("setup"), ...rounds(2)]
      assert.deepStrictEqual(yield* fitted(messages, window(3)), ["setup", "u2", "a2"])
      assert.deepStrictEqual(yield* fitted(messages, window(5)), ["setup", "u2", "a2"])
      assert.deepStrictEqual(yield* fitted(messages, window(6)), ["setup", "u1", "a1", "u2", "a2"])
    }))

  it.effect("5: one long message goes with its round", () =>
    Effect.gen(function*() {
      const messages = [user("x".repeat(61)), assistant("Reply"), ...rounds(1, 2)]
      assert.deepStrictEqual(yield* contextOf(messages), ["u2", "a2"])
    }).pipe(Effect.provide(window(3))))

  it.effect("6: a limit of rounds", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual(yield* contextOf(rounds(4)), ["u3", "a3", "u4", "a4"])
    }).pipe(Effect.provide(window(1000, 2))))

  it.effect("7: the smaller window wins", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual(yield* contextOf(rounds(4)), ["u4", "a4"])
    }).pipe(Effect.provide(window(3, 3))))

  it.effect("8: a projection loses nothing", () =>
    Effect.gen(function*() {
      const memory = yield* Memory.Memory
      assert.deepStrictEqual(yield* contextOf(rounds(2)), ["u2", "a2"])
      yield* memory.setMaxTokens(1000)
      assert.deepStrictEqual(yield* memory.context, rounds(2))
    }).pipe(Effect.provide(window(3))))

  it.effect("9: reasoning counts", () =>
    Effect.gen(function*() {
      const hi = [text("hi")]
      const thought = [Message.reasoning("a".repeat(40)), ...hi]
      const conversation = (first: ReadonlyArray<Message.AssistantPart>) => [
        user("u1"),
        assistant(first),
        user("u2"),
        assistant(hi)
      ]
      assert.deepStrictEqual(yield* fitted(conversation(thought), window(11)), ["u2", "hi"])
      assert.deepStrictEqual(yield* fitted(conversation(hi), window(11)), ["u1", "hi", "u2", "hi"])
    }))

  it.effect("10: another counter", () =>
    Effect.gen(function*() {
      const one = TokenCounter.make({ id: "one", count: () => Effect.succeed(1) })
      const memory = memoryLayer({ maxTokens: 2, counter: one })
      assert.deepStrictEqual(yield* fitted([...rounds(2), user("u3")], memory), ["u3"])
      assert.deepStrictEqual(yield* fitted(rounds(2), memory), ["u2", "a2"])
    }))

  it.effect("11, 12: a strategy that materializes is called once, and sees its summary next time", () =>
    Effect.gen(function*() {
      const inputs: Array<ReadonlyArray<string>> = []
      const strategy = TrimStrategy.make(({ messages, newest }) =>
        Effect.sync(() => {
          inputs.push(texts(messages))
          return { messages: [system("prior summary"), ...messages.slice(newest)], replace: true }
        })
      )
      const memory = yield* makeMemory({ maxTokens: 7, strategy })
      yield* memory.recordAll(rounds(4))
      assert.deepStrictEqual(texts(yield* memory.context), ["prior summary", "u4", "a4"])
      assert.deepStrictEqual(texts(yield* memory.context), ["prior summary", "u4", "a4"])
      assert.strictEqual(inputs.length, 1)
      yield* memory.recordAll(rounds(2, 5))
      assert.deepStrictEqual(texts(yield* memory.context), ["prior summary", "u6", "a6"])
      assert.deepStrictEqual(inputs, [
        texts(rounds(4)),
        ["prior summary", ...texts(rounds(3, 4))]
      ])
    }).pipe(Effect.scoped))

  it.effect("13: a strategy that projects loses nothing", () =>
    Effect.gen(function*() {
      const newestOnly = TrimStrategy.make(({ messages, newest }) =>
        Effect.succeed({ messages: messages.slice(newest), replace: false })
      )
      const memory = yield* makeMemory({ maxTokens: 1, strategy: newestOnly })
      yield* memory.recordAll(rounds(2))
      assert.deepStrictEqual(texts(yield* memory.context), ["u2", "a2"])
      yield* memory.setMaxTokens(1000)
      assert.deepStrictEqual(yield* memory.context, rounds(2))
    }).pipe(Effect.scoped))

  it.effect("14: the list is the caller's own", () =>
    Effect.gen(function*() {
      const memory = yield* Memory.Memory
      yield* memory.record(user("u1"))
      const context = yield* memory.context
      context.push(user("u2"))
      assert.deepStrictEqual(texts(yield* memory.context), ["u1"])
    }).pipe(Effect.provide(window(1000))))

  it.effect("15: no user message at all", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual(yield* contextOf([assistant("a long answer to nobody")]), ["a long answer to nobody"])
    }).pipe(Effect.provide(window(1))))

  it.effect("16: the newest round stays whole, even when it alone is over", () =>
    Effect.gen(function*() {
      const messages = [user([text("aaaa"), text("bbbb")]), assistant("hi")]
      assert.deepStrictEqual(yield* contextOf(messages), ["aaaa+bbbb", "hi"])
    }).pipe(Effect.provide(window(2))))

  it.effect("17: each message is counted once for each counter", () =>
    Effect.gen(function*() {
      const store = yield* MemoryStore.makeMemory
      const asked: Array<string> = []
      const counter = (id: string) =>
        TokenCounter.make({ id, count: (text) => Effect.sync(() => asked.push(`${id} ${text}`)).pipe(Effect.as(1)) })
      const first = yield* makeMemory({ maxTokens: 100, store, counter: counter("first") })
      yield* first.recordAll(rounds(1))
      yield* first.context
      assert.deepStrictEqual(asked, ["first u1", "first a1"])
      const second = yield* makeMemory({ maxTokens: 100, store, counter: counter("second") })
      yield* second.record(user("u2"))
      yield* second.context
      yield* second.context
      assert.deepStrictEqual(asked.slice(2), ["second u1", "second a1", "second u2"])
    }).pipe(Effect.scoped))

  it.effect("17, differs: recording counts nothing", () =>
    Effect.gen(function*() {
      const memory = yield* Memory.Memory
      yield* memory.recordAll(rounds(2))
      const calls = yield* TokenCounter.TestCalls
      assert.deepStrictEqual(yield* calls.texts, [])
    }).pipe(
      Effect.provide(
        Memory.layer().pipe(
          Layer.provide([TrimStrategy.layerWindowDrop, MemoryStore.layerMemory]),
          Layer.provideMerge(TokenCounter.layerTest())
        )
      )
    ))

  it.effect("18, differs: a counter that fails surfaces in context and no message is lost", () =>
    Effect.gen(function*() {
      let down = true
      const failure = new MemoryError.TokenCountError({ counter: "flaky", reason: "down" })
      const counter = TokenCounter.make({
        id: "flaky",
        count: () => Effect.suspend(() => down ? Effect.fail(failure) : Effect.succeed(1))
      })
      const memory = yield* makeMemory({ maxTokens: 3, counter })
      yield* memory.recordAll(rounds(1))
      assert.strictEqual(yield* Effect.flip(memory.context), failure)
      yield* memory.recordAll(rounds(1, 2))
      down = false
      assert.deepStrictEqual(texts(yield* memory.context), ["u2", "a2"])
      yield* memory.setMaxTokens(undefined)
      assert.deepStrictEqual(yield* memory.context, rounds(2))
    }).pipe(Effect.scoped))

  it.effect("19: a protected round stays in its place", () =>
    Effect.gen(function*() {
      const memory = yield* recordSkill
      assert.deepStrictEqual(
        texts(yield* memory.context),
        ["u2", "a2+tool-call", "<skill_content>body</skill_content>", "u3", "a3"]
      )
    }).pipe(Effect.provide(window(3))))

  it.effect("19, differs: names of tools count, so that all of it totals 21", () =>
    Effect.gen(function*() {
      const memory = yield* recordSkill
      assert.strictEqual((yield* memory.usage).tokens, 21)
      assert.strictEqual((yield* memory.context).length, 5)
      yield* memory.setMaxTokens(21)
      assert.strictEqual((yield* memory.context).length, 7)
    }).pipe(Effect.provide(window(20))))

  it.effect("19, differs: a protected round is charged, and nothing moves in front of its time", () =>
    Effect.gen(function*() {
      const memory = yield* recordSkill
      const all = ["u1", "a1", "u2", "a2+tool-call", "<skill_content>body</skill_content>", "u3", "a3"]
      assert.deepStrictEqual(texts(yield* memory.context), all.slice(2))
      yield* memory.setMaxTokens(1000)
      assert.deepStrictEqual(texts(yield* memory.context), all)
    }).pipe(Effect.provide(window(4))))

  it.effect("20: what is protected is in every context", () =>
    Effect.gen(function*() {
      const memory = yield* Memory.Memory
      yield* memory.recordAll([...rounds(1), user("u2"), loadSkill])
      yield* memory.recordProtected(skill("skill body"))
      for (let i = 0; i < 5; i++) {
        assert.deepStrictEqual(texts(yield* memory.context), ["u2", "a2+tool-call", "skill body"])
      }
    }).pipe(Effect.provide(window(3))))

  it.effect("20, differs: a protected result without its call stays in the log and is a finding", () =>
    Effect.gen(function*() {
      const memory = yield* Memory.Memory
      yield* memory.recordAll(rounds(2))
      yield* memory.recordProtected(skill("skill body"))
      assert.deepStrictEqual(texts(yield* memory.context), ["u2", "a2"])
      const log = Array.from(yield* Stream.runCollect(memory.history), (entry) => entry.message)
      assert.deepStrictEqual(texts(log), ["u1", "a1", "u2", "a2", "skill body"])
      assert.deepStrictEqual(Transcript.diagnose(log, "pairing").map((finding) => finding._tag), ["OrphanResult"])
    }).pipe(Effect.provide(window(3))))
})

describe("WindowMemory examples", () => {
  it.effect("one message", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual(yield* contextOf([user("hello")]), ["hello"])
    }).pipe(Effect.provide(window(100))))

  it.effect("a summary in front of the newest round", () =>
    Effect.gen(function*() {
      const strategy = TrimStrategy.make(({ messages, newest }) =>
        Effect.succeed({ messages: [system("prior summary"), ...messages.slice(newest)], replace: true })
      )
      const context = yield* fitted(rounds(4), memoryLayer({ maxTokens: 7, strategy }))
      assert.deepStrictEqual(context, ["prior summary", "u4", "a4"])
    }))

  it.effect("budgets", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual(yield* Budget.tokens(3), { maxTokens: 3, maxRounds: undefined })
      assert.deepStrictEqual(yield* Budget.rounds(2), { maxTokens: undefined, maxRounds: 2 })
      assert.deepStrictEqual(yield* Budget.both(3, 2), { maxTokens: 3, maxRounds: 2 })
      assert.deepStrictEqual(Budget.unlimited, { maxTokens: undefined, maxRounds: undefined })
    }))

  it.effect("a memory that keeps everything", () =>
    Effect.gen(function*() {
      const messages = [system("setup"), ...rounds(50)]
      assert.deepStrictEqual(yield* contextOf(messages), texts(messages))
    }).pipe(Effect.provide(Memory.layerUnbounded)))
})

describe("rounds", () => {
  it.effect("no rounds at all act as one", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual(yield* contextOf(rounds(4)), ["u4", "a4"])
    }).pipe(Effect.provide(window(1000, 0))))

  it.effect("the preamble is a round of its own that limits do not count", () =>
    Effect.gen(function*() {
      const memory = yield* Memory.Memory
      yield* memory.recordAll([system("setup"), ...rounds(2)])
      assert.strictEqual((yield* memory.context).length, 5)
      yield* memory.record(user("u3"))
      assert.deepStrictEqual(texts(yield* memory.context), ["u2", "a2", "u3"])
    }).pipe(Effect.provide(trimmingSystem({ maxTokens: 1000, maxRounds: 2 }))))

  it.effect("differs: the system prompt stays under a limit of rounds too", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual(
        yield* contextOf([system("setup"), ...rounds(2), user("u3")]),
        ["setup", "u2", "a2", "u3"]
      )
    }).pipe(Effect.provide(window(1000, 2))))

  it.effect("the preamble goes alone", () =>
    Effect.gen(function*() {
      const messages = [system("setup"), ...rounds(2)]
      for (const maxTokens of [4, 5]) {
        assert.deepStrictEqual(yield* fitted(messages, trimmingSystem({ maxTokens })), ["u1", "a1", "u2", "a2"])
      }
      assert.strictEqual((yield* fitted(messages, trimmingSystem({ maxTokens: 6 }))).length, 5)
      const sys = [system("sys"), user("u1")]
      assert.deepStrictEqual(yield* fitted(sys, trimmingSystem({ maxTokens: 1 })), ["u1"])
      const greetings = [assistant("hi"), assistant("ho"), user("u1")]
      assert.deepStrictEqual(yield* fitted(greetings, window(1)), ["u1"])
    }))

  it.effect("differs: an interjection does not part a call from its result", () =>
    Effect.gen(function*() {
      const messages = [
        user("u1"),
        assistant([toolCall({ id: "c1", name: "f", params: {} })]),
        user("u2"),
        tool([toolResult({ id: "c1", name: "f", result: "r" })]),
        assistant("a2")
      ]
      assert.deepStrictEqual(yield* fitted(messages, window(3)), ["u1", "tool-call", "r", "u2", "a2"])
    }))
})
