import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Random, Stream } from "effect"
import { type MemoryError, MemoryStore, Message, TrimStrategy } from "effect-memory"
import { makeMemory, rounds, texts } from "./utilities.js"

const { system, user } = Message

const summarizeOld: TrimStrategy.Service["trim"] = ({ messages, newest }) =>
  Effect.succeed({ messages: [system("s"), ...messages.slice(newest)], replace: true })

/** Lets all fibers that can run go on. */
const settle = Effect.repeatN(Effect.yieldNow(), 50)

describe("a store that hangs", () => {
  for (const hanging of ["append", "load", "compact", "saveCounts", "clear"]) {
    for (const when of ["before", "after"] as const) {
      it.scoped(`${hanging}, ${when} it is done: who gives up leaves the conversation as the store has it`, () =>
        Effect.gen(function*() {
          const inner = yield* MemoryStore.makeMemory
          let hangs = false
          const held = <A>(name: string, operation: Effect.Effect<A, MemoryError.MemoryStoreError>) =>
            Effect.suspend(() => {
              if (!hangs || name !== hanging) return operation
              return when === "before" ? Effect.never : Effect.zipRight(operation, Effect.never)
            })
          const store: MemoryStore.Service = {
            ...inner,
            append: (...args) => held("append", inner.append(...args)),
            load: (id) => held("load", inner.load(id)),
            compact: (...args) => held("compact", inner.compact(...args)),
            saveCounts: (...args) => held("saveCounts", inner.saveCounts(...args)),
            clear: (id) => held("clear", inner.clear(id))
          }
          const memory = yield* makeMemory({ maxTokens: 5, strategy: TrimStrategy.make(summarizeOld), store })
          if (hanging !== "load") yield* memory.recordAll(rounds(1))
          hangs = true
          const operations: ReadonlyArray<Effect.Effect<unknown, MemoryError.MemoryError>> = [
            memory.recordAll(rounds(2, 2)),
            memory.context,
            memory.compact,
            memory.clear
          ]
          const attempts = yield* Effect.forEach(operations, (operation) => Effect.fork(operation))
          yield* settle
          yield* Fiber.interruptAll(attempts)
          hangs = false
          yield* memory.record(user("u9"))
          yield* memory.setMaxTokens(undefined)
          const log = Array.from(yield* Stream.runCollect(inner.history("default")), ({ message }) => message)
          assert.strictEqual(log.filter((message) => texts([message])[0] === "u9").length, 1)
          const { compaction, entries } = yield* inner.load("default")
          const standIns = compaction?.messages ?? []
          const before = entries.filter(({ sequence }) => sequence < (compaction?.from ?? 0))
          assert.deepStrictEqual(
            texts(yield* memory.context),
            texts(
              [...before, ...entries.slice(before.length)].map(({ message }) => message).toSpliced(
                before.length,
                0,
                ...standIns
              )
            )
          )
        }))
    }
  }
})

describe("two memories over one store", () => {
  it.scoped("lose nothing where both draw the same random numbers", () =>
    Effect.gen(function*() {
      const store = yield* MemoryStore.makeMemory
      const seeded = Effect.suspend(() => Effect.withRandom(makeMemory({ store }), Random.make("seed")))
      const first = yield* seeded
      const second = yield* seeded
      yield* Effect.all([first.context, second.context], { concurrency: 1 })
      yield* Effect.all([first.record(user("u1")), second.record(user("u2"))], { concurrency: 1 })
      const entries = yield* Stream.runCollect(first.history)
      assert.deepStrictEqual(texts(Array.from(entries, ({ message }) => message)), ["u1", "u2"])
    }))
})
