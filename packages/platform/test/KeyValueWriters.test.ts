import { FileSystem, KeyValueStore } from "@effect/platform"
import { NodeContext } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { KeyValueMemoryStore } from "@effect-memory/platform"
import { Context, Effect, Either, Exit, Fiber, Layer, Stream } from "effect"
import { Memory, MemoryStore, Message, TokenCounter, TrimStrategy } from "effect-memory"
import { nameOf } from "../src/internal/storeConversation.js"
import * as slots from "../src/internal/storeSlots.js"
import { append, clear, compact, count, Disk, entry, type Operation, viewOf } from "./disk.js"

const memoryOver = (store: MemoryStore.Service) =>
  Memory.make({ id: "chat" }).pipe(
    Effect.provideService(MemoryStore.MemoryStore, store),
    Effect.provideService(TrimStrategy.TrimStrategy, TrimStrategy.windowDrop()),
    Effect.provideService(TokenCounter.TokenCounter, TokenCounter.characters)
  )

const textsOf = (store: MemoryStore.Service, id = "chat") =>
  Effect.map(
    Stream.runCollect(store.history(id)),
    (entries) =>
      Array.from(entries, ({ message }) => Message.parts(message).map((part) => "text" in part ? part.text : ""))
        .flat()
  )

const record200 = (memories: ReadonlyArray<Memory.Service>) =>
  Effect.forEach(
    Array.from({ length: 200 }, (_, i) => i),
    (i) => memories[i % memories.length].record(Message.user(`m${i}`)),
    { concurrency: "unbounded", discard: true }
  )

const expected200 = Array.from({ length: 200 }, (_, i) => `m${i}`).sort()

describe("KeyValueMemoryStore with several writers", () => {
  it.scoped("two layers over one directory know of each other, and nothing is left of them", () =>
    Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const directory = `${yield* fs.makeTempDirectoryScoped()}/conversations`
      const opened = Layer.build(KeyValueMemoryStore.layerFileSystem(directory)).pipe(
        Effect.map(Context.get(MemoryStore.MemoryStore))
      )
      yield* Effect.gen(function*() {
        const first = yield* opened
        const second = yield* opened
        yield* first.append("chat", 0, [entry(0)])
        yield* second.load("chat")
        yield* first.append("chat", 1, [entry(1)])
        const conflict = yield* Effect.flip(second.append("chat", 1, [{ ...entry(1), id: "another" }]))
        assert.strictEqual(conflict.reason, "conflict")
        yield* record200([yield* memoryOver(first), yield* memoryOver(second)])
        assert.strictEqual((yield* second.load("chat")).nextSequence, 202)
      }).pipe(Effect.scoped)
      yield* fs.remove(directory, { recursive: true })
      const anew = yield* opened
      assert.strictEqual((yield* anew.load("chat")).nextSequence, 0)
      yield* anew.append("chat", 0, [entry(0)])
    }).pipe(Effect.provide(NodeContext.layer)))

  it.scoped("200 appends at once through two memories over one store", () =>
    Effect.gen(function*() {
      const disk = new Disk()
      const store = yield* disk.memories
      yield* record200([yield* memoryOver(store), yield* memoryOver(store)])
      assert.deepStrictEqual([...yield* textsOf(yield* new Disk(disk.values).memories)].sort(), expected200)
    }))

  it.scoped("200 appends at once through two stores over one key-value store", () =>
    Effect.gen(function*() {
      const disk = new Disk()
      const memories = [yield* memoryOver(yield* disk.memories), yield* memoryOver(yield* disk.memories)]
      yield* record200(memories)
      assert.deepStrictEqual([...yield* textsOf(yield* new Disk(disk.values).memories)].sort(), expected200)
    }))

  it.scoped("200 appends at once on disk, and a restart", () =>
    Effect.gen(function*() {
      const directory = yield* Effect.flatMap(FileSystem.FileSystem, (fs) => fs.makeTempDirectoryScoped())
      const layer = KeyValueMemoryStore.layerFileSystem(directory)
      yield* Effect.scoped(Effect.gen(function*() {
        const store = yield* MemoryStore.MemoryStore
        yield* record200([yield* memoryOver(store), yield* memoryOver(store)])
      })).pipe(Effect.provide(layer))
      const texts = yield* Effect.flatMap(MemoryStore.MemoryStore, textsOf).pipe(Effect.provide(Layer.fresh(layer)))
      assert.deepStrictEqual([...texts].sort(), expected200)
    }).pipe(Effect.provide(NodeContext.layer)))

  it.effect("a conversation that is cleared while its history is read is a conflict", () =>
    Effect.gen(function*() {
      const store = yield* new Disk().memories
      for (let i = 0; i < 20; i++) yield* append("a")(store)
      const read = yield* store.history("a").pipe(
        Stream.rechunk(1),
        Stream.tap(({ sequence }) => sequence === 0 ? store.clear("a") : Effect.void),
        Stream.runCollect,
        Effect.flip
      )
      assert.strictEqual(read.reason, "conflict")
    }))

  it.effect("a history that is read while the log goes on is that of its beginning, in order", () =>
    Effect.gen(function*() {
      const store = yield* new Disk().memories
      for (let i = 0; i < 30; i++) yield* append("a")(store)
      const read = yield* store.history("a").pipe(Stream.tap(() => append("a")(store)), Stream.runCollect)
      assert.deepStrictEqual(Array.from(read, ({ sequence }) => sequence), Array.from({ length: 30 }, (_, i) => i))
    }))
})

