import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Fiber, Stream } from "effect"
import { MemoryError, type MemoryEvent, MemoryStore, Message, TrimStrategy } from "effect-memory"
import { makeMemory, rounds, texts } from "./utilities.js"

const { assistant, system, tool, toolCall, toolResult, user } = Message

/** Has everything but the newest round summarized; tells what it saw. */
const summarizing = (inputs: Array<TrimStrategy.TrimInput> = []) =>
  TrimStrategy.make((input) =>
    Effect.sync(() => {
      inputs.push(input)
      return { messages: [system("s"), ...input.messages.slice(input.newest)], replace: true }
    })
  )

const returning = (result: (input: TrimStrategy.TrimInput) => TrimStrategy.TrimResult) =>
  TrimStrategy.make((input) => Effect.sync(() => result(input)))

const newestOnly = returning(({ messages, newest }) => ({ messages: messages.slice(newest), replace: false }))

/** The context that a strategy leads to, and the failures on the way. */
const contextWith = Effect.fnUntraced(function*(
  strategy: TrimStrategy.Service,
  messages: ReadonlyArray<Message.Message>,
  maxTokens: number
) {
  const failures: Array<MemoryError.TrimError> = []
  const memory = yield* makeMemory({ maxTokens, strategy })
  const isListening = yield* Effect.makeLatch()
  yield* memory.events.pipe(
    Stream.onStart(isListening.open),
    Stream.runForEach((event: MemoryEvent.MemoryEvent) =>
      Effect.sync(() => event._tag === "TrimFailed" && failures.push(event.error))
    ),
    Effect.forkScoped
  )
  yield* isListening.await
  yield* Effect.yieldNow()
  yield* memory.recordAll(messages)
  const context = yield* memory.context
  yield* Effect.yieldNow()
  return { context: texts(context), failures }
}, Effect.scoped)

const call = (id: string) => assistant([toolCall({ id, name: "f", params: {} })])
const result = (id: string) => tool([toolResult({ id, name: "f", result: id })])

