import { assert, describe, it } from "@effect/vitest"
import { Chunk, Deferred, Effect, Exit, Fiber, Stream, TestClock } from "effect"
import { MemoryError, MemoryEvent, MemoryStore, Message, TokenCounter, TrimStrategy } from "effect-memory"
import { makeMemory, type MemoryParts, rounds, texts } from "./utilities.js"

const { assistant, system, tool, toolCall, toolResult, user } = Message

type Trim = TrimStrategy.Service["trim"]

const summarizeOld: Trim = ({ messages, newest }) =>
  Effect.succeed({ messages: [system("s"), ...messages.slice(newest)], replace: true })

/** A strategy that waits to be told before it does what it does. */
const makeHeld = Effect.fnUntraced(function*(trim: Trim) {
  const started = yield* Deferred.make<void>()
  const finish = yield* Deferred.make<void>()
  const strategy = TrimStrategy.make((input) =>
    Deferred.succeed(started, undefined).pipe(
      Effect.zipRight(Deferred.await(finish)),
      Effect.zipRight(trim(input))
    )
  )
  return { strategy, started: Deferred.await(started), finish: Deferred.succeed(finish, undefined) }
})

/** A memory and all that it tells from its first moment on. */
const makeWatched = Effect.fnUntraced(function*(parts: MemoryParts) {
  const memory = yield* makeMemory(parts)
  const events: Array<MemoryEvent.MemoryEvent> = []
  yield* memory.events.pipe(Stream.runForEach((event) => Effect.sync(() => events.push(event))), Effect.forkScoped)
  yield* settle
  return { memory, events }
})

/** Lets all fibers that can run go on. */
const settle = Effect.repeatN(Effect.yieldNow(), 50)

const tagged = <Tag extends MemoryEvent.MemoryEvent["_tag"]>(
  events: ReadonlyArray<MemoryEvent.MemoryEvent>,
  tag: Tag
): ReadonlyArray<Extract<MemoryEvent.MemoryEvent, { readonly _tag: Tag }>> =>
  events.filter(MemoryEvent.MemoryEvent.$is(tag))

const call = (...ids: ReadonlyArray<string>) => assistant(ids.map((id) => toolCall({ id, name: "f", params: {} })))
const result = (id: string) => tool([toolResult({ id, name: "f", result: id })])