/** A key-value store that interrupts a fiber when it is called for the nth time. */
const interrupting = ({ store }: Disk, at: number) => {
  let calls = 0
  let cut = 0
  let target: Fiber.RuntimeFiber<unknown, unknown> | undefined
  const around = <A, E>(effect: Effect.Effect<A, E>): Effect.Effect<A, E> =>
    Effect.suspend(() =>
      target === undefined || ++calls !== at ? effect : Fiber.interruptFork(target).pipe(
        Effect.zipRight(Effect.repeatN(Effect.yieldNow(), 3)),
        Effect.zipRight(effect)
      )
    )
  return {
    calls: () => calls,
    /** Writes that did not come to their end. */
    cut: () => cut,
    aim: (fiber: Fiber.RuntimeFiber<unknown, unknown> | undefined) => {
      target = fiber
    },
    store: KeyValueStore.make({
      ...store,
      get: (key) => around(store.get(key)),
      has: (key) => around(store.has(key)),
      set: (key, value) => Effect.onInterrupt(around(store.set(key, value)), () => Effect.sync(() => cut++)),
      remove: (key) => around(store.remove(key))
    })
  }
}

describe("KeyValueMemoryStore that is interrupted", () => {
  const operations: Readonly<Record<string, Operation>> = {
    append: append("a", 3),
    compact: compact("a", { from: 0, upTo: 5, keep: [1] }),
    restore: compact("a", undefined),
    saveCounts: count("a", [0, 1]),
    clear: clear("a"),
    "a first append": append("b"),
    load: ({ load }) => load("a")
  }
  for (const [name, operation] of Object.entries(operations)) {
    it.effect(`${name} happens wholly or not at all, and others go on`, () =>
      Effect.gen(function*() {
        const prepared = new Disk()
        const first = yield* prepared.memories
        for (let i = 0; i < 15; i++) yield* append("a")(first)
        const before = yield* viewOf(first, ["a", "b"])
        const done = new Disk(prepared.values)
        const model = yield* done.memories
        yield* operation(model)
        const after = yield* viewOf(model, ["a", "b"])
        let reached = true
        for (let at = 1; reached; at++) {
          const disk = new Disk(prepared.values)
          const { aim, calls, cut, store: slow } = interrupting(disk, at)
          const store = yield* Effect.provideService(KeyValueMemoryStore.make, KeyValueStore.KeyValueStore, slow)
          const fiber = yield* Effect.fork(operation(store))
          aim(fiber)
          const exit = yield* Fiber.await(fiber)
          aim(undefined)
          reached = calls() >= at
          assert.strictEqual(cut(), 0)
          if (!reached) assert.isTrue(Exit.isSuccess(exit))
          const seen = yield* viewOf(store, ["a", "b"])
          if (reached && JSON.stringify(seen) === JSON.stringify(before)) {
            assert.isTrue(Exit.isFailure(exit) || name === "load", `at call ${at}`)
          } else {
            assert.deepStrictEqual(seen, after, `at call ${at}`)
          }
          assert.deepStrictEqual(yield* viewOf(yield* new Disk(disk.values).memories, ["a", "b"]), seen)
          yield* append("b")(store)
        }
      }))
  }
})

