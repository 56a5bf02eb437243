/**
 * What happens to a conversation, as it is recorded, and what comes of it.
 */
import * as Schema from "effect/Schema"
import * as MemoryStore from "effect-memory/MemoryStore"

const Counts = Schema.ReadonlyMap({
  key: Schema.String,
  value: Schema.ReadonlyMap({ key: Schema.Int, value: Schema.JsonNumber })
})

/** How a conversation stands after an event. @internal */
export const Standing = Schema.Struct({
  revision: Schema.NonNegativeInt,
  /** Sequence number of the next entry. */
  next: Schema.NonNegativeInt,
  /** Sequence numbers before this one were cleared. */
  first: Schema.NonNegativeInt
})

/** @internal */
export type Standing = typeof Standing.Type

/** @internal */
export const Event = Schema.Union(
  Schema.TaggedStruct("Appended", { entries: Schema.Array(MemoryStore.Entry) }),
  /** With what is not covered, so that nothing before it has to be read. */
  Schema.TaggedStruct("Compacted", {
    compaction: MemoryStore.Compaction,
    entries: Schema.Array(MemoryStore.Entry),
    counts: Counts
  }),
  Schema.TaggedStruct("Restored", {}),
  Schema.TaggedStruct("Counted", { counts: Counts }),
  Schema.TaggedStruct("Cleared", {})
)

/** @internal */
export type Event = typeof Event.Type

/** @internal */
export const Recorded = Schema.parseJson(Schema.Struct({ standing: Standing, event: Event }))

/** Which generation of its log a conversation has. @internal */
export const Head = Schema.parseJson(Schema.Struct({ id: Schema.String, generation: Schema.NonNegativeInt }))

/** @internal */
export type Head = typeof Head.Type

/** Line of the list of conversations. @internal */
export const Listed = Schema.parseJson(Schema.Struct({ id: Schema.String }))

/** @internal */
export interface State {
  readonly compaction: MemoryStore.Compaction | undefined
  /** All that were read, also some that the compaction covers. */
  readonly entries: ReadonlyArray<MemoryStore.Entry>
  readonly counts: ReadonlyMap<string, ReadonlyMap<number, number>>
}

/** Whether a compaction covers an entry. */
const coveredBy = (compaction: MemoryStore.Compaction): (sequence: number) => boolean => {
  const keep = new Set(compaction.keep)
  return (sequence) => sequence >= compaction.from && sequence < compaction.upTo && !keep.has(sequence)
}

/** Whether `next` covers all that `before` covers, so that no covered entry comes back. @internal */
export const coversAll = (next: MemoryStore.Compaction, before: MemoryStore.Compaction | undefined): boolean => {
  if (before === undefined || before.from >= before.upTo) return true
  const isWithin = coveredBy({ ...before, keep: [] })
  const kept = new Set(before.keep)
  return next.from <= before.from && next.upTo >= before.upTo &&
    next.keep.every((sequence) => !isWithin(sequence) || kept.has(sequence))
}

/** Replays events, the oldest first. @internal */
export const replay = (events: ReadonlyArray<Event>): State => {
  let compaction: MemoryStore.Compaction | undefined
  let entries: Array<MemoryStore.Entry> = []
  let counts = new Map<string, Map<number, number>>()
  const count = (more: State["counts"]) => {
    for (const [counter, added] of more) {
      const known = counts.get(counter) ?? new Map<number, number>()
      for (const [sequence, tokens] of added) known.set(sequence, tokens)
      counts.set(counter, known)
    }
  }
  for (const event of events) {
    switch (event._tag) {
      case "Appended":
        for (const entry of event.entries) entries.push(entry)
        break
      case "Compacted":
        compaction = event.compaction
        // A restored conversation is replayed from its beginning: all of it stands in `entries` already.
        if (entries.length === 0) entries = event.entries.slice()
        count(event.counts)
        break
      case "Restored":
        compaction = undefined
        break
      case "Counted":
        count(event.counts)
        break
      case "Cleared":
        compaction = undefined
        entries = []
        counts = new Map()
        break
    }
  }
  return { compaction, entries, counts }
}

/** The entries that the compaction does not cover. @internal */
export const uncovered = ({ compaction, entries }: Pick<State, "compaction" | "entries">) => {
  if (compaction === undefined) return entries
  const isCovered = coveredBy(compaction)
  return entries.filter(({ sequence }) => !isCovered(sequence))
}
