import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Fiber, Stream, TestClock } from "effect"
import { MemoryError, type MemoryEvent, MemoryStore, Message, Summarizer, TrimStrategy } from "effect-memory"
import { provenanceOf, words } from "./summarizing.js"
import { makeMemory, texts } from "./utilities.js"

const { assistant, user } = Message

/** Ten tokens a round. */
const turns = (n: number, from = 1) =>
  Array.from({ length: n }, (_, i) => [
    user(`Question number ${100 + from + i}`),
    assistant(`The answer is no ${100 + from + i}`)
  ]).flat()

/** A summarizer that answers when it is told to. */
const makeSlow = Effect.gen(function*() {
  const started = yield* Deferred.make<void>()
  const finish = yield* Deferred.make<void>()
  const requests: Array<Summarizer.Request> = []
  const summarizer: Summarizer.Service = {
    summarize: (request) =>
      Effect.gen(function*() {
        requests.push(request)
        yield* Deferred.succeed(started, undefined)
        yield* Deferred.await(finish)
        return { text: `summary ${requests.length}`, usage: undefined }
      })
  }
  const strategy = yield* Effect.provideService(
    TrimStrategy.summarize({ maxSummaryTokens: 4 }),
    Summarizer.Summarizer,
    summarizer
  )
  return { strategy, requests, started: Deferred.await(started), finish: Deferred.succeed(finish, undefined) }
})

const summariesIn = (messages: ReadonlyArray<Message.Message>) =>
  messages.filter((message) => provenanceOf(message) !== undefined).length

describe("while a summary is being made", () => {
  it.scoped("what is recorded meanwhile stands behind it, in order, and is not buried before it", () =>
    Effect.gen(function*() {
      const { finish, requests, started, strategy } = yield* makeSlow
      const memory = yield* makeMemory({ maxTokens: 42, strategy })
      yield* memory.recordAll(turns(5))
      const context = yield* Effect.fork(memory.context)
      yield* started
      const wish = user("Stop, do this instead")
      yield* memory.record(wish)
      yield* memory.record(assistant("Of course"))
      yield* finish
      yield* Fiber.join(context)
      assert.deepStrictEqual(words(yield* memory.context).slice(-2), ["Stop, do this instead", "Of course"])
      yield* memory.setMaxTokens(undefined)
      assert.deepStrictEqual(words(yield* memory.context), [
        "<summary 1>",
        ...texts(turns(5).slice(requests[0].messages.length)),
        "Stop, do this instead",
        "Of course"
      ])
    }))

  it.scoped("a conversation that is cleared meanwhile stays cleared", () =>
    Effect.gen(function*() {
      const { finish, started, strategy } = yield* makeSlow
      const memory = yield* makeMemory({ maxTokens: 42, strategy })
      const events: Array<MemoryEvent.MemoryEvent> = []
      yield* Effect.forkScoped(Stream.runForEach(memory.events, (event) => Effect.sync(() => events.push(event))))
      yield* Effect.yieldNow()
      yield* memory.recordAll(turns(5))
      const context = yield* Effect.fork(memory.context)
      yield* started
      yield* memory.clear
      yield* memory.recordAll(turns(1, 9))
      yield* finish
      assert.deepStrictEqual(yield* Fiber.join(context), turns(1, 9))
      assert.deepStrictEqual(yield* memory.context, turns(1, 9))
      yield* Effect.repeatN(Effect.yieldNow(), 20)
      assert.deepInclude(events, { _tag: "CompactionDiscarded", conversation: "default", reason: "changed" })
    }))

  it.scoped("fast turns make one summary, not one each", () =>
    Effect.gen(function*() {
      const { finish, requests, started, strategy } = yield* makeSlow
      const memory = yield* makeMemory({ maxTokens: 100, strategy })
      yield* memory.recordAll(turns(11))
      const contexts = [yield* Effect.fork(memory.context)]
      yield* started
      for (const n of [12, 13, 14]) {
        yield* memory.recordAll(turns(1, n))
        contexts.push(yield* Effect.fork(memory.context))
      }
      yield* finish
      for (const context of contexts) assert.isAtMost(summariesIn(yield* Fiber.join(context)), 1)
      assert.strictEqual(summariesIn(yield* memory.context), 1)
      const asked = requests.flatMap(({ messages }) => messages)
      assert.strictEqual(new Set(asked).size, asked.length)
    }))

  it.scoped("concurrent runs on one conversation ask once", () =>
    Effect.gen(function*() {
      const { finish, requests, started, strategy } = yield* makeSlow
      const memory = yield* makeMemory({ maxTokens: 42, strategy })
      yield* memory.recordAll(turns(5))
      const contexts = yield* Effect.fork(
        Effect.all(Array.from({ length: 40 }, () => memory.context), { concurrency: "unbounded" })
      )
      yield* started
      yield* Effect.repeatN(Effect.yieldNow(), 50)
      yield* finish
      const results = yield* Fiber.join(contexts)
      assert.strictEqual(requests.length, 1)
      for (const context of results) assert.deepStrictEqual(words(context), words(results[0]))
    }))

  it.scoped("a caller that gives up does not end it", () =>
    Effect.gen(function*() {
      const { finish, requests, started, strategy } = yield* makeSlow
      const memory = yield* makeMemory({ maxTokens: 42, strategy })
      yield* memory.recordAll(turns(5))
      const context = yield* Effect.fork(memory.context)
      yield* started
      yield* Fiber.interrupt(context)
      yield* finish
      assert.strictEqual(summariesIn(yield* memory.context), 1)
      assert.strictEqual(requests.length, 1)
    }))

  it.effect("half a summary bounds nothing: where the layer closes before the end, all is as it was", () =>
    Effect.gen(function*() {
      const store = yield* MemoryStore.makeMemory
      const { started, strategy } = yield* makeSlow
      yield* Effect.scoped(Effect.gen(function*() {
        const memory = yield* makeMemory({ maxTokens: 42, strategy, store })
        yield* memory.recordAll(turns(5))
        yield* Effect.fork(memory.context)
        yield* started
      }))
      assert.isUndefined((yield* store.load("default")).compaction)
      yield* Effect.scoped(Effect.gen(function*() {
        const memory = yield* makeMemory({ store })
        assert.deepStrictEqual(yield* memory.context, turns(5))
      }))
    }))
})