describe("what a strategy returns", () => {
  it.effect("the same message twice stands there once", () =>
    Effect.gen(function*() {
      const twice = returning(({ messages, newest }) => {
        const kept = messages.slice(newest)
        return { messages: [...kept, ...kept], replace: false }
      })
      const { context, failures } = yield* contextWith(twice, rounds(3), 3)
      assert.deepStrictEqual(context, ["u3", "a3"])
      assert.deepStrictEqual(failures, [])
    }))

  it.effect("a message recorded twice is the newer one", () =>
    Effect.gen(function*() {
      const [u, a] = rounds(1)
      const { context } = yield* contextWith(newestOnly, [u, a, ...rounds(1, 2), u, a], 3)
      assert.deepStrictEqual(context, ["u1", "a1"])
    }))

  it.effect("the order of recording is restored", () =>
    Effect.gen(function*() {
      const reversed = returning(({ messages, newest }) => ({
        messages: messages.slice(newest - 2).reverse(),
        replace: false
      }))
      const { context } = yield* contextWith(reversed, rounds(3), 5)
      assert.deepStrictEqual(context, ["u2", "a2", "u3", "a3"])
    }))

  it.effect("half a group is no group", () =>
    Effect.gen(function*() {
      const messages = [user("u1"), call("c1"), result("c1"), assistant("a1"), ...rounds(1, 2)]
      const withoutCall = returning(({ messages }) => ({
        messages: messages.filter((message) => Message.toolCalls(message).length === 0),
        replace: false
      }))
      const { context, failures } = yield* contextWith(withoutCall, messages, 5)
      assert.deepStrictEqual(context, ["u1", "a1", "u2", "a2"])
      assert.deepStrictEqual(failures, [])
    }))

  it.effect("the newest round's user message, newest group and open calls stay", () =>
    Effect.gen(function*() {
      const open = assistant([toolCall({ id: "c2", name: "f", params: {} })])
      const messages = [user("u1"), call("c1"), result("c1"), open, call("c3"), result("c3")]
      const nothing = returning(() => ({ messages: [], replace: false }))
      const { context } = yield* contextWith(nothing, messages, 0)
      assert.deepStrictEqual(context, ["u1", "tool-call", "tool-call", "c3"])
    }))

  it.effect("new messages that are to stand for nothing are left out", () =>
    Effect.gen(function*() {
      const { context, failures } = yield* contextWith(summarizing(), rounds(1), 1)
      assert.deepStrictEqual(context, ["u1", "a1"])
      assert.deepStrictEqual(failures, [])
      const memory = yield* makeMemory({ strategy: summarizing() })
      yield* memory.recordAll(rounds(1))
      assert.isFalse(yield* memory.compact)
      yield* memory.recordAll(rounds(1, 2))
      assert.isTrue(yield* memory.compact)
    }).pipe(Effect.scoped))

  it.effect("what cannot be sent counts as a failure", () =>
    Effect.gen(function*() {
      for (const added of [result("c9"), call("c9"), user([]), system(" ")]) {
        const strategy = returning(({ messages, newest }) => ({
          messages: [added, ...messages.slice(newest)],
          replace: true
        }))
        const { context, failures } = yield* contextWith(strategy, rounds(3), 3)
        assert.deepStrictEqual(context, ["u3", "a3"])
        assert.strictEqual(failures.length, 1)
        assert.match(failures[0].message, /cannot be sent/)
      }
    }))

  it.effect("a projection that is over the budget counts as a failure", () =>
    Effect.gen(function*() {
      const large = returning(({ messages, newest }) => ({
        messages: [system("a long remark that nobody asked for"), ...messages.slice(newest)],
        replace: false
      }))
      const { context, failures } = yield* contextWith(large, rounds(3), 3)
      assert.deepStrictEqual(context, ["u3", "a3"])
      assert.match(failures[0].message, /takes 11 tokens of 3/)
    }))

  it.effect("a summary larger than what it stands for counts as a failure, and is not kept", () =>
    Effect.gen(function*() {
      const large = returning(({ messages, newest }) => ({
        messages: [system("longer than two rounds"), ...messages.slice(newest)],
        replace: true
      }))
      const { context, failures } = yield* contextWith(large, rounds(3), 3)
      assert.deepStrictEqual(context, ["u3", "a3"])
      assert.match(failures[0].message, /no fewer tokens/)
    }))

  it.effect("wrong indices count as a failure", () =>
    Effect.gen(function*() {
      const wrong: ReadonlyArray<Pick<TrimStrategy.TrimResult, "origin" | "covers">> = [
        { origin: [] },
        { origin: [0, 0, 0] },
        { origin: [99, 0] },
        { origin: [-2, 0] },
        { origin: [0.5, NaN] },
        { covers: [99] },
        { covers: [-1] }
      ]
      for (const indices of wrong) {
        const strategy = returning(({ messages, newest }) => ({
          messages: messages.slice(newest),
          replace: true,
          ...indices
        }))
        const { context, failures } = yield* contextWith(strategy, rounds(3), 3)
        assert.deepStrictEqual(context, ["u3", "a3"])
        assert.match(failures[0].message, /origin|covers/)
      }
    }))

  it.effect("what is no result counts as a failure", () =>
    Effect.gen(function*() {
      const wrong: ReadonlyArray<readonly [unknown, RegExp]> = [
        [undefined, /no list of messages/],
        ["messages", /no list of messages/],
        [{ messages: "all", replace: false }, /no list of messages/],
        [{ messages: [null], replace: true }, /messages\[0\] is not a message/],
        [{ messages: [{ role: "robot", content: "hello" }], replace: false }, /messages\[0\] is not a message/],
        [{ messages: [] }, /replace is undefined/],
        [{ messages: [], replace: true, covers: 3 }, /covers/],
        [{ messages: [], replace: true, origin: "0" }, /origin/]
      ]
      for (const [result, reason] of wrong) {
        const strategy = returning(() => result as TrimStrategy.TrimResult)
        for (const given of [strategy, TrimStrategy.cascade(TrimStrategy.clearToolResults({ keep: 1 }), strategy)]) {
          const { context, failures } = yield* contextWith(given, rounds(3), 3)
          assert.deepStrictEqual(context, ["u3", "a3"])
          assert.match(failures[0].message, reason)
        }
      }
    }))

  it.effect("one that fails, dies or interrupts itself is a failure of its own", () =>
    Effect.gen(function*() {
      const ends: ReadonlyArray<Effect.Effect<TrimStrategy.TrimResult, MemoryError.TrimError>> = [
        Effect.fail(new MemoryError.TrimError({ reason: "told to" })),
        Effect.die(new Error("told to")),
        Effect.interrupt,
        Effect.suspend(() => {
          throw new Error("told to")
        })
      ]
      for (const end of ends) {
        const { context, failures } = yield* contextWith(TrimStrategy.make(() => end), rounds(3), 3)
        assert.deepStrictEqual(context, ["u3", "a3"])
        assert.strictEqual(failures.length, 1)
      }
    }))
})