describe("while a compaction runs", () => {
  it.scoped("what is recorded stands behind it", () =>
    Effect.gen(function*() {
      const { finish, started, strategy } = yield* makeHeld(summarizeOld)
      const memory = yield* makeMemory({ maxTokens: 5, strategy })
      yield* memory.recordAll(rounds(3))
      const context = yield* Effect.fork(memory.context)
      yield* started
      yield* memory.record(user("u4"))
      yield* memory.recordAll([assistant("a4"), user("u5")])
      yield* finish
      yield* Fiber.join(context)
      yield* memory.setMaxTokens(undefined)
      assert.deepStrictEqual(texts(yield* memory.context), ["s", "u3", "a3", "u4", "a4", "u5"])
    }))

  it.scoped("what is recorded stands behind it, also where the last message that it saw is covered", () =>
    Effect.gen(function*() {
      const withoutRemark: Trim = ({ messages }) =>
        Effect.succeed({ messages: [system("s"), ...messages.slice(2, 4)], replace: true })
      const { finish, started, strategy } = yield* makeHeld(withoutRemark)
      const store = yield* MemoryStore.makeMemory
      const memory = yield* makeMemory({ maxTokens: 5, strategy, store })
      yield* memory.recordAll([...rounds(2), system("a remark")])
      const context = yield* Effect.fork(memory.context)
      yield* started
      // Nothing of the first two can be handed out: one is empty, one answers nobody.
      yield* memory.recordAll([user(""), result("c9"), user("u3")])
      yield* finish
      yield* Fiber.join(context)
      assert.deepStrictEqual((yield* store.load("default")).entries.map(({ sequence }) => sequence), [2, 3, 5, 6, 7])
    }))

  it.scoped("a budget that is raised makes it needless, and it is told so", () =>
    Effect.gen(function*() {
      const { finish, started, strategy } = yield* makeHeld(summarizeOld)
      const store = yield* MemoryStore.makeMemory
      const { events, memory } = yield* makeWatched({ maxTokens: 5, strategy, store })
      yield* memory.recordAll(rounds(3))
      const context = yield* Effect.fork(memory.context)
      yield* started
      yield* memory.setMaxTokens(6)
      yield* finish
      assert.deepStrictEqual(yield* Fiber.join(context), rounds(3))
      yield* settle
      assert.deepStrictEqual(tagged(events, "CompactionDiscarded").map(({ reason }) => reason), ["sufficient"])
      assert.deepStrictEqual(tagged(events, "CompactionCommitted"), [])
      assert.isUndefined((yield* store.load("default")).compaction)
    }))

  it.scoped("what was recorded before it was found needless is counted all the same", () =>
    Effect.gen(function*() {
      const { finish, started, strategy } = yield* makeHeld(summarizeOld)
      const memory = yield* makeMemory({ maxTokens: 5, strategy })
      yield* memory.recordAll(rounds(3))
      const context = yield* Effect.fork(memory.context)
      yield* started
      yield* memory.recordAll(rounds(5, 4))
      yield* memory.setMaxTokens(1000)
      yield* finish
      assert.deepStrictEqual(yield* Fiber.join(context), rounds(8))
      assert.strictEqual((yield* memory.usage).tokens, 16)
      yield* memory.setMaxTokens(4)
      assert.isAtMost((yield* memory.context).length, 4)
    }))

  it.scoped("a budget that is lifted for rounds makes it needless too", () =>
    Effect.gen(function*() {
      const { finish, started, strategy } = yield* makeHeld(summarizeOld)
      const memory = yield* makeMemory({ maxRounds: 2, strategy })
      yield* memory.recordAll(rounds(3))
      const context = yield* Effect.fork(memory.context)
      yield* started
      yield* memory.setMaxRounds(undefined)
      yield* finish
      assert.deepStrictEqual(yield* Fiber.join(context), rounds(3))
    }))

  it.scoped("what is protected meanwhile takes its round along", () =>
    Effect.gen(function*() {
      const closedGroups: Trim = ({ messages }) =>
        Effect.succeed({ messages: [messages[0], system("s"), ...messages.slice(-2)], replace: true })
      const { finish, started, strategy } = yield* makeHeld(closedGroups)
      const store = yield* MemoryStore.makeMemory
      const { events, memory } = yield* makeWatched({ maxTokens: 6, strategy, store })
      yield* memory.recordAll([user("u1"), call("c1"), result("c1"), call("c2"), result("c2")])
      const context = yield* Effect.fork(memory.context)
      yield* started
      yield* memory.recordProtected(assistant("keep this"))
      yield* finish
      const expected = ["u1", "tool-call", "c1", "tool-call", "c2", "keep this"]
      assert.deepStrictEqual(texts(yield* Fiber.join(context)), expected)
      assert.deepStrictEqual(texts(yield* memory.context), expected)
      yield* settle
      assert.deepStrictEqual(tagged(events, "CompactionDiscarded").map(({ reason }) => reason), ["changed"])
      assert.isUndefined((yield* store.load("default")).compaction)
    }))

  it.scoped("the result of a call that the user interrupted still finds its call", () =>
    Effect.gen(function*() {
      const oldGroups: Trim = ({ messages }) =>
        Effect.succeed({
          messages: [...messages.filter(({ role }) => role === "user"), system("s"), ...messages.slice(-1)],
          replace: true
        })
      const { finish, started, strategy } = yield* makeHeld(oldGroups)
      const memory = yield* makeMemory({ maxTokens: 6, strategy })
      yield* memory.recordAll([
        user("u1"),
        call("c1"),
        assistant("a rather long remark in between"),
        assistant("a1"),
        user("u2")
      ])
      const context = yield* Effect.fork(memory.context)
      yield* started
      yield* memory.record(result("c1"))
      yield* finish
      yield* Fiber.join(context)
      yield* memory.setMaxTokens(undefined)
      const whole = texts(yield* memory.context)
      assert.strictEqual(whole[whole.indexOf("tool-call") + 1], "c1")
    }))

  it.scoped("a conversation that is cleared stays cleared", () =>
    Effect.gen(function*() {
      const { finish, started, strategy } = yield* makeHeld(summarizeOld)
      const { events, memory } = yield* makeWatched({ maxTokens: 3, strategy })
      yield* memory.recordAll(rounds(3))
      const context = yield* Effect.fork(memory.context)
      yield* started
      yield* memory.clear
      yield* memory.record(user("u9"))
      yield* finish
      assert.deepStrictEqual(texts(yield* Fiber.join(context)), ["u9"])
      assert.deepStrictEqual(texts(yield* memory.context), ["u9"])
      yield* settle
      assert.deepStrictEqual(tagged(events, "CompactionDiscarded").map(({ reason }) => reason), ["changed"])
    }))

  it.scoped("a compaction that is taken back is not made by the one that still runs", () =>
    Effect.gen(function*() {
      const { finish, started, strategy } = yield* makeHeld(summarizeOld)
      const store = yield* MemoryStore.makeMemory
      const memory = yield* makeMemory({ maxTokens: 3, strategy, store })
      yield* memory.recordAll(rounds(3))
      const context = yield* Effect.fork(memory.context)
      yield* started
      yield* memory.restore
      yield* memory.setMaxTokens(undefined)
      yield* finish
      assert.deepStrictEqual(yield* Fiber.join(context), rounds(3))
      assert.isUndefined((yield* store.load("default")).compaction)
    }))

  it.scoped("another memory may compact first: nothing is covered twice", () =>
    Effect.gen(function*() {
      const { finish, started, strategy } = yield* makeHeld(summarizeOld)
      const store = yield* MemoryStore.makeMemory
      const { events, memory } = yield* makeWatched({ maxTokens: 4, strategy, store })
      yield* memory.recordAll(rounds(3))
      const context = yield* Effect.fork(memory.context)
      yield* started
      const other = yield* makeMemory({ maxTokens: 4, strategy: TrimStrategy.make(summarizeOld), store })
      assert.deepStrictEqual(texts(yield* other.context), ["s", "u3", "a3"])
      yield* finish
      assert.deepStrictEqual(texts(yield* Fiber.join(context)), ["s", "u3", "a3"])
      yield* settle
      assert.deepStrictEqual(tagged(events, "CompactionDiscarded").map(({ reason }) => reason), ["changed"])
      assert.deepStrictEqual((yield* store.load("default")).compaction?.upTo, 4)
    }))

  it.scoped("nobody who gives up ends it, and the next one finds it done", () =>
    Effect.gen(function*() {
      let calls = 0
      const { finish, started, strategy } = yield* makeHeld((input) => {
        calls++
        return summarizeOld(input)
      })
      const memory = yield* makeMemory({ maxTokens: 3, strategy })
      yield* memory.recordAll(rounds(3))
      const impatient = yield* Effect.forEach([1, 2, 3], () => Effect.fork(memory.context))
      yield* started
      yield* Fiber.interruptAll(impatient)
      yield* finish
      assert.deepStrictEqual(texts(yield* memory.context), ["s", "u3", "a3"])
      assert.strictEqual(calls, 1)
    }))

  it.effect("a layer that closes ends it, and nobody waits for ever", () =>
    Effect.gen(function*() {
      const store = yield* MemoryStore.makeMemory
      const { started, strategy } = yield* makeHeld(summarizeOld)
      const waiting = yield* Effect.scoped(Effect.gen(function*() {
        const memory = yield* makeMemory({ maxTokens: 3, strategy, store })
        yield* memory.recordAll(rounds(3))
        const context = yield* Effect.forkDaemon(memory.context)
        yield* started
        return context
      }))
      assert.isTrue(Exit.isInterrupted(yield* Fiber.await(waiting)))
      assert.isUndefined((yield* store.load("default")).compaction)
    }))

  it.effect("a layer that closes waits until the strategy has let go of what it holds", () =>
    Effect.gen(function*() {
      const started = yield* Deferred.make<void>()
      let isReleased = false
      const strategy = TrimStrategy.make(() =>
        Effect.acquireUseRelease(
          Deferred.succeed(started, undefined),
          () => Effect.never,
          () => Effect.zipRight(settle, Effect.sync(() => isReleased = true))
        )
      )
      yield* Effect.scoped(Effect.gen(function*() {
        const memory = yield* makeMemory({ maxTokens: 3, strategy })
        yield* memory.recordAll(rounds(3))
        yield* Effect.forkScoped(memory.context)
        yield* Deferred.await(started)
      }))
      assert.isTrue(isReleased)
    }))

  it.scoped("recording and reading usage and history do not wait for it", () =>
    Effect.gen(function*() {
      const { started, strategy } = yield* makeHeld(summarizeOld)
      const memory = yield* makeMemory({ maxTokens: 3, strategy })
      yield* memory.recordAll(rounds(3))
      yield* Effect.forkScoped(memory.context)
      yield* started
      yield* memory.record(user("u4"))
      yield* memory.recordAll([assistant("a4")])
      yield* memory.recordProtected(user("u5"))
      assert.strictEqual((yield* memory.usage).messages, 9)
      assert.strictEqual(Chunk.size(yield* Stream.runCollect(memory.history)), 9)
    }))
})

