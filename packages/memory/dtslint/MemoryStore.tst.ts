import type { Effect, Layer, Schema, Stream } from "effect"
import { type MemoryError, MemoryStore } from "effect-memory"
import { describe, expect, it } from "tstyche"

describe("MemoryStore", () => {
  it("the store in memory is a value that needs nothing and cannot fail", () => {
    expect(MemoryStore.layerMemory).type.toBe<Layer.Layer<MemoryStore.MemoryStore>>()
    expect(MemoryStore.makeMemory).type.toBe<Effect.Effect<MemoryStore.Service>>()
  })

  it("schemas need nothing, and name their encoded side", () => {
    expect(MemoryStore.Entry).type.toBe<Schema.Schema<MemoryStore.Entry, MemoryStore.EntryEncoded>>()
    expect(MemoryStore.Compaction).type.toBe<Schema.Schema<MemoryStore.Compaction, MemoryStore.CompactionEncoded>>()
  })

  it("every operation fails with a MemoryStoreError only", () => {
    type Failure = MemoryError.MemoryStoreError
    expect<MemoryStore.Service["append"]>().type.toBe<
      (
        id: string,
        expectedSequence: number,
        entries: ReadonlyArray<MemoryStore.Entry>
      ) => Effect.Effect<number, Failure>
    >()
    expect<MemoryStore.Service["load"]>().type.toBe<(id: string) => Effect.Effect<MemoryStore.Snapshot, Failure>>()
    expect<MemoryStore.Service["compact"]>().type.toBe<
      (
        id: string,
        expectedRevision: number,
        compaction: MemoryStore.Compaction | undefined
      ) => Effect.Effect<number, Failure>
    >()
    expect<MemoryStore.Service["saveCounts"]>().type.toBe<
      (id: string, counter: string, counts: ReadonlyMap<number, number>) => Effect.Effect<void, Failure>
    >()
    expect<MemoryStore.Service["clear"]>().type.toBe<(id: string) => Effect.Effect<void, Failure>>()
    expect<MemoryStore.Service["history"]>().type.toBe<(id: string) => Stream.Stream<MemoryStore.Entry, Failure>>()
    expect<MemoryStore.Service["list"]>().type.toBe<Stream.Stream<string, Failure>>()
  })
})
