/**
 * Conversations beside each other.
 */
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import {
  appendAtEnd,
  type Case,
  compaction,
  conforms,
  entries,
  expectConflict,
  expectEqual,
  expectIds,
  historyOf,
  idsOf,
  render
} from "./check.js"

/** @internal */
export const conversations: ReadonlyArray<Case> = [
  conforms("clearing forgets entries, compaction and counts", (store, id) =>
    Effect.gen(function*() {
      yield* store.clear(id)
      yield* expectIds("the entries", store, id, [])
      yield* appendAtEnd(store, id, ["a", "b"])
      const before = yield* store.load(id)
      yield* store.saveCounts(id, "one", new Map([[before.nextSequence - 1, 1]]))
      yield* store.compact(id, before.revision, compaction(before.nextSequence - 2, before.nextSequence - 1))
      yield* store.clear(id)
      const snapshot = yield* store.load(id)
      yield* expectEqual("the entries", snapshot.entries, [])
      yield* expectEqual("the compaction", snapshot.compaction, undefined)
      yield* expectEqual("the counts", snapshot.counts.get("one")?.size ?? 0, 0)
      yield* expectEqual("the history", yield* historyOf(store, id), [])
    })),

  conforms("sequence numbers are never used again", (store, id) =>
    Effect.gen(function*() {
      const batch = entries(0, ["a", "b"])
      yield* store.append(id, 0, batch)
      yield* store.clear(id)
      yield* expectEqual("the next sequence number", (yield* store.load(id)).nextSequence, 2)
      yield* expectConflict("what was cleared, appended again", store.append(id, 0, batch))
      yield* store.append(id, 2, entries(2, ["c"]))
      yield* store.clear(id)
      yield* store.clear(id)
      yield* expectEqual("the next sequence number", (yield* store.load(id)).nextSequence, 3)
    })),

  conforms("the list names the conversations that have entries", (store, id) =>
    Effect.gen(function*() {
      const own = Effect.map(
        Stream.runCollect(store.list),
        (ids) => Array.from(ids).filter((other) => other.startsWith(id)).sort()
      )
      for (const suffix of ["", "/a", "/b", "/c"]) yield* store.append(id + suffix, 0, entries(0, ["a", "b"]))
      yield* store.load(`${id}/seen`)
      yield* store.saveCounts(`${id}/counted`, "one", new Map([[0, 1]]))
      yield* store.clear(`${id}/b`)
      yield* store.compact(`${id}/c`, 0, compaction(0, 2))
      yield* expectEqual("the conversations", yield* own, [id, `${id}/a`, `${id}/c`])
    })),

  conforms("conversations do not mix, whatever their ids", (store, id) =>
    Effect.gen(function*() {
      const ids = [
        "",
        " ",
        "a/b",
        "a",
        "A",
        "../a",
        "a%2Fb",
        "a:b",
        "a.json",
        "__proto__",
        "constructor",
        "日本",
        "🦜",
        "é"
      ]
      // Those without a prefix are shared by all who run this case: only what is written here is looked at.
      for (const other of ids.flatMap((suffix) => [suffix, id + suffix])) yield* appendAtEnd(store, other, [id + other])
      for (const other of ids) {
        const { entries } = yield* store.load(other)
        const here = idsOf(entries).filter((own) => own.startsWith(id))
        yield* expectEqual(`the entries of ${render(other)}`, here, [id + other])
        yield* expectIds(`the entries of ${render(id + other)}`, store, id + other, [id + id + other])
      }
    })),

  conforms("what is done to one conversation leaves the others alone", (store, id) =>
    Effect.gen(function*() {
      const other = `${id}-other`
      for (let i = 0; i < 3; i++) {
        yield* store.append(id, i, entries(i, [`a${i}`]))
        yield* store.append(other, i, entries(i, [`b${i}`]))
      }
      yield* store.saveCounts(id, "one", new Map([[0, 1]]))
      yield* store.saveCounts(other, "one", new Map([[0, 2]]))
      const before = yield* store.load(other)
      yield* store.compact(id, 0, compaction(0, 2))
      yield* expectEqual("the other one after a compaction", yield* store.load(other), before)
      yield* store.clear(id)
      yield* expectEqual("the other one after clearing", yield* store.load(other), before)
      yield* expectEqual("the other's history", idsOf(yield* historyOf(store, other)), ["b0", "b1", "b2"])
    }))
]