describe("two memories of one conversation", () => {
  it.scoped("one sees what the other has compacted as soon as it records", () =>
    Effect.gen(function*() {
      const store = yield* MemoryStore.makeMemory
      const one = yield* makeMemory({ store })
      yield* one.recordAll(rounds(3))
      assert.deepStrictEqual(yield* one.context, rounds(3))
      const other = yield* makeMemory({ maxTokens: 3, strategy: TrimStrategy.make(summarizeOld), store })
      yield* other.context
      yield* one.record(user("u4"))
      assert.deepStrictEqual(texts(yield* one.context), ["s", "u3", "a3", "u4"])
    }))

  it.scoped("one takes back what the other has compacted", () =>
    Effect.gen(function*() {
      const store = yield* MemoryStore.makeMemory
      const one = yield* makeMemory({ store })
      const other = yield* makeMemory({ maxTokens: 3, strategy: TrimStrategy.make(summarizeOld), store })
      yield* one.recordAll(rounds(3))
      assert.deepStrictEqual(texts(yield* other.context), ["s", "u3", "a3"])
      yield* one.restore
      assert.deepStrictEqual(yield* one.context, rounds(3))
      assert.isUndefined((yield* store.load("default")).compaction)
    }))
})

describe("a strategy that fails", () => {
  const fails: Trim = () => Effect.fail(new MemoryError.TrimError({ reason: "told to" }))

  it.scoped("is not asked again because its projection fails too", () =>
    Effect.gen(function*() {
      let trims = 0
      let projects = 0
      const strategy: TrimStrategy.Service = {
        trim: (input) => Effect.zipRight(Effect.sync(() => trims++), fails(input)),
        project: (input) => Effect.zipRight(Effect.sync(() => projects++), fails(input))
      }
      const { events, memory } = yield* makeWatched({ maxTokens: 3, strategy })
      yield* memory.recordAll(rounds(3))
      for (let i = 4; i < 8; i++) {
        assert.deepStrictEqual(texts(yield* memory.context).length, 2)
        yield* memory.recordAll(rounds(1, i))
      }
      assert.strictEqual(trims, 1)
      assert.strictEqual(projects, 1)
      yield* settle
      const start = yield* TestClock.currentTimeMillis
      assert.isTrue(tagged(events, "TrimFailed").every(({ retryAt }) => retryAt === start + 1000))
      yield* TestClock.adjust("1 second")
      yield* memory.context
      assert.strictEqual(trims, 2)
    }))

  it.scoped("is refused a time that is none", () =>
    Effect.gen(function*() {
      for (const trimTimeout of [NaN, -1, 0]) {
        const error = yield* Effect.flip(makeMemory({ trimTimeout }))
        assert.include(error.message, "trimTimeout")
      }
    }))

  it.scoped("while it cannot be interrupted, holds up nobody beyond its time", () =>
    Effect.gen(function*() {
      const release = yield* Deferred.make<void>()
      const strategy = TrimStrategy.make((input) =>
        Effect.uninterruptible(Effect.zipRight(Deferred.await(release), summarizeOld(input)))
      )
      const memory = yield* makeMemory({ maxTokens: 3, strategy, trimTimeout: "1 minute" })
      yield* memory.recordAll(rounds(3))
      const context = yield* Effect.fork(memory.context)
      yield* TestClock.adjust("1 minute")
      assert.deepStrictEqual(texts(yield* Fiber.join(context)), ["u3", "a3"])
      yield* Deferred.succeed(release, undefined)
    }))
})

