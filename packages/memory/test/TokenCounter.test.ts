import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Exit, Fiber, Option } from "effect"
import { ContextWindow, MemoryStore, Message, TokenCounter, TrimStrategy } from "effect-memory"
import { makeMemory } from "./utilities.js"

describe("TokenCounter.characters", () => {
  const vectors: ReadonlyArray<readonly [text: string, tokens: number]> = [
    ["", 0],
    ["a", 1],
    ["abcd", 1],
    ["abcde", 2],
    ["hello", 2],
    ["morning", 2],
    ["setup", 2],
    ["calculate", 3],
    ["continue", 2],
    ["prior summary", 4],
    ["Question from round 1", 6],
    ["Answer from round 1", 5],
    ["你好", 2],
    ["你好abc", 3],
    ["こんにちは", 2],
    ["안녕하세요", 2],
    ["，。", 1],
    ["ＡＢＣ", 1],
    ["😀😀😀😀😀", 2],
    // The ends of the ideograph blocks, and what lies beside them.
    ["\u3400\u4dbf\u4e00\u9fff\uf900\ufaff\u{20000}\u{2fa1f}", 8],
    ["\u33ff\u4dc0\ua000\uf8ff\ufb00\u{1ffff}\u{2fa20}\u{30000}", 2]
  ]

  for (const [text, tokens] of vectors) {
    it.effect(`${JSON.stringify(text)} takes ${tokens}`, () =>
      Effect.gen(function*() {
        assert.strictEqual(yield* TokenCounter.characters.count(text), tokens)
      }))
  }

  it.effect("rounds each part up by itself", () =>
    Effect.gen(function*() {
      const message = Message.user([Message.text("a"), Message.text("b")])
      assert.strictEqual(yield* TokenCounter.characters.countMessage(message), 2)
    }))

  it.effect("counts every part, but no ids and no names of results", () =>
    Effect.gen(function*() {
      const count = TokenCounter.characters.countMessage
      const id = "an id of many characters"
      const call = Message.toolCall({ id, name: "load_skill", params: { name: "x" } })
      assert.strictEqual(yield* count(Message.assistant([call])), 6)
      const result = Message.toolResult({ id, name: "load_skill", result: "abcd" })
      assert.strictEqual(yield* count(Message.tool([result])), 1)
      const image = Message.file({ mediaType: "image/png", data: "QUJD".repeat(1000) })
      assert.strictEqual(yield* count(Message.user([image])), 1000)
      assert.strictEqual(yield* count(Message.assistant([Message.reasoning("abcde")])), 2)
    }))
})

describe("TokenCounter.make", () => {
  for (const answer of [NaN, Infinity, -1]) {
    it.effect(`refuses a count of ${answer}`, () =>
      Effect.gen(function*() {
        const counter = TokenCounter.make({ id: "broken", count: () => Effect.succeed(answer) })
        assert.strictEqual((yield* Effect.flip(counter.count("x")))._tag, "TokenCountError")
        assert.strictEqual((yield* Effect.flip(counter.countMessage(Message.user("x"))))._tag, "TokenCountError")
      }))
  }
})

describe("a counter that dies", () => {
  const bug = (text: string): Effect.Effect<number> => {
    if (text.includes("<|endoftext|>")) throw new Error("special token")
    return Effect.succeed(1)
  }
  const counters = {
    "when it is asked": TokenCounter.make({ id: "throws", count: bug }),
    "while it counts": TokenCounter.make({ id: "dies", count: (text) => Effect.suspend(() => bug(text)) }),
    "over what surrounds a message": TokenCounter.make({
      id: "overhead",
      count: () => Effect.succeed(1),
      messageOverhead: (message) => {
        bug(JSON.stringify(message.content))
        return 0
      }
    }),
    "and is no counter of make": {
      id: "own",
      overhead: 0,
      count: bug,
      countMessage: (message: Message.Message) => bug(JSON.stringify(message.content))
    }
  }
  const poison = Message.user("what is <|endoftext|>?")

  for (const [name, counter] of Object.entries(counters)) {
    it.scoped(`${name} has failed`, () =>
      Effect.gen(function*() {
        const memory = yield* makeMemory({ maxTokens: 10, counter })
        yield* memory.recordAll([Message.user("hello"), Message.assistant("hi"), poison])
        const error = yield* Effect.flip(memory.context)
        assert.strictEqual(error._tag, "TokenCountError")
        assert.notInclude(error.message, "endoftext")
        const window = yield* ContextWindow.make({ maxTokens: 10 }).pipe(
          Effect.provideService(TokenCounter.TokenCounter, counter),
          Effect.provideService(TrimStrategy.TrimStrategy, TrimStrategy.truncate())
        )
        assert.strictEqual((yield* Effect.flip(window.fit([poison])))._tag, "TokenCountError")
      }))
  }

  it.effect("is replaced by the one behind it", () =>
    Effect.gen(function*() {
      for (const name of ["when it is asked", "while it counts", "over what surrounds a message"] as const) {
        const counter = TokenCounter.orElse(counters[name], TokenCounter.characters)
        assert.isAbove(yield* counter.countMessage(poison), 1)
      }
    }))

  it.effect("over whole conversations is replaced by the one behind it", () =>
    Effect.gen(function*() {
      const counting = (countConversation: () => Effect.Effect<number>) =>
        TokenCounter.verified({ countConversation }, { local: TokenCounter.characters })
      const throws = counting(() => {
        throw new Error("bug")
      })
      const counter = TokenCounter.orElse(throws, counting(() => Effect.succeed(7)))
      assert.strictEqual(yield* counter.countConversation!([poison]), 7)
    }))

  it.scoped("over whole conversations is taken to have failed", () =>
    Effect.gen(function*() {
      const counter = TokenCounter.verified({
        countConversation: () => {
          throw new Error("bug")
        }
      }, { local: TokenCounter.characters })
      const memory = yield* makeMemory({ maxTokens: 4, counter })
      yield* memory.recordAll([Message.user("abcdefgh"), Message.assistant("abcdefgh"), Message.user("abcd")])
      assert.strictEqual((yield* memory.context).length, 1)
    }))
})

