import { assert, describe, it } from "@effect/vitest"
import { Chunk, Effect, Exit, Fiber, Layer, Ref, Stream, TestClock } from "effect"
import { Memory, MemoryError, MemoryStore, Message, TrimStrategy } from "effect-memory"
import { makeMemory, rounds, texts } from "./utilities.js"

const { system, user } = Message

/** A store whose every operation takes 10 ms before and 10 ms after it happens. */
const slow = (store: MemoryStore.Service): MemoryStore.Service => {
  const around = <A, E>(operation: Effect.Effect<A, E>) =>
    operation.pipe(Effect.delay("10 millis"), Effect.zipLeft(Effect.sleep("10 millis")))
  return {
    ...store,
    append: (...args) => around(store.append(...args)),
    load: (id) => around(store.load(id)),
    compact: (...args) => around(store.compact(...args)),
    saveCounts: (...args) => around(store.saveCounts(...args)),
    clear: (id) => around(store.clear(id))
  }
}

/** A store that fails, once armed, before or after one operation happens. */
const failing = Effect.fnUntraced(function*(store: MemoryStore.Service, when: "before" | "after") {
  const armed = yield* Ref.make<string | undefined>(undefined)
  const error = (operation: string) =>
    new MemoryError.MemoryStoreError({
      reason: "unavailable",
      operation,
      conversation: "default",
      detail: "the storage is down: try again later"
    })
  const guard = <A>(name: string, operation: Effect.Effect<A, MemoryError.MemoryStoreError>) =>
    Effect.flatMap(Ref.get(armed), (target) =>
      target !== name ? operation : Ref.set(armed, undefined).pipe(
        Effect.zipRight(when === "after" ? operation : Effect.void),
        Effect.zipRight(Effect.fail(error(name)))
      ))
  const service: MemoryStore.Service = {
    ...store,
    append: (...args) => guard("append", store.append(...args)),
    load: (id) => guard("load", store.load(id)),
    compact: (...args) => guard("compact", store.compact(...args)),
    saveCounts: (...args) => guard("saveCounts", store.saveCounts(...args)),
    clear: (id) => guard("clear", store.clear(id))
  }
  return { service, arm: (name: string) => Ref.set(armed, name) }
})

const summaryOf = ({ messages, newest }: TrimStrategy.TrimInput) =>
  Effect.succeed({ messages: [system("sum"), ...messages.slice(newest)], replace: true })

const logged = (store: MemoryStore.Service) =>
  Effect.map(
    Stream.runCollect(store.history("default")),
    (entries) => texts(Chunk.toReadonlyArray(entries).map((entry) => entry.message))
  )

describe("interruption", () => {
  for (let at = 0; at <= 60; at += 5) {
    it.scoped(`record stores wholly or not at all: interrupted after ${at} ms`, () =>
      Effect.gen(function*() {
        const store = yield* MemoryStore.makeMemory
        const memory = yield* makeMemory({ maxTokens: 100, store: slow(store) })
        const recording = yield* Effect.fork(memory.recordAll(rounds(2)))
        yield* TestClock.adjust(at)
        yield* Fiber.interrupt(recording)
        const stored = yield* logged(store)
        assert.include([0, 4], stored.length)
        const more = yield* Effect.fork(Effect.zipRight(memory.record(user("u9")), memory.context))
        yield* TestClock.adjust("1 second")
        assert.deepStrictEqual(texts(yield* Fiber.join(more)), [...stored, "u9"], "what is there is seen")
        assert.deepStrictEqual(yield* logged(store), [...stored, "u9"])
      }))

    it.scoped(`context leaves the conversation whole: interrupted after ${at} ms`, () =>
      Effect.gen(function*() {
        const store = yield* MemoryStore.makeMemory
        yield* Effect.scoped(Effect.flatMap(makeMemory({ store }), (memory) => memory.recordAll(rounds(5))))
        const memory = yield* makeMemory({ maxTokens: 4, store: slow(store), strategy: TrimStrategy.make(summaryOf) })
        const reading = yield* Effect.fork(memory.context)
        yield* TestClock.adjust(at)
        yield* Fiber.interrupt(reading)
        const again = yield* Effect.fork(memory.context)
        yield* TestClock.adjust("1 second")
        assert.deepStrictEqual(texts(yield* Fiber.join(again)), ["sum", "u5", "a5"])
        assert.deepStrictEqual(yield* logged(store), texts(rounds(5)))
        assert.strictEqual((yield* store.load("default")).revision, 1, "one compaction, not two")
      }))
  }

  it.effect("a compaction ends with the layer, and the next memory starts from what is stored", () =>
    Effect.gen(function*() {
      const store = yield* MemoryStore.makeMemory
      const layer = Layer.scoped(
        Memory.Memory,
        makeMemory({ maxTokens: 4, store, strategy: TrimStrategy.make(() => Effect.never) })
      )
      const run = yield* Effect.fork(
        Effect.flatMap(Memory.Memory, (memory) => Effect.zipRight(memory.recordAll(rounds(5)), memory.context)).pipe(
          Effect.provide(layer)
        )
      )
      yield* TestClock.adjust("1 second")
      yield* Fiber.interrupt(run)
      const memory = yield* makeMemory({ maxTokens: 4, store })
      assert.deepStrictEqual(texts(yield* memory.context), ["u4", "a4", "u5", "a5"])
    }).pipe(Effect.scoped))
})