describe("what stands for others", () => {
  it.effect("a summary that stands behind a protected round is merged into the next one", () =>
    Effect.gen(function*() {
      const inputs: Array<TrimStrategy.TrimInput> = []
      const memory = yield* makeMemory({ maxTokens: 7, strategy: summarizing(inputs) })
      const [u1, a1, ...others] = rounds(4)
      yield* memory.recordProtected(u1)
      yield* memory.recordAll([a1, ...others])
      assert.deepStrictEqual(texts(yield* memory.context), ["u1", "a1", "s", "u4", "a4"])
      yield* memory.recordAll(rounds(3, 5))
      assert.deepStrictEqual(texts(yield* memory.context), ["u1", "a1", "s", "u7", "a7"])
      assert.deepStrictEqual(texts(inputs[1].messages), ["s", ...texts(rounds(4, 4))])
      assert.deepStrictEqual(inputs[1].standIns, [0])
      // Without the protected round, which takes two tokens.
      assert.strictEqual(inputs[1].budget.maxTokens, 5)
    }).pipe(Effect.scoped))

  it.effect("the plain window keeps it when the strategy fails", () =>
    Effect.gen(function*() {
      let fails = false
      const strategy = TrimStrategy.make((input) =>
        fails ? Effect.fail(new MemoryError.TrimError({ reason: "told to" })) : summarizing().trim(input)
      )
      const memory = yield* makeMemory({ maxTokens: 5, strategy })
      yield* memory.recordAll(rounds(3))
      assert.deepStrictEqual(texts(yield* memory.context), ["s", "u3", "a3"])
      fails = true
      yield* memory.recordAll(rounds(3, 4))
      assert.deepStrictEqual(texts(yield* memory.context), ["s", "u5", "a5", "u6", "a6"])
    }).pipe(Effect.scoped))

  it.effect("it opens no round and is counted by no limit of rounds", () =>
    Effect.gen(function*() {
      const strategy = returning(({ messages, newest }) => ({
        messages: [user("s"), ...messages.slice(newest)],
        replace: true
      }))
      const memory = yield* makeMemory({ maxTokens: 100, maxRounds: 2, strategy })
      yield* memory.recordAll(rounds(3))
      assert.deepStrictEqual(texts(yield* memory.context), ["s", "u3", "a3"])
      assert.strictEqual((yield* memory.usage).rounds, 1)
      yield* memory.recordAll(rounds(1, 4))
      assert.deepStrictEqual(texts(yield* memory.context), ["s", "u3", "a3", "u4", "a4"])
    }).pipe(Effect.scoped))

  it.effect("it may hold calls with their results", () =>
    Effect.gen(function*() {
      const strategy = returning(({ messages, newest }) => ({
        messages: [system("s"), call("x"), result("x"), ...messages.slice(newest)],
        replace: true
      }))
      const memory = yield* makeMemory({ maxTokens: 8, strategy })
      yield* memory.recordAll(rounds(5))
      const expected = ["s", "tool-call", "x", "u5", "a5"]
      assert.deepStrictEqual(texts(yield* memory.context), expected)
      yield* memory.record(user("u6"))
      assert.deepStrictEqual(texts(yield* memory.context), [...expected, "u6"])
    }).pipe(Effect.scoped))

  it.effect("the next compaction covers what this one covers, also where it adds only older entries", () =>
    Effect.gen(function*() {
      const store = yield* MemoryStore.makeMemory
      let kept = 4
      const strategy = returning(({ messages, newest }) => ({
        messages: [system("s"), ...messages.slice(2, kept), ...messages.slice(newest)],
        replace: true
      }))
      const memory = yield* makeMemory({ maxTokens: 7, strategy, store })
      yield* memory.recordAll(rounds(4))
      assert.deepStrictEqual(texts(yield* memory.context), ["s", "u2", "a2", "u4", "a4"])
      kept = 0
      assert.isTrue(yield* memory.compact)
      assert.deepStrictEqual(texts(yield* memory.context), ["s", "u4", "a4"])
      assert.deepStrictEqual((yield* store.load("default")).entries.map(({ sequence }) => sequence), [6, 7])
    }).pipe(Effect.scoped))

  it.effect("entries between what is covered are kept where they stood", () =>
    Effect.gen(function*() {
      const store = yield* MemoryStore.makeMemory
      const strategy = returning(({ messages, newest }) => ({
        messages: [system("s"), ...messages.slice(2, 4), ...messages.slice(newest)],
        replace: true
      }))
      const memory = yield* makeMemory({ maxTokens: 7, strategy, store })
      yield* memory.recordAll(rounds(4))
      assert.deepStrictEqual(texts(yield* memory.context), ["s", "u2", "a2", "u4", "a4"])
      const { compaction } = yield* store.load("default")
      assert.deepStrictEqual(compaction, { from: 0, upTo: 6, keep: [2, 3], messages: [system("s")] })
      const again = yield* makeMemory({ maxTokens: 7, strategy, store })
      assert.deepStrictEqual(texts(yield* again.context), ["s", "u2", "a2", "u4", "a4"])
      yield* again.restore
      yield* again.setMaxTokens(undefined)
      assert.deepStrictEqual(yield* again.context, rounds(4))
    }).pipe(Effect.scoped))
})

