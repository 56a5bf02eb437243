import { assert, describe, it } from "@effect/vitest"
import { Chunk, Effect, FastCheck, Fiber, Schedule, Stream, TestClock } from "effect"
import type { Memory } from "effect-memory"
import { type MemoryEvent, MemoryStore, Message, TrimStrategy } from "effect-memory"
import { makeMemory, rounds, runs, texts } from "./utilities.js"

const { assistant, system, user } = Message

const logged = (store: MemoryStore.Service, id = "default") =>
  Effect.map(Stream.runCollect(store.history(id)), Chunk.toReadonlyArray)

/** Each writer's messages are there once, in the order in which it recorded them. */
const assertComplete = (log: ReadonlyArray<string>, writers: number, each: number) => {
  assert.strictEqual(log.length, writers * each)
  const next = Array.from({ length: writers }, () => 0)
  for (const text of log) {
    const [writer, n] = text.split(" ").map(Number)
    assert.strictEqual(n, next[writer]++, `writer ${writer}`)
  }
}

const writer = (memory: Memory.Service, id: number, each: number) =>
  Effect.forEach(
    Array.from({ length: each }, (_, n) => n),
    (n) => memory.record(user(`${id} ${n}`)).pipe(Effect.zipLeft(Effect.yieldNow())),
    { discard: true }
  )

describe("many fibers", () => {
  it.scoped("100 record and read: each sees all that it has recorded itself, in order", () =>
    Effect.gen(function*() {
      const memory = yield* makeMemory({})
      yield* Effect.forEach(
        Array.from({ length: 100 }, (_, id) => id),
        (id) =>
          Effect.gen(function*() {
            yield* writer(memory, id, 3)
            const own = texts(yield* memory.context).filter((text) => text.startsWith(`${id} `))
            assert.deepStrictEqual(own, [`${id} 0`, `${id} 1`, `${id} 2`])
          }),
        { concurrency: "unbounded", discard: true }
      )
    }))

  it.scoped("1,000 record and read: each message is there once, each writer's in order", () =>
    Effect.gen(function*() {
      const store = yield* MemoryStore.makeMemory
      const memory = yield* makeMemory({ maxTokens: 40, store })
      yield* Effect.forEach(
        Array.from({ length: 1000 }, (_, id) => id),
        (id) =>
          Effect.gen(function*() {
            yield* writer(memory, id, 3)
            assert.isAtMost((yield* memory.context).length, 40)
          }),
        { concurrency: "unbounded", discard: true }
      )
      assertComplete((yield* logged(store)).map(({ message }) => texts([message])[0]), 1000, 3)
    }))

  it.scoped("writers of one memory wait for each other, and never for a conflict", () =>
    Effect.gen(function*() {
      const store = yield* MemoryStore.makeMemory
      let appends = 0
      const slow: MemoryStore.Service = {
        ...store,
        append: (...args) =>
          Effect.suspend(() => {
            appends++
            return store.append(...args)
          }).pipe(Effect.delay("10 millis"))
      }
      const memory = yield* makeMemory({ store: slow })
      const writers = yield* Effect.fork(
        Effect.forEach(Array.from({ length: 20 }, (_, id) => id), (id) => writer(memory, id, 2), {
          concurrency: "unbounded",
          discard: true
        })
      )
      yield* TestClock.adjust("1 second")
      yield* Fiber.join(writers)
      assertComplete((yield* logged(store)).map(({ message }) => texts([message])[0]), 20, 2)
      assert.strictEqual(appends, 40)
    }))

  it.scoped("two memories over one conversation lose and double nothing", () =>
    Effect.gen(function*() {
      const store = yield* MemoryStore.makeMemory
      const memories = [yield* makeMemory({ maxTokens: 40, store }), yield* makeMemory({ maxTokens: 40, store })]
      yield* Effect.forEach(
        Array.from({ length: 50 }, (_, id) => id),
        (id) => Effect.zipRight(writer(memories[id % 2], id, 4), memories[id % 2].context),
        { concurrency: "unbounded", discard: true }
      )
      const log = yield* logged(store)
      assertComplete(log.map(({ message }) => texts([message])[0]), 50, 4)
      assert.deepStrictEqual(log.map((entry) => entry.sequence), log.map((_, i) => i))
      yield* memories[0].record(user("last"))
      yield* memories[1].record(user("very last"))
      yield* memories[0].record(user("end"))
      yield* memories[0].setMaxTokens(undefined)
      assert.deepStrictEqual(texts(yield* memories[0].context), texts((yield* logged(store)).map((e) => e.message)))
    }))

  it.scoped("a memory that records after another one has cleared the conversation shows nothing of before", () =>
    Effect.gen(function*() {
      const store = yield* MemoryStore.makeMemory
      const a = yield* makeMemory({ store })
      const b = yield* makeMemory({ store })
      yield* b.recordAll(rounds(2))
      yield* a.clear
      yield* b.record(user("u3"))
      assert.deepStrictEqual(texts(yield* b.context), ["u3"])
    }))

  it.scoped("two memories over one store with ids of their own do not mix", () =>
    Effect.gen(function*() {
      const store = yield* MemoryStore.makeMemory
      const a = yield* makeMemory({ id: "a", store })
      const b = yield* makeMemory({ id: "b", store })
      yield* Effect.all([writer(a, 0, 20), writer(b, 1, 20)], { concurrency: 2 })
      assert.isTrue(texts(yield* a.context).every((text) => text.startsWith("0 ")))
      assert.isTrue(texts(yield* b.context).every((text) => text.startsWith("1 ")))
    }))

  it.scoped("200 contexts at once run a strategy once", () =>
    Effect.gen(function*() {
      let calls = 0
      const strategy = TrimStrategy.make(({ messages, newest }) =>
        Effect.sync(() => {
          calls++
          return { messages: [system("sum"), ...messages.slice(newest)], replace: true }
        }).pipe(Effect.delay("1 second"))
      )
      const memory = yield* makeMemory({ maxTokens: 4, strategy })
      yield* memory.recordAll(rounds(9))
      const readers = yield* Effect.fork(
        Effect.all(Array.from({ length: 200 }, () => memory.context), { concurrency: "unbounded" })
      )
      yield* TestClock.adjust("1 second")
      for (const context of yield* Fiber.join(readers)) assert.deepStrictEqual(texts(context), ["sum", "u9", "a9"])
      assert.strictEqual(calls, 1)
    }))

  it.scoped("a context that was asked for after a message holds it, though a projection was under way", () =>
    Effect.gen(function*() {
      const strategy = TrimStrategy.make(({ messages, newest }) =>
        Effect.succeed({ messages: messages.slice(newest), replace: false }).pipe(Effect.delay("1 second"))
      )
      const memory = yield* makeMemory({ maxTokens: 3, strategy })
      yield* memory.recordAll(rounds(4))
      const before = yield* Effect.fork(memory.context)
      yield* TestClock.adjust("500 millis")
      yield* memory.record(user("u5"))
      const after = yield* Effect.fork(memory.context)
      yield* TestClock.adjust("10 seconds")
      assert.include(texts(yield* Fiber.join(after)), "u5")
      assert.include(texts(yield* Fiber.join(before)), "a4")
    }))
})

