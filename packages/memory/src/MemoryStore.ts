/**
 * Where conversations are kept: an append-only log of entries and at most one current compaction each.
 *
 * @since 0.1.0
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import { MemoryStoreError } from "./MemoryError.js"
import * as Message from "./Message.js"

/**
 * A message as recorded.
 *
 * @since 0.1.0
 * @category models
 */
export interface Entry {
  /** Place in the log, from 0. Never used again, not even after `clear`. */
  readonly sequence: number
  /** Unique to this recording: tells a repeated append from another writer's. */
  readonly id: string
  readonly message: Message.Message
  /** Whether it is in every context from now on. */
  readonly protected: boolean
  /** When it was recorded, in milliseconds since the epoch. */
  readonly recordedAt: number
}

/**
 * An entry as JSON.
 *
 * @since 0.1.0
 * @category models
 */
export interface EntryEncoded extends Omit<Entry, "message"> {
  readonly message: Message.MessageEncoded
}

/**
 * For stores that write JSON.
 *
 * @since 0.1.0
 * @category schemas
 */
export const Entry: Schema.Schema<Entry, EntryEncoded> = Schema.Struct({
  sequence: Schema.NonNegativeInt,
  id: Schema.String,
  message: Message.Message,
  protected: Schema.Boolean,
  recordedAt: Schema.Number
})

/**
 * A materialization: it covers the entries from `from` up to `upTo` that are not in `keep`, and names the messages that
 * stand for them, where the oldest of them stood. The next one covers what it covered.
 *
 * @since 0.1.0
 * @category models
 */
export interface Compaction {
  /** Sequence number of the oldest covered entry: entries before it are not covered. */
  readonly from: number
  /** Entries from this sequence number on are not covered. */
  readonly upTo: number
  /** Sequence numbers in between that are not covered, ascending. */
  readonly keep: ReadonlyArray<number>
  /** What stands for the covered entries. */
  readonly messages: ReadonlyArray<Message.Message>
}

/**
 * A compaction as JSON.
 *
 * @since 0.1.0
 * @category models
 */
export interface CompactionEncoded extends Omit<Compaction, "messages"> {
  readonly messages: ReadonlyArray<Message.MessageEncoded>
}

/**
 * For stores that write JSON.
 *
 * @since 0.1.0
 * @category schemas
 */
export const Compaction: Schema.Schema<Compaction, CompactionEncoded> = Schema.Struct({
  from: Schema.NonNegativeInt,
  upTo: Schema.NonNegativeInt,
  keep: Schema.Array(Schema.NonNegativeInt),
  messages: Schema.Array(Message.Message)
})

/**
 * What a memory needs to start: the entries that are not covered, and what stands for the others.
 *
 * @since 0.1.0
 * @category models
 */
export interface Snapshot {
  /** Moves with `compact` and `clear` only, and is never used again. 0 for a conversation never seen. */
  readonly revision: number
  /** Sequence number of the next entry. */
  readonly nextSequence: number
  /** The current compaction. */
  readonly compaction: Compaction | undefined
  /** Entries that it does not cover, ascending. */
  readonly entries: ReadonlyArray<Entry>
  /** Saved token counts: by counter id, then by sequence number. */
  readonly counts: ReadonlyMap<string, ReadonlyMap<number, number>>
}

/**
 * @since 0.1.0
 * @category models
 */
export interface Service {
  /**
   * Appends all entries or none, and answers the current revision.
   *
   * The first entry must have the sequence number `expectedSequence`. If the log already goes on with exactly these
   * entries, by id, nothing is done: a repeated append is harmless. Fails with reason `conflict` if another writer was
   * first.
   */
  readonly append: (
    id: string,
    expectedSequence: number,
    entries: ReadonlyArray<Entry>
  ) => Effect.Effect<number, MemoryStoreError>
  /** The conversation as it stands; an empty one if it was never seen. */
  readonly load: (id: string) => Effect.Effect<Snapshot, MemoryStoreError>
  /**
   * Replaces the current compaction, or takes it back with `undefined`, and answers the new revision. Fails with reason
   * `conflict` unless the revision is the expected one.
   */
  readonly compact: (
    id: string,
    expectedRevision: number,
    compaction: Compaction | undefined
  ) => Effect.Effect<number, MemoryStoreError>
  /** Keeps token counts of entries, by sequence number. */
  readonly saveCounts: (
    id: string,
    counter: string,
    counts: ReadonlyMap<number, number>
  ) => Effect.Effect<void, MemoryStoreError>
  /** Forgets all entries; sequence numbers and revisions go on from where they were. */
  readonly clear: (id: string) => Effect.Effect<void, MemoryStoreError>
  /** The whole log in order, covered entries included. */
  readonly history: (id: string) => Stream.Stream<Entry, MemoryStoreError>
  /** Ids of the conversations that have entries. */
  readonly list: Stream.Stream<string, MemoryStoreError>
}