describe("a counter that fails while a strategy runs", () => {
  it.scoped("fails the context, commits nothing, and the next context goes on", () =>
    Effect.gen(function*() {
      let down = false
      const failure = new MemoryError.TokenCountError({ counter: "flaky", reason: "down" })
      const counter = TokenCounter.make({
        id: "flaky",
        count: () => Effect.suspend(() => down ? Effect.fail(failure) : Effect.succeed(1))
      })
      const strategy = TrimStrategy.make((input) =>
        Effect.zipRight(
          Effect.sync(() => {
            down = true
          }),
          summarizeOld(input)
        )
      )
      const memory = yield* makeMemory({ maxTokens: 3, counter, strategy })
      yield* memory.recordAll(rounds(3))
      assert.strictEqual(yield* Effect.flip(memory.context), failure)
      yield* memory.setMaxTokens(undefined)
      assert.deepStrictEqual(yield* memory.context, rounds(3))
    }))

  it.scoped("counts what was counted before a failure are kept, in the store too", () =>
    Effect.gen(function*() {
      const store = yield* MemoryStore.makeMemory
      const asked: Array<string> = []
      const counter = (fails: boolean) =>
        TokenCounter.make({
          id: "flaky",
          count: (text) =>
            Effect.suspend(() => {
              asked.push(text)
              return fails && text === "a2"
                ? Effect.fail(new MemoryError.TokenCountError({ counter: "flaky", reason: "down" }))
                : Effect.succeed(1)
            })
        })
      const memory = yield* makeMemory({ maxTokens: 9, counter: counter(true), store })
      yield* memory.recordAll(rounds(2))
      yield* Effect.flip(memory.context)
      const again = yield* makeMemory({ maxTokens: 9, counter: counter(false), store })
      yield* again.context
      assert.deepStrictEqual(asked, ["u1", "a1", "u2", "a2", "a2"])
    }))
})
