/**
 * Compactions, revisions and counts.
 */
import * as Effect from "effect/Effect"
import * as Message from "../../Message.js"
import {
  type Case,
  compaction,
  conforms,
  entries,
  expectConflict,
  expectEqual,
  expectIds,
  historyOf,
  idsOf
} from "./check.js"

/** @internal */
export const compacting: ReadonlyArray<Case> = [
  conforms(
    "a compaction takes what it covers out of the snapshot, not out of the history",
    (store, id) =>
      Effect.gen(function*() {
        const ids = ["a", "b", "c", "d", "e"]
        const first = compaction(1, 4, [2])
        yield* store.append(id, 0, entries(0, ids))
        const revision = yield* store.compact(id, 0, first)
        const snapshot = yield* store.load(id)
        yield* expectEqual("the entries", idsOf(snapshot.entries), ["a", "c", "e"])
        yield* expectEqual("the compaction", snapshot.compaction, first)
        yield* expectEqual("the revision", snapshot.revision, revision)
        yield* expectEqual("the next sequence number", snapshot.nextSequence, 5)
        yield* expectEqual("the history", idsOf(yield* historyOf(store, id)), ids)
        yield* store.append(id, 5, entries(5, ["f"]))
        yield* expectIds("the entries", store, id, ["a", "c", "e", "f"])
      })
  ),

  conforms("the next compaction takes the place of the current one", (store, id) =>
    Effect.gen(function*() {
      yield* store.append(id, 0, entries(0, ["a", "b", "c"]))
      const revision = yield* store.compact(id, 0, compaction(0, 1))
      const second = compaction(0, 2, [], [Message.system("another")])
      yield* store.compact(id, revision, second)
      const snapshot = yield* store.load(id)
      yield* expectEqual("the compaction", snapshot.compaction, second)
      yield* expectEqual("the entries", idsOf(snapshot.entries), ["c"])
    })),

  conforms("restoring brings back what was covered", (store, id) =>
    Effect.gen(function*() {
      yield* store.append(id, 0, entries(0, ["a", "b"]))
      const revision = yield* store.compact(id, 0, compaction(0, 2, [], []))
      yield* expectIds("the entries", store, id, [])
      yield* store.compact(id, revision, undefined)
      yield* expectIds("the entries", store, id, ["a", "b"])
      yield* expectEqual("the compaction", (yield* store.load(id)).compaction, undefined)
    })),

  conforms("a compaction of another revision is a conflict and changes nothing", (store, id) =>
    Effect.gen(function*() {
      yield* store.append(id, 0, entries(0, ["a", "b"]))
      const revision = yield* store.compact(id, 0, compaction(0, 1))
      yield* expectConflict("a compaction of revision 0", store.compact(id, 0, compaction(0, 2)))
      yield* expectConflict("a compaction of the next one", store.compact(id, revision + 1, compaction(0, 2)))
      yield* expectConflict("restoring revision 0", store.compact(id, 0, undefined))
      yield* expectIds("the entries", store, id, ["b"])
      yield* expectEqual("the revision", (yield* store.load(id)).revision, revision)
    })),

  conforms(
    "the revision moves with compact and clear only, and none is used again",
    (store, id) =>
      Effect.gen(function*() {
        const revision = Effect.map(store.load(id), (snapshot) => snapshot.revision)
        yield* store.append(id, 0, entries(0, ["a", "b"]))
        yield* store.saveCounts(id, "one", new Map([[0, 1]]))
        yield* historyOf(store, id)
        yield* expectEqual("the revision after appends and counts", yield* revision, 0)
        const seen = [0]
        for (const next of [compaction(0, 1), undefined, undefined, compaction(0, 2)]) {
          const answered = yield* store.compact(id, seen[seen.length - 1], next)
          yield* expectEqual("the revision loaded", yield* revision, answered)
          seen.push(answered)
        }
        yield* store.clear(id)
        seen.push(yield* revision)
        const { nextSequence } = yield* store.load(id)
        const answered = yield* store.append(id, nextSequence, entries(nextSequence, ["c"]))
        yield* expectEqual("the revision answered", answered, seen[seen.length - 1])
        seen.push(yield* store.compact(id, answered, compaction(nextSequence, nextSequence + 1)))
        yield* store.clear(id)
        seen.push(yield* revision)
        yield* expectEqual("the revisions used once", new Set(seen).size, seen.length)
      })
  )
]

/** @internal */
export const counting: ReadonlyArray<Case> = [
  conforms("counts come back by counter and sequence number", (store, id) =>
    Effect.gen(function*() {
      yield* store.append(id, 0, entries(0, ["a", "b"]))
      const counters = ["characters", "", "__proto__", "o200k/base"]
      for (const [i, counter] of counters.entries()) yield* store.saveCounts(id, counter, new Map([[0, i]]))
      yield* store.saveCounts(id, "characters", new Map([[1, 1_000_000]]))
      yield* store.saveCounts(id, "", new Map([[0, 7]]))
      yield* store.saveCounts(id, "none", new Map())
      yield* store.compact(id, 0, compaction(0, 1))
      const { counts } = yield* store.load(id)
      yield* expectEqual("counts of characters", counts.get("characters"), new Map([[0, 0], [1, 1_000_000]]))
      yield* expectEqual("counts of an empty id", counts.get(""), new Map([[0, 7]]))
      yield* expectEqual("counts of __proto__", counts.get("__proto__"), new Map([[0, 2]]))
      yield* expectEqual("counts of o200k/base", counts.get("o200k/base"), new Map([[0, 3]]))
      yield* expectEqual("the number of counts of a counter without any", counts.get("none")?.size ?? 0, 0)
    }))
]
