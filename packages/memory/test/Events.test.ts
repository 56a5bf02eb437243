import { assert, describe, it } from "@effect/vitest"
import { Chunk, Effect, Fiber, Stream } from "effect"
import { MemoryEvent, Message } from "effect-memory"
import { make as makeEvents } from "../src/internal/events.js"
import { makeMemory, rounds } from "./utilities.js"

const { user } = Message

/** Lets all fibers that can run go on. */
const settle = Effect.repeatN(Effect.yieldNow(), 50)

describe("events", () => {
  it.scoped("are made only while somebody listens", () =>
    Effect.gen(function*() {
      const { publish, stream } = yield* makeEvents
      let made = 0
      const tell = Effect.suspend(() =>
        publish(() => {
          made++
          return MemoryEvent.MemoryEvent.Repaired({ conversation: "c", messages: made })
        })
      )
      yield* tell
      assert.strictEqual(made, 0)
      const first = yield* Effect.fork(Stream.runCollect(Stream.take(stream, 1)))
      const second = yield* Effect.fork(Stream.runDrain(stream))
      yield* settle
      yield* tell
      yield* tell
      assert.strictEqual(made, 2)
      assert.strictEqual((yield* Fiber.join(first)).length, 1)
      yield* tell
      assert.strictEqual(made, 3)
      yield* Fiber.interrupt(second)
      yield* tell
      assert.strictEqual(made, 3)
    }))

  it.scoped("a slow reader misses the oldest and gets the newest", () =>
    Effect.gen(function*() {
      const memory = yield* makeMemory({})
      const goOn = yield* Effect.makeLatch()
      const seen: Array<MemoryEvent.MemoryEvent> = []
      yield* memory.events.pipe(
        Stream.runForEach((event) => Effect.zipRight(goOn.await, Effect.sync(() => seen.push(event)))),
        Effect.forkScoped
      )
      yield* settle
      for (let i = 0; i < 1000; i++) yield* memory.record(user(`u${i}`))
      yield* memory.recordProtected(user("last"))
      yield* goOn.open
      yield* Effect.repeatN(Effect.yieldNow(), 2000)
      assert.isAtMost(seen.length, 600)
      assert.isAtLeast(seen.length, 256)
      assert.deepStrictEqual(seen[seen.length - 1], {
        _tag: "Recorded",
        conversation: "default",
        messages: 1,
        protected: true
      })
    }))

  it.scoped("every reader gets them all, from when it began to read", () =>
    Effect.gen(function*() {
      const memory = yield* makeMemory({ id: "chat", maxTokens: 3 })
      yield* memory.recordAll(rounds(2))
      const readers = yield* Effect.forEach([1, 2], () => Effect.fork(Stream.runCollect(Stream.take(memory.events, 2))))
      yield* settle
      yield* memory.context
      yield* memory.record(user("u3"))
      for (const reader of readers) {
        assert.deepStrictEqual(Chunk.toReadonlyArray(yield* Fiber.join(reader)), [
          {
            _tag: "Trimmed",
            conversation: "chat",
            tokensBefore: 4,
            tokensAfter: 2,
            messagesBefore: 4,
            messagesAfter: 2
          },
          { _tag: "Recorded", conversation: "chat", messages: 1, protected: false }
        ])
      }
    }))

  it.effect("end with the memory", () =>
    Effect.gen(function*() {
      const reading = yield* Effect.scoped(Effect.gen(function*() {
        const memory = yield* makeMemory({})
        const reading = yield* Effect.forkDaemon(Stream.runCount(memory.events))
        yield* settle
        yield* memory.record(user("u1"))
        yield* settle
        return reading
      }))
      assert.strictEqual(yield* Fiber.join(reading), 1)
    }))
})