describe("back-off", () => {
  it.scoped("waits 1 s, 2 s, 4 s and so on up to 5 min, and starts anew after a success", () =>
    Effect.gen(function*() {
      const tries: Array<number> = []
      let fails = true
      const strategy = TrimStrategy.make(({ messages, newest }) =>
        Effect.gen(function*() {
          tries.push(yield* TestClock.currentTimeMillis)
          if (fails) return yield* Effect.die("broken")
          return { messages: [system("sum"), ...messages.slice(newest)], replace: true }
        })
      )
      const memory = yield* makeMemory({ maxTokens: 4, strategy })
      yield* memory.recordAll(rounds(5))
      for (let second = 0; second < 1400; second++) {
        assert.deepStrictEqual(texts(yield* memory.context), ["u4", "a4", "u5", "a5"], "whole rounds are dropped")
        yield* TestClock.adjust("1 second")
      }
      const waits = tries.slice(1).map((at, i) => (at - tries[i]) / 1000)
      assert.deepStrictEqual(waits, [1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300])
      fails = false
      yield* TestClock.adjust("5 minutes")
      assert.deepStrictEqual(texts(yield* memory.context), ["sum", "u5", "a5"])
      fails = true
      yield* memory.recordAll(rounds(4, 6))
      const failuresBefore = tries.length
      yield* memory.context
      yield* memory.context
      assert.strictEqual(tries.length, failuresBefore + 1)
      yield* TestClock.adjust("1 second")
      yield* memory.context
      assert.strictEqual(tries.length, failuresBefore + 2)
    }))

  it.scoped("follows the schedule that it was given, to its end", () =>
    Effect.gen(function*() {
      let tries = 0
      const strategy = TrimStrategy.make(() => Effect.suspend(() => Effect.die(++tries)))
      const memory = yield* makeMemory({ maxTokens: 4, strategy, backoff: Schedule.recurs(2) })
      yield* memory.recordAll(rounds(5))
      for (let i = 0; i < 10; i++) {
        assert.strictEqual((yield* memory.context).length, 4)
        yield* TestClock.adjust("1 hour")
      }
      assert.strictEqual(tries, 3)
    }))

  it.scoped("a strategy that hangs counts as failed after its time", () =>
    Effect.gen(function*() {
      const memory = yield* makeMemory({ maxTokens: 4, strategy: TrimStrategy.make(() => Effect.never) })
      yield* memory.recordAll(rounds(5))
      const reading = yield* Effect.fork(memory.context)
      yield* TestClock.adjust("2 minutes")
      assert.deepStrictEqual(texts(yield* Fiber.join(reading)), ["u4", "a4", "u5", "a5"])
    }))
})