describe("keys", () => {
  const ids = [
    "",
    ".",
    "..",
    "a",
    "A",
    "a.b",
    "a/b",
    "../../etc/passwd",
    "C:\\x",
    "nul",
    "é",
    "e\u0301",
    "_0041",
    "\ud800",
    "\u0000",
    "x".repeat(5000),
    "x".repeat(5001),
    "🦜".repeat(300)
  ]

  it.effect("are safe as names of files, whatever the id, and never the same", () =>
    Effect.gen(function*() {
      for (const id of ids) assert.match(nameOf(id), /^[a-z0-9_-]{0,85}\.[0-9a-f]{8}$/)
      const disk = new Disk()
      const store = yield* disk.memories
      for (const id of ids) yield* store.append(id, 0, [entry(0, id.slice(0, 5001).toWellFormed())])
      const keys = Array.from(disk.values.keys())
      assert.strictEqual(new Set(keys.map((key) => key.toLowerCase())).size, keys.length)
      for (const key of keys) assert.match(key, /^[a-z0-9_.-]{1,130}$/)
      const reopened = yield* new Disk(disk.values).memories
      for (const id of ids) assert.deepStrictEqual(yield* textsOf(reopened, id), [id.toWellFormed()])
      assert.deepStrictEqual(Array.from(yield* Stream.runCollect(reopened.list)).sort(), [...ids].sort())
    }))

  it.effect("ids with the same name do not mix", () =>
    Effect.gen(function*() {
      const pair = ["aw3k9w", "dwez7q"].map((end) => "x".repeat(80) + end)
      assert.strictEqual(nameOf(pair[0]), nameOf(pair[1]))
      const disk = new Disk()
      const store = yield* disk.memories
      for (const id of pair) yield* store.append(id, 0, [entry(0, id)])
      yield* store.clear(pair[0])
      for (const reopened of [store, yield* new Disk(disk.values).memories]) {
        assert.deepStrictEqual(yield* textsOf(reopened, pair[0]), [])
        assert.deepStrictEqual(yield* textsOf(reopened, pair[1]), [pair[1]])
      }
    }))

  it.effect("clearing leaves no key of what was forgotten", () =>
    Effect.gen(function*() {
      const disk = new Disk()
      const store = yield* disk.memories
      for (let i = 0; i < 300; i++) yield* store.append("a", i, [entry(i, "forget me")])
      yield* store.clear("a")
      const text = Array.from(disk.values.values(), (value) => new TextDecoder().decode(value)).join()
      assert.notInclude(text, "forget me")
      assert.isAtMost(disk.values.size, 4)
    }))

  it.effect("what an interrupted clear left is removed when the conversation is opened again", () =>
    Effect.gen(function*() {
      const prepared = new Disk()
      const first = yield* prepared.memories
      for (let i = 0; i < 36; i++) yield* first.append("a", i, [entry(i, "forget me")])
      let at = 1
      for (let crashed = true; crashed; at++) {
        const disk = new Disk(prepared.values, { at, cut: () => undefined, how: "dies" })
        crashed = Exit.isFailure(yield* Effect.exit(Effect.flatMap(disk.memories, ({ clear }) => clear("a"))))
        const reopened = new Disk(disk.values)
        const { entries } = yield* Effect.flatMap(reopened.memories, ({ load }) => load("a"))
        const left = Array.from(reopened.values.values()).some((value) =>
          new TextDecoder().decode(value).includes("forget me")
        )
        assert.strictEqual(left, entries.length > 0, `at write ${at}`)
      }
      // The first record of the next log, its head, then two segments and four records.
      assert.isAtLeast(at, 2 + 6)
    }))

  it.effect("what an interrupted merge left is removed when the conversation is opened again", () =>
    Effect.gen(function*() {
      const prepared = new Disk()
      const first = yield* prepared.memories
      for (let i = 0; i < 15; i++) yield* append("a")(first)
      for (let at = 1; at <= 18; at++) {
        const disk = new Disk(prepared.values, { at, cut: () => undefined, how: "dies" })
        assert.isTrue(Exit.isFailure(yield* Effect.exit(Effect.flatMap(disk.memories, append("a")))))
        const reopened = new Disk(disk.values)
        const store = yield* reopened.memories
        yield* store.load("a")
        // List, head, and one segment or the records that were to be one.
        assert.include([2 + 1, 2 + 15, 2 + 16], reopened.values.size, `at write ${at}`)
        yield* store.clear("a")
        assert.strictEqual(reopened.values.size, 4)
      }
    }))

  it.effect("grow in number with the logarithm of the records", () =>
    Effect.gen(function*() {
      const disk = new Disk()
      const store = yield* disk.memories
      let most = 0
      for (let i = 0; i < 600; i++) {
        yield* store.append("a", i, [entry(i)])
        most = Math.max(most, disk.values.size)
      }
      assert.isAtMost(most, 2 + 16 + 16 + 3)
    }))
})

describe("slots", () => {
  it.effect("that nobody uses are forgotten, the oldest first; those in use are not", () =>
    Effect.gen(function*() {
      const kept = slots.make<string>(2)
      const note = (id: string) => kept.use(id, (slot) => Effect.sync(() => slot.known = id))
      yield* Effect.forEach(["a", "b", "c"], note, { concurrency: 1, discard: true })
      assert.strictEqual(yield* kept.size, 2)
      assert.strictEqual(yield* kept.use("a", ({ known }) => Effect.succeed(known)), undefined)
      assert.strictEqual(yield* kept.use("c", ({ known }) => Effect.succeed(known)), "c")
      const held = yield* Effect.forEach(
        Array.from({ length: 10 }, (_, i) => `held${i}`),
        (id) => Effect.fork(kept.use(id, () => Effect.never)),
        { concurrency: 1 }
      )
      yield* Effect.yieldNow()
      assert.isAtLeast(yield* kept.size, 10)
      const waiting = yield* Effect.fork(Effect.either(kept.use("held0", () => Effect.fail("no"))))
      yield* Effect.yieldNow()
      yield* Fiber.interruptAll(held)
      assert.deepStrictEqual(yield* Fiber.join(waiting), Either.left("no"))
      assert.isAtMost(yield* kept.size, 2)
    }))
})
