import { assert, describe, it } from "@effect/vitest"
import { Effect, Either, FastCheck as fc } from "effect"
import { MemoryStore } from "effect-memory"
import { append, clear, compact, count, Disk, entry, type Operation, viewOf } from "./disk.js"

const ids = ["a", "b"]

const id = fc.constantFrom(...ids)

/** Each operation loads what it needs to know: it means the same to every store. */
const operation: fc.Arbitrary<Operation> = fc.oneof(
  { weight: 6, arbitrary: fc.tuple(id, fc.integer({ min: 1, max: 3 })).map(([id, n]) => append(id, n)) },
  {
    weight: 2,
    arbitrary: fc.tuple(id, fc.nat(12), fc.nat(12), fc.array(fc.nat(12), { maxLength: 2 })).map(([id, from, n, keep]) =>
      compact(id, { from, upTo: from + n, keep: [...new Set(keep)].sort((a, b) => a - b) })
    )
  },
  { weight: 1, arbitrary: id.map((id) => compact(id, undefined)) },
  { weight: 2, arbitrary: fc.tuple(id, fc.nat(20), fc.nat(99)).map(([id, at, n]) => count(id, [at, n])) },
  { weight: 1, arbitrary: id.map(clear) },
  {
    // An append anywhere, of entries that are there already or are not.
    weight: 3,
    arbitrary: fc.tuple(id, fc.nat(20), fc.integer({ min: 0, max: 3 }), fc.boolean()).map(
      ([id, at, n, other]): Operation => (store) =>
        store.append(
          id,
          at,
          Array.from({ length: n }, (_, i) => ({ ...entry(at + i), ...(other ? { id: "other" } : {}) }))
        )
    )
  },
  {
    weight: 1,
    arbitrary: fc.tuple(id, fc.nat(4)).map(([id, revision]): Operation => (store) =>
      store.compact(id, revision, undefined)
    )
  }
)

const outcome = (effect: Effect.Effect<unknown, unknown>) =>
  Effect.map(Effect.either(effect), Either.mapLeft((error) => error instanceof Error ? error.message : error))

describe("KeyValueMemoryStore", () => {
  it.effect("a compaction that covers less than the one before brings back the rest", () =>
    Effect.gen(function*() {
      const model = yield* MemoryStore.makeMemory
      const store = yield* new Disk().memories
      const narrower: ReadonlyArray<Operation> = [
        append("a", 8),
        compact("a", { from: 1, upTo: 6, keep: [3] }),
        compact("a", { from: 1, upTo: 6, keep: [2, 3] }),
        compact("a", { from: 1, upTo: 4, keep: [3] }),
        compact("a", { from: 2, upTo: 4, keep: [] }),
        compact("a", { from: 0, upTo: 20, keep: [7] }),
        append("a"),
        compact("a", { from: 0, upTo: 8, keep: [] })
      ]
      for (const operation of narrower) {
        yield* operation(store)
        yield* operation(model)
        assert.deepStrictEqual(yield* viewOf(store, ids), yield* viewOf(model, ids))
      }
    }))

  it.effect.prop(
    "does what the store in memory does, with a restart after each operation or none",
    { operations: fc.array(operation, { minLength: 1, maxLength: 30, size: "max" }), restarts: fc.boolean() },
    ({ operations, restarts }) =>
      Effect.gen(function*() {
        const model = yield* MemoryStore.makeMemory
        let disk = new Disk()
        let store = yield* disk.memories
        for (const operation of operations) {
          assert.deepStrictEqual(yield* outcome(operation(store)), yield* outcome(operation(model)))
          if (restarts) {
            disk = new Disk(disk.values)
            store = yield* disk.memories
            assert.deepStrictEqual(yield* viewOf(store, ids), yield* viewOf(model, ids))
          }
        }
        assert.deepStrictEqual(yield* viewOf(store, ids), yield* viewOf(model, ids))
      }),
    { fastCheck: { numRuns: 60 }, timeout: 120_000 }
  )
})
