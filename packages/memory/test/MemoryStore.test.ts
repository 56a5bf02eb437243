import { assert, describe, it } from "@effect/vitest"
import { Effect, Option, Schema, Stream } from "effect"
import { MemoryError, MemoryStore, MemoryStoreConformance } from "effect-memory"

describe("MemoryStore.layerMemory", () => {
  for (const { name, run } of MemoryStoreConformance.cases) {
    it.effect(name, () => Effect.provide(run, MemoryStore.layerMemory))
  }

  it.effect("cases share a store and run at the same time, more than once", () => {
    const cases = [...MemoryStoreConformance.cases, ...MemoryStoreConformance.cases]
    return Effect.forEach(cases, ({ run }) => run, { concurrency: "unbounded", discard: true }).pipe(
      Effect.provide(MemoryStore.layerMemory)
    )
  })
})

type Store = MemoryStore.Service

/** Stores with one fault each, and a case that finds it. */
const faulty: ReadonlyArray<readonly [caught: string, fault: string, breakIt: (store: Store) => Partial<Store>]> = [
  ["entries come back in the order", "turns entries round", (store) => ({
    load: (id) => Effect.map(store.load(id), (found) => ({ ...found, entries: found.entries.slice().reverse() }))
  })],
  ["anywhere but at the end is a conflict", "appends wherever it is asked to", (store) => ({
    append: (id, _, entries) =>
      Effect.flatMap(store.load(id), ({ nextSequence }) => store.append(id, nextSequence, entries))
  })],
  ["anywhere but at the end is a conflict", "stores the first entry of a batch that it refuses", (store) => ({
    append: (id, expected, entries) =>
      Effect.tapError(
        store.append(id, expected, entries),
        () => Effect.flatMap(store.load(id), ({ nextSequence }) => store.append(id, nextSequence, entries.slice(0, 1)))
      )
  })],
  ["a repeated append is harmless", "refuses what it has", (store) => ({
    append: (id, expected, entries) =>
      Effect.flatMap(store.load(id), ({ nextSequence }) =>
        nextSequence === expected || entries.length === 0
          ? store.append(id, expected, entries)
          : Effect.fail(conflict(id)))
  })],
  ["repeats only in part is a conflict", "looks at the first entry only", (store) => ({
    append: (id, expected, entries) =>
      Effect.flatMap(store.load(id), (found) =>
        found.entries.some((entry) => entry.id === entries[0]?.id)
          ? Effect.succeed(found.revision)
          : store.append(id, expected, entries))
  })],
  ["all of a batch or nothing", "appends one by one", (store) => ({
    append: (id, expected, entries) =>
      Effect.reduce(
        entries,
        0,
        (_, entry, i) => Effect.zipLeft(store.append(id, expected + i, [entry]), Effect.yieldNow())
      )
  })],
  ["messages of all kinds", "writes JSON without a schema", (store) => ({
    append: (id, expected, entries) => store.append(id, expected, JSON.parse(JSON.stringify(entries)))
  })],
  ["takes what it covers out of the snapshot, not out of the history", "shows what is covered", (store) => ({
    load: (id) =>
      Effect.flatMap(
        store.load(id),
        (found) => Effect.map(Stream.runCollect(store.history(id)), (all) => ({ ...found, entries: Array.from(all) }))
      )
  })],
  ["takes what it covers out of the snapshot, not out of the history", "forgets what is covered", (store) => ({
    history: (id) => Stream.unwrap(Effect.map(store.load(id), ({ entries }) => Stream.fromIterable(entries)))
  })],
  ["a compaction of another revision is a conflict", "compares no revisions", (store) => ({
    compact: (id, _, compaction) =>
      Effect.flatMap(store.load(id), ({ revision }) => store.compact(id, revision, compaction))
  })],
  ["counts come back by counter", "keeps the last batch of counts only", (store) => ({
    saveCounts: (id, counter, counts) => store.saveCounts(id, `${counter} ${counts.size}`, counts)
  })],
  ["whatever their ids", "folds case", (store) => ({
    append: (id, expected, entries) => store.append(id.toLowerCase(), expected, entries),
    load: (id) => store.load(id.toLowerCase())
  })],
  ["whatever their ids", "takes ids for paths", (store) => ({
    append: (id, expected, entries) => store.append(id.replace("../", ""), expected, entries),
    load: (id) => store.load(id.replace("../", ""))
  })],
  ["clearing forgets", "keeps the log", () => ({ clear: () => Effect.void })],
  ["the list names the conversations", "lists each entry", (store) => ({
    list: Stream.flatMap(store.list, (id) => Stream.map(store.history(id), () => id))
  })],
  ["two writers of the same words lose nothing", "takes the same words for a repetition", (store) => ({
    append: (id, expected, entries) =>
      Effect.flatMap(store.load(id), (found) =>
        found.entries.length > 1 && Schema.equivalence(MemoryStore.Entry)(
            { ...found.entries[0], id: "", sequence: 0 },
            { ...entries[0], id: "", sequence: 0 }
          )
          ? Effect.succeed(found.revision)
          : store.append(id, expected, entries))
  })],
  ["sequence numbers are never used again", "starts anew after clear", (store) => {
    const cleared = new Map<string, number>()
    const nameOf = (id: string) => `${id} ${cleared.get(id) ?? 0}`
    return {
      append: (id, expected, entries) => store.append(nameOf(id), expected, entries),
      load: (id) => store.load(nameOf(id)),
      clear: (id) => Effect.sync(() => cleared.set(id, (cleared.get(id) ?? 0) + 1))
    }
  }]
]

const conflict = (conversation: string) =>
  new MemoryError.MemoryStoreError({ reason: "conflict", operation: "append", conversation, detail: "taken" })

describe("MemoryStoreConformance", () => {
  for (const [caught, fault, breakStore] of faulty) {
    it.effect(`finds a store that ${fault}`, () =>
      Effect.gen(function*() {
        const store = yield* MemoryStore.makeMemory
        const found = Option.fromNullable(MemoryStoreConformance.cases.find(({ name }) => name.includes(caught)))
        const { run } = yield* found
        const error = yield* run.pipe(
          Effect.provideService(MemoryStore.MemoryStore, { ...store, ...breakStore(store) }),
          Effect.flip
        )
        assert.include(["ConformanceError", "MemoryStoreError"], error._tag)
      }))
  }

  it.effect("says what was expected and what was found", () =>
    Effect.gen(function*() {
      const store = yield* MemoryStore.makeMemory
      const broken: Store = {
        ...store,
        load: (id) => Effect.map(store.load(id), (found) => ({ ...found, nextSequence: 7 }))
      }
      const [{ run }] = MemoryStoreConformance.cases
      const error = yield* Effect.flip(Effect.provideService(run, MemoryStore.MemoryStore, broken))
      assert.match(error.message, /^the snapshot: expected \{.*"nextSequence":0.*\}, found \{.*"nextSequence":7.*\}$/)
    }))
})