describe("a projection", () => {
  it.effect("that is under way will do for who asked before, though messages came since", () =>
    Effect.gen(function*() {
      const started = yield* Deferred.make<void>()
      const finish = yield* Deferred.make<void>()
      let calls = 0
      const strategy = TrimStrategy.make(({ messages, newest }) =>
        Effect.gen(function*() {
          calls++
          yield* Deferred.succeed(started, undefined)
          yield* Deferred.await(finish)
          return { messages: messages.slice(newest), replace: false }
        })
      )
      const memory = yield* makeMemory({ maxTokens: 5, strategy })
      yield* memory.recordAll(rounds(3))
      const before = yield* Effect.fork(memory.context)
      yield* Deferred.await(started)
      yield* memory.record(user("u4"))
      yield* Deferred.succeed(finish, undefined)
      assert.deepStrictEqual(texts(yield* Fiber.join(before)), ["u3", "a3"])
      assert.strictEqual(calls, 1)
      assert.deepStrictEqual(texts(yield* memory.context), ["u4"])
      assert.deepStrictEqual(texts(yield* memory.context), ["u4"])
      assert.strictEqual(calls, 2)
    }).pipe(Effect.scoped))
})

describe("entries that no context shows", () => {
  it.effect("go with the entry before them, unless they are protected", () =>
    Effect.gen(function*() {
      const store = yield* MemoryStore.makeMemory
      const memory = yield* makeMemory({ maxTokens: 5, strategy: summarizing(), store })
      yield* memory.recordAll([...rounds(1), result("c8")])
      yield* memory.recordAll(rounds(1, 2))
      yield* memory.recordAll([user(""), ...rounds(1, 3)])
      yield* memory.context
      assert.deepStrictEqual((yield* store.load("default")).compaction?.keep, [])
      assert.deepStrictEqual((yield* store.load("default")).entries.map(({ sequence }) => sequence), [6, 7])
      yield* memory.clear
      yield* memory.recordAll(rounds(1))
      yield* memory.recordProtected(user(""))
      yield* memory.recordAll(rounds(3, 2))
      yield* memory.context
      assert.deepStrictEqual((yield* store.load("default")).entries.map(({ sequence }) => sequence), [10, 15, 16])
    }).pipe(Effect.scoped))
})

describe("a message of which nothing is left", () => {
  it.effect("is no newest round: the exchange before it stays", () =>
    Effect.gen(function*() {
      const memory = yield* makeMemory({ maxTokens: 1 })
      yield* memory.recordAll([...rounds(2), user("")])
      assert.deepStrictEqual(texts(yield* memory.context), ["u2", "a2"])
      assert.strictEqual((yield* memory.usage).rounds, 2)
      const strict = yield* makeMemory({ maxTokens: 1, onOverflow: "fail" })
      yield* strict.recordAll([system("setup"), ...rounds(2), user("")])
      const error = yield* Effect.flip(strict.context)
      assert.strictEqual(error._tag, "BudgetUnsatisfiable")
      if (error._tag !== "BudgetUnsatisfiable") return
      assert.deepStrictEqual(error.floor, { overhead: 0, system: 2, protected: 0, summary: 0, newest: 2, total: 4 })
    }).pipe(Effect.scoped))

  it.effect("takes no place in a limit of rounds", () =>
    Effect.gen(function*() {
      const memory = yield* makeMemory({ maxRounds: 2 })
      yield* memory.recordAll([...rounds(1), user(""), user(""), ...rounds(1, 2)])
      assert.deepStrictEqual(texts(yield* memory.context), ["u1", "a1", "u2", "a2"])
    }).pipe(Effect.scoped))

  it.effect("is handed out as it is where nothing is repaired", () =>
    Effect.gen(function*() {
      const memory = yield* makeMemory({ rules: "none" })
      const empty = [user([]), assistant([]), tool([]), user([]), system("")]
      for (const [i, message] of empty.entries()) {
        yield* memory.record(message)
        assert.deepStrictEqual(yield* memory.context, empty.slice(0, i + 1))
      }
    }).pipe(Effect.scoped))
})
