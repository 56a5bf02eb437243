/**
 * How entries are appended and come back.
 */
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Stream from "effect/Stream"
import {
  type Case,
  compaction,
  conforms,
  entries,
  entry,
  expectConflict,
  expectEqual,
  expectIds,
  historyOf,
  idsOf
} from "./check.js"
import { everyKind } from "./messages.js"

/** @internal */
export const appending: ReadonlyArray<Case> = [
  conforms(
    "a conversation never seen is empty",
    (store, id) =>
      Effect.flatMap(store.load(id), (snapshot) =>
        expectEqual("the snapshot", snapshot, {
          revision: 0,
          nextSequence: 0,
          compaction: undefined,
          entries: [],
          counts: new Map()
        }))
  ),

  conforms("entries come back in the order in which they were appended", (store, id) =>
    Effect.gen(function*() {
      const all = [
        { ...entry(0, "a"), protected: true, recordedAt: 1_700_000_000_123 },
        entry(1, "b"),
        entry(2, "__proto__")
      ]
      yield* expectEqual("the revision answered", yield* store.append(id, 0, all.slice(0, 1)), 0)
      yield* store.append(id, 1, all.slice(1))
      const snapshot = yield* store.load(id)
      yield* expectEqual("the entries", snapshot.entries, all)
      yield* expectEqual("the next sequence number", snapshot.nextSequence, 3)
      yield* expectEqual("the history", yield* historyOf(store, id), all)
    })),

  conforms("an empty batch changes nothing", (store, id) =>
    Effect.gen(function*() {
      yield* store.append(id, 0, entries(0, ["a"]))
      yield* expectEqual("the revision answered", yield* store.append(id, 1, []), 0)
      yield* expectIds("the entries", store, id, ["a"])
    })),

  conforms("an append anywhere but at the end is a conflict and stores nothing", (store, id) =>
    Effect.gen(function*() {
      yield* store.append(id, 0, entries(0, ["a", "b"]))
      for (const at of [0, 1, 3]) {
        yield* expectConflict(`an append at ${at}`, store.append(id, at, entries(at, ["x", "y", "z"])))
      }
      yield* expectIds("the entries", store, id, ["a", "b"])
      yield* expectEqual("the next sequence number", (yield* store.load(id)).nextSequence, 2)
    })),

  conforms("a repeated append is harmless", (store, id) =>
    Effect.gen(function*() {
      const batch = entries(0, ["a", "b"])
      yield* store.append(id, 0, batch)
      yield* expectEqual("the revision answered", yield* store.append(id, 0, batch), 0)
      yield* store.append(id, 2, entries(2, ["c"]))
      yield* store.append(id, 0, batch)
      yield* expectIds("the entries", store, id, ["a", "b", "c"])
      const revision = yield* store.compact(id, 0, compaction(0, 2))
      yield* expectEqual("the revision answered", yield* store.append(id, 0, batch), revision)
      yield* expectEqual("the history", idsOf(yield* historyOf(store, id)), ["a", "b", "c"])
    })),

  conforms("an append that repeats only in part is a conflict", (store, id) =>
    Effect.gen(function*() {
      yield* store.append(id, 0, entries(0, ["a", "b"]))
      yield* expectConflict("another second entry", store.append(id, 0, entries(0, ["a", "x"])))
      yield* expectConflict("one entry more", store.append(id, 0, entries(0, ["a", "b", "c"])))
      yield* expectConflict("the same ids elsewhere", store.append(id, 1, entries(1, ["a", "b"])))
      yield* expectIds("the entries", store, id, ["a", "b"])
    })),

  conforms("an interrupted append stores all of a batch or nothing", (store, id) =>
    Effect.gen(function*() {
      const batch = Array.from({ length: 50 }, (_, i) => `e${i}`)
      for (let yields = 0; yields < 5; yields++) {
        const { nextSequence } = yield* store.load(id)
        const fiber = yield* Effect.fork(store.append(id, nextSequence, entries(nextSequence, batch)))
        yield* Effect.repeatN(Effect.yieldNow(), yields)
        yield* Fiber.interrupt(fiber)
        const after = yield* store.load(id)
        yield* expectEqual("what part of a batch is there", (after.nextSequence - nextSequence) % batch.length, 0)
        yield* expectEqual("the number of entries", after.entries.length, after.nextSequence)
      }
    })),

  conforms("a large batch is stored in one go", (store, id) =>
    Effect.gen(function*() {
      const ids = Array.from({ length: 10_000 }, (_, i) => `e${i}`)
      yield* store.append(id, 0, entries(0, ids))
      yield* expectIds("the entries", store, id, ids)
      yield* expectEqual("the history", idsOf(yield* historyOf(store, id)), ids)
      const [first] = yield* Stream.runCollect(Stream.take(store.history(id), 1))
      yield* expectEqual("the first entry of the history", first?.id, "e0")
    })),

  conforms("messages of all kinds and scripts come back as they were", (store, id) =>
    Effect.gen(function*() {
      const all = everyKind.map((message, i) => entry(i, `e${i}`, message))
      yield* store.append(id, 0, all)
      yield* expectEqual("the entries", (yield* store.load(id)).entries, all)
      yield* expectEqual("the history", yield* historyOf(store, id), all)
      yield* store.compact(id, 0, compaction(0, all.length, [], everyKind))
      yield* expectEqual("the messages of a compaction", (yield* store.load(id)).compaction?.messages, everyKind)
    })),

  conforms("a snapshot stays as it was", (store, id) =>
    Effect.gen(function*() {
      yield* store.append(id, 0, entries(0, ["a"]))
      yield* store.saveCounts(id, "one", new Map([[0, 1]]))
      const before = yield* store.load(id)
      yield* store.append(id, 1, entries(1, ["b"]))
      yield* store.saveCounts(id, "one", new Map([[0, 2], [1, 2]]))
      yield* store.clear(id)
      yield* expectEqual("the entries loaded before", idsOf(before.entries), ["a"])
      yield* expectEqual("the counts loaded before", before.counts.get("one"), new Map([[0, 1]]))
    }))
]