describe("events", () => {
  it.scoped("tell what happened, in order, with no content", () =>
    Effect.gen(function*() {
      const strategy = TrimStrategy.make(({ messages, newest }) =>
        Effect.succeed({ messages: [system("sum"), ...messages.slice(newest)], replace: true })
      )
      const memory = yield* makeMemory({ maxTokens: 4, strategy })
      const seen: Array<MemoryEvent.MemoryEvent> = []
      yield* Effect.forkScoped(Stream.runForEach(memory.events, (event) => Effect.sync(() => seen.push(event))))
      yield* TestClock.adjust(0)
      yield* memory.recordAll(rounds(5))
      yield* memory.context
      yield* TestClock.adjust(0)
      assert.deepStrictEqual(seen.map((event) => event._tag), ["Recorded", "CompactionStarted", "CompactionCommitted"])
      assert.deepStrictEqual(seen[2], {
        _tag: "CompactionCommitted",
        conversation: "default",
        tokensBefore: 10,
        tokensAfter: 3
      })
      assert.notInclude(JSON.stringify(seen), "u5")
    }))

  it.scoped("hold up nothing when nobody reads them, or slowly", () =>
    Effect.gen(function*() {
      const memory = yield* makeMemory({ maxTokens: 4 })
      yield* Effect.forkScoped(Stream.runForEach(memory.events, () => Effect.never))
      yield* TestClock.adjust(0)
      for (let i = 0; i < 1000; i++) yield* memory.record(user(`u${i}`))
      assert.strictEqual((yield* memory.context).length, 4)
    }))
})

describe("a message is counted once", () => {
  it.effect.prop(
    "whatever is recorded, read, trimmed and written back at the same time",
    { sizes: FastCheck.array(FastCheck.integer({ min: 1, max: 5 }), { minLength: 1, maxLength: 20 }) },
    ({ sizes }) =>
      Effect.gen(function*() {
        const counted = new Map<Message.Message, number>()
        const counter = {
          id: "recording",
          overhead: 0,
          count: (text: string) => Effect.succeed(text.length),
          countMessage: (message: Message.Message) =>
            Effect.sync(() => counted.set(message, (counted.get(message) ?? 0) + 1)).pipe(
              Effect.zipRight(Effect.yieldNow()),
              Effect.as(1)
            )
        }
        const strategy = TrimStrategy.make(({ messages, newest }) =>
          Effect.succeed({ messages: [system("sum"), ...messages.slice(newest)], replace: true })
        )
        const memory = yield* makeMemory({ maxTokens: 5, counter, strategy })
        yield* Effect.forEach(
          sizes,
          (size, i) => Effect.zipRight(memory.recordAll([...rounds(size, i * 10), assistant("late")]), memory.context),
          { concurrency: "unbounded" }
        )
        yield* memory.context
        for (const [message, times] of counted) assert.strictEqual(times, 1, message.role)
      }).pipe(Effect.scoped),
    runs(100)
  )
})