describe("what a message costs beside its parts", () => {
  it.effect("may differ from message to message", () =>
    Effect.gen(function*() {
      const counter = TokenCounter.make({
        id: "roles",
        count: () => Effect.succeed(1),
        messageOverhead: ({ role }) => role === "user" ? 0.5 : 3
      })
      assert.strictEqual(yield* counter.countMessage(Message.user("a")), 2)
      assert.strictEqual(yield* counter.countMessage(Message.assistant("a")), 4)
    }))
})

describe("a counter whose answers are there at once", () => {
  const long = "x".repeat(50)

  /** Short texts are counted at once, long ones take their time. */
  const mixed = (asked: Array<string>): TokenCounter.Service =>
    TokenCounter.make({
      id: "mixed",
      count: (text) => {
        if (text === long) return Effect.as(Effect.zipRight(Effect.sync(() => asked.push(text)), Effect.yieldNow()), 2)
        asked.push(text)
        return Exit.succeed(1)
      }
    })

  it.effect("a message is an answer if all its texts are, and adds up in any case", () =>
    Effect.gen(function*() {
      const counter = mixed([])
      assert.isTrue(Exit.isExit(counter.countMessage(Message.user("a"))))
      assert.isFalse(Exit.isExit(counter.countMessage(Message.user(long))))
      const message = Message.user([Message.text("a"), Message.text(long), Message.text("b")])
      assert.strictEqual(yield* counter.countMessage(message), 4)
    }))

  it.scoped("each text is counted once and saved, whoever asks, also beside texts that are waited for", () =>
    Effect.gen(function*() {
      const asked: Array<string> = []
      const store = yield* MemoryStore.makeMemory
      const memory = yield* makeMemory({ counter: mixed(asked), store })
      yield* memory.recordAll([Message.user("a"), Message.assistant(long), Message.user("b")])
      const usages = yield* Effect.all([memory.usage, memory.usage, memory.usage], { concurrency: "unbounded" })
      assert.deepStrictEqual(usages.map(({ tokens }) => tokens), [4, 4, 4])
      assert.deepStrictEqual(asked.toSorted(), ["a", "b", long])
      yield* memory.record(Message.assistant("c"))
      assert.strictEqual((yield* memory.usage).tokens, 5)
      const { counts } = yield* store.load("default")
      assert.deepStrictEqual(Array.from(counts.get("mixed") ?? []).sort(([a], [b]) => a - b), [
        [0, 1],
        [1, 2],
        [2, 1],
        [3, 1]
      ])
    }))

  it.scoped("a text beside one that is waited for is counted once", () =>
    Effect.gen(function*() {
      const asked: Array<string> = []
      const memory = yield* makeMemory({ counter: mixed(asked) })
      yield* memory.record(Message.user([Message.text("a"), Message.text(long), Message.text("b")]))
      assert.strictEqual((yield* memory.usage).tokens, 4)
      assert.deepStrictEqual(asked, ["a", long, "b"])
    }))

  it.scoped("what is no count is told, asked for once each time, and nothing is kept of it", () =>
    Effect.gen(function*() {
      const answers = [NaN, NaN, 7]
      let asked = 0
      const counter = TokenCounter.make({ id: "odd", count: () => Exit.succeed(answers[asked++]) })
      const store = yield* MemoryStore.makeMemory
      const memory = yield* makeMemory({ counter, store })
      yield* memory.record(Message.user("a"))
      for (const times of [1, 2]) {
        assert.strictEqual((yield* Effect.flip(memory.context))._tag, "TokenCountError")
        assert.strictEqual(asked, times)
      }
      assert.isUndefined((yield* store.load("default")).counts.get("odd"))
      assert.strictEqual((yield* memory.usage).tokens, 7)
    }))

  it.scoped("what happens while counts are saved is in the context", () =>
    Effect.gen(function*() {
      const counter = TokenCounter.make({ id: "one", count: () => Exit.succeed(1) })
      const inner = yield* MemoryStore.makeMemory
      const gate = yield* Deferred.make<void>()
      const store: MemoryStore.Service = {
        ...inner,
        saveCounts: (...args) => Effect.zipRight(Deferred.await(gate), inner.saveCounts(...args))
      }
      const settle = Effect.repeatN(Effect.yieldNow(), 20)
      const memory = yield* makeMemory({ counter, store })
      yield* memory.record(Message.user("before"))
      const context = yield* Effect.fork(memory.context)
      yield* settle
      yield* memory.clear
      yield* memory.record(Message.user("after"))
      yield* Deferred.succeed(gate, undefined)
      assert.deepStrictEqual(yield* Fiber.join(context), [Message.user("after")])
    }))

  it.scoped("others run while a long history is counted", () =>
    Effect.gen(function*() {
      const counter = TokenCounter.make({ id: "one", count: () => Exit.succeed(1) })
      const memory = yield* makeMemory({ counter })
      yield* memory.recordAll(Array.from({ length: 5_000 }, () => Message.user("a")))
      const counting = yield* Effect.fork(memory.usage)
      yield* Effect.repeatN(Effect.yieldNow(), 3)
      assert.isTrue(Option.isNone(yield* Fiber.poll(counting)))
      assert.strictEqual((yield* Fiber.join(counting)).tokens, 5_000)
    }))
})