describe("when the store fails or others write", () => {
  it.scoped("a compaction that cannot be stored loses nothing", () =>
    Effect.gen(function*() {
      const inner = yield* MemoryStore.makeMemory
      const down = new MemoryError.MemoryStoreError({
        reason: "unavailable",
        operation: "compact",
        conversation: "default",
        detail: "the disk is full"
      })
      let isDown = true
      const store: MemoryStore.Service = {
        ...inner,
        compact: (...args) => Effect.suspend(() => isDown ? Effect.fail(down) : inner.compact(...args))
      }
      const { finish, requests, strategy } = yield* makeSlow
      yield* finish
      const memory = yield* makeMemory({ maxTokens: 42, strategy, store })
      yield* memory.recordAll(turns(5))
      assert.strictEqual(summariesIn(yield* memory.context), 0)
      assert.strictEqual(summariesIn(yield* memory.context), 0)
      assert.strictEqual(requests.length, 1, "the summarizer is not asked again before the back-off")
      assert.deepStrictEqual((yield* inner.load("default")).entries.map(({ message }) => message), turns(5))
      isDown = false
      yield* TestClock.adjust("1 second")
      assert.strictEqual(summariesIn(yield* memory.context), 1)
      const log = Array.from(yield* Stream.runCollect(memory.history), ({ message }) => message)
      assert.deepStrictEqual(log, turns(5))
    }))

  it.scoped("two memories of one conversation commit one summary of each range", () =>
    Effect.gen(function*() {
      const store = yield* MemoryStore.makeMemory
      const slow = [yield* makeSlow, yield* makeSlow]
      const memories = yield* Effect.forEach(slow, ({ strategy }) => makeMemory({ maxTokens: 42, strategy, store }))
      yield* memories[0].recordAll(turns(5))
      const contexts = yield* Effect.forEach(memories, (memory) => Effect.fork(memory.context))
      for (const { started } of slow) yield* started
      for (const { finish } of slow) yield* finish
      for (const context of contexts) {
        const messages = yield* Fiber.join(context)
        assert.strictEqual(summariesIn(messages), 1)
        assert.deepStrictEqual(words(messages).slice(-2), texts(turns(1, 5)))
      }
      const { compaction } = yield* store.load("default")
      assert.strictEqual(compaction?.messages.length, 1)
      for (const memory of memories) assert.strictEqual(summariesIn(yield* memory.context), 1)
    }))

  it.scoped("a compaction in the tool loop right after one before the turn finds nothing left to do", () =>
    Effect.gen(function*() {
      const { finish, requests, strategy } = yield* makeSlow
      yield* finish
      const memory = yield* makeMemory({ maxTokens: 42, strategy })
      yield* memory.recordAll(turns(5))
      const before = yield* memory.context
      for (let i = 0; i < 10; i++) assert.deepStrictEqual(yield* memory.context, before)
      assert.strictEqual(requests.length, 1)
    }))
})