describe("a store that fails", () => {
  for (const when of ["before", "after"] as const) {
    it.scoped(`append ${when}: the error is typed, and nothing is lost or doubled`, () =>
      Effect.gen(function*() {
        const store = yield* MemoryStore.makeMemory
        const { arm, service } = yield* failing(store, when)
        const memory = yield* makeMemory({ maxTokens: 100, store: service })
        yield* memory.record(user("u1"))
        yield* arm("append")
        const error = yield* Effect.flip(memory.record(user("u2")))
        assert.strictEqual(error._tag, "MemoryStoreError")
        yield* memory.record(user("u3"))
        const expected = when === "after" ? ["u1", "u2", "u3"] : ["u1", "u3"]
        assert.deepStrictEqual(yield* logged(store), expected)
        assert.deepStrictEqual(texts(yield* memory.context), expected)
      }))

    it.scoped(`compact ${when}: the conversation is what the store says`, () =>
      Effect.gen(function*() {
        const store = yield* MemoryStore.makeMemory
        const { arm, service } = yield* failing(store, when)
        const memory = yield* makeMemory({ maxTokens: 4, store: service, strategy: TrimStrategy.make(summaryOf) })
        yield* memory.recordAll(rounds(5))
        yield* arm("compact")
        yield* Effect.exit(memory.context)
        yield* TestClock.adjust("10 minutes")
        assert.deepStrictEqual(texts(yield* memory.context), ["sum", "u5", "a5"])
        assert.deepStrictEqual(yield* logged(store), texts(rounds(5)))
      }))

    it.scoped(`saveCounts ${when}: the context is had all the same`, () =>
      Effect.gen(function*() {
        const { arm, service } = yield* failing(yield* MemoryStore.makeMemory, when)
        const memory = yield* makeMemory({ maxTokens: 100, store: service })
        yield* memory.recordAll(rounds(2))
        yield* arm("saveCounts")
        assert.strictEqual((yield* memory.context).length, 4)
      }))

    it.scoped(`clear ${when}: the conversation is what the store says`, () =>
      Effect.gen(function*() {
        const store = yield* MemoryStore.makeMemory
        const { arm, service } = yield* failing(store, when)
        const memory = yield* makeMemory({ maxTokens: 100, store: service })
        yield* memory.recordAll(rounds(1))
        yield* arm("clear")
        assert.isTrue(Exit.isFailure(yield* Effect.exit(memory.clear)))
        assert.deepStrictEqual(texts(yield* memory.context), yield* logged(store))
      }))
  }

  it.scoped("load: every operation says so, and works again when the store does", () =>
    Effect.gen(function*() {
      const store = yield* MemoryStore.makeMemory
      const { arm, service } = yield* failing(store, "before")
      const memory = yield* makeMemory({ maxTokens: 100, store: service })
      const operations: ReadonlyArray<Effect.Effect<unknown, MemoryError.MemoryError>> = [
        memory.record(user("u1")),
        memory.context,
        memory.usage,
        memory.plan,
        memory.compact
      ]
      for (const operation of operations) {
        yield* arm("load")
        assert.strictEqual((yield* Effect.flip(operation))._tag, "MemoryStoreError")
      }
      yield* memory.record(user("u2"))
      assert.deepStrictEqual(texts(yield* memory.context), ["u2"])
    }))
})

describe("a counter that fails", () => {
  it.scoped("fails the context, loses nothing, and counts only what is missing when it works again", () =>
    Effect.gen(function*() {
      const broken = yield* Ref.make(true)
      const counted: Array<string> = []
      const counter = {
        id: "flaky",
        overhead: 0,
        count: (text: string) => Effect.succeed(text.length),
        countMessage: (message: Message.Message) =>
          Effect.flatMap(Ref.get(broken), (isBroken) => {
            const [text] = texts([message])
            if (isBroken && text === "a1") {
              return new MemoryError.TokenCountError({ counter: "flaky", reason: "no answer: try again" })
            }
            counted.push(text)
            return Effect.succeed(1)
          })
      }
      const memory = yield* makeMemory({ maxTokens: 100, counter })
      yield* memory.recordAll(rounds(1))
      assert.strictEqual((yield* Effect.flip(memory.context))._tag, "TokenCountError")
      yield* memory.record(user("u2"))
      yield* Ref.set(broken, false)
      assert.deepStrictEqual(texts(yield* memory.context), ["u1", "a1", "u2"])
      assert.deepStrictEqual(counted.slice().sort(), ["a1", "u1", "u2"], "each once")
    }))

  it.scoped("that hangs holds up no recording, and a caller can give up", () =>
    Effect.gen(function*() {
      const counter = { id: "hanging", overhead: 0, count: () => Effect.never, countMessage: () => Effect.never }
      const store = yield* MemoryStore.makeMemory
      const memory = yield* makeMemory({ maxTokens: 100, counter, store })
      yield* memory.record(user("u1"))
      const reading = yield* Effect.fork(Effect.timeoutOption(memory.context, "1 second"))
      yield* TestClock.adjust("500 millis")
      yield* memory.record(user("u2"))
      yield* TestClock.adjust("1 second")
      assert.strictEqual((yield* Fiber.join(reading))._tag, "None")
      assert.deepStrictEqual(yield* logged(store), ["u1", "u2"])
    }))
})