/**
 * @since 0.1.0
 * @category tags
 */
export class MemoryStore extends Context.Tag("effect-memory/MemoryStore")<MemoryStore, Service>() {}

interface Log {
  revision: number
  nextSequence: number
  compaction: Compaction | undefined
  entries: Array<Entry>
  readonly counts: Map<string, Map<number, number>>
}

const isCovered = (compaction: Compaction | undefined): (entry: Entry) => boolean => {
  if (compaction === undefined) return () => false
  const keep = new Set(compaction.keep)
  return ({ sequence }) => sequence >= compaction.from && sequence < compaction.upTo && !keep.has(sequence)
}

const conflict = (operation: string, conversation: string, detail: string): MemoryStoreError =>
  new MemoryStoreError({ reason: "conflict", operation, conversation, detail })

/**
 * A store in the memory of this process. Nothing survives it.
 *
 * Its operations are synchronous, so that each is atomic.
 *
 * @example
 * ```ts
 * import { strictEqual } from "node:assert"
 * import { Effect } from "effect"
 * import { MemoryStore, Message } from "effect-memory"
 *
 * const program = Effect.gen(function*() {
 *   const store = yield* MemoryStore.makeMemory
 *   yield* store.append("chat", 0, [
 *     { sequence: 0, id: "a", message: Message.user("hi"), protected: false, recordedAt: 0 }
 *   ])
 *   return (yield* store.load("chat")).nextSequence
 * })
 *
 * strictEqual(Effect.runSync(program), 1)
 * ```
 *
 * @since 0.1.0
 * @category constructors
 */
export const makeMemory: Effect.Effect<Service> = Effect.sync(() => {
  const logs = new Map<string, Log>()

  const logOf = (id: string): Log => {
    const found = logs.get(id)
    if (found !== undefined) return found
    const log: Log = { revision: 0, nextSequence: 0, compaction: undefined, entries: [], counts: new Map() }
    logs.set(id, log)
    return log
  }

  const holds = (log: Log, entries: ReadonlyArray<Entry>): boolean => {
    const first = log.entries.findIndex((entry) => entry.sequence === entries[0].sequence)
    return first >= 0 && entries.every((entry, i) => log.entries[first + i]?.id === entry.id)
  }

  return {
    append: (id, expectedSequence, entries) =>
      Effect.suspend(() => {
        const log = logOf(id)
        if (entries.length === 0) return Effect.succeed(log.revision)
        if (expectedSequence === log.nextSequence) {
          for (const entry of entries) log.entries.push(entry)
          log.nextSequence += entries.length
          return Effect.succeed(log.revision)
        }
        return holds(log, entries)
          ? Effect.succeed(log.revision)
          : Effect.fail(conflict(
            "append",
            id,
            `the log stands at ${log.nextSequence}, not at ${expectedSequence}: load it and append again`
          ))
      }),
    load: (id) =>
      Effect.sync(() => {
        const log = logOf(id)
        const covered = isCovered(log.compaction)
        return {
          revision: log.revision,
          nextSequence: log.nextSequence,
          compaction: log.compaction,
          entries: log.entries.filter((entry) => !covered(entry)),
          counts: new Map(Array.from(log.counts, ([counter, counts]) => [counter, new Map(counts)]))
        }
      }),
    compact: (id, expectedRevision, compaction) =>
      Effect.suspend(() => {
        const log = logOf(id)
        if (log.revision !== expectedRevision) {
          return Effect.fail(conflict(
            "compact",
            id,
            `the revision is ${log.revision}, not ${expectedRevision}: load the conversation and compact it anew`
          ))
        }
        log.compaction = compaction
        return Effect.succeed(++log.revision)
      }),
    saveCounts: (id, counter, counts) =>
      Effect.sync(() => {
        const log = logOf(id)
        const saved = log.counts.get(counter) ?? new Map<number, number>()
        for (const [sequence, tokens] of counts) saved.set(sequence, tokens)
        log.counts.set(counter, saved)
      }),
    clear: (id) =>
      Effect.sync(() => {
        const log = logOf(id)
        log.entries = []
        log.compaction = undefined
        log.counts.clear()
        log.revision++
      }),
    history: (id) =>
      Stream.suspend(() => {
        const { entries } = logOf(id)
        const end = entries.length
        return Stream.unfold(0, (i) => i < end ? Option.some([entries[i], i + 1] as const) : Option.none())
      }),
    list: Stream.suspend(() =>
      Stream.fromIterable(Array.from(logs).filter(([, log]) => log.entries.length > 0).map(([id]) => id))
    )
  }
})

/**
 * A store in the memory of this process, see {@link makeMemory}.
 *
 * @since 0.1.0
 * @category layers
 */
export const layerMemory: Layer.Layer<MemoryStore> = Layer.effect(MemoryStore, makeMemory)
