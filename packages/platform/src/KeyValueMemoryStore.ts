/**
 * A `MemoryStore` over the `KeyValueStore` of `@effect/platform`: in memory, in a directory, in the storage of a browser.
 *
 * Every write goes to a key of its own, small ones are merged into larger ones, and each record carries its version, its
 * length and a checksum. A write that does not come to its end is as if it had never begun; what was acknowledged and can no
 * longer be read is an error, never left out.
 *
 * All memories of a process may share a conversation, also through several stores, as long as these are over the same
 * `KeyValueStore` value or directory. A directory belongs to one process at a time: a `KeyValueStore` has no locks. What
 * was acknowledged outlives the process; it outlives a loss of power if the `KeyValueStore` waits for the disk, which that
 * of a directory does not.
 *
 * @since 0.1.0
 */
import type { PlatformError } from "@effect/platform/Error"
import * as FileSystem from "@effect/platform/FileSystem"
import * as KeyValueStore from "@effect/platform/KeyValueStore"
import * as Path from "@effect/platform/Path"
import * as Chunk from "effect/Chunk"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import * as MemoryError from "effect-memory/MemoryError"
import * as MemoryStore from "effect-memory/MemoryStore"
import * as conversations from "./internal/storeConversation.js"
import * as directories from "./internal/storeDirectories.js"
import * as events from "./internal/storeEvent.js"
import type * as logs from "./internal/storeLog.js"

type Operation = keyof MemoryStore.Service

const toStoreError =
  (operation: Operation, conversation: string) =>
  (error: logs.LogError | MemoryError.MemoryStoreError): MemoryError.MemoryStoreError =>
    error._tag === "MemoryStoreError"
      ? error
      : new MemoryError.MemoryStoreError({
        reason: error.reason,
        operation,
        conversation,
        detail: error.detail,
        ...(error.cause === undefined ? {} : { cause: error.cause })
      })

const conflict = (operation: Operation, conversation: string, detail: string): MemoryError.MemoryStoreError =>
  new MemoryError.MemoryStoreError({ reason: "conflict", operation, conversation, detail })

/** Whether the log goes on with these entries, by id. */
const holds = (
  appended: ReadonlyArray<events.Event>,
  wanted: ReadonlyArray<MemoryStore.Entry>
): boolean => {
  const stored = appended.flatMap((event) => event._tag === "Appended" ? event.entries : [])
  const first = stored.findIndex(({ sequence }) => sequence === wanted[0].sequence)
  return first >= 0 && wanted.every(({ id }, i) => stored[first + i]?.id === id)
}

/**
 * A store over a `KeyValueStore`. Its keys begin with `memory.`, of which the rest of the application keeps clear.
 *
 * @example
 * ```ts
 * import { KeyValueStore } from "@effect/platform"
 * import { strictEqual } from "node:assert"
 * import { KeyValueMemoryStore } from "@effect-memory/platform"
 * import { Effect } from "effect"
 * import { Message } from "effect-memory"
 *
 * const program = Effect.gen(function*() {
 *   const before = yield* KeyValueMemoryStore.make
 *   yield* before.append("chat", 0, [
 *     { sequence: 0, id: "a", message: Message.user("hi"), protected: false, recordedAt: 0 }
 *   ])
 *   const after = yield* KeyValueMemoryStore.make
 *   return (yield* after.load("chat")).nextSequence
 * }).pipe(Effect.provide(KeyValueStore.layerMemory))
 *
 * strictEqual(Effect.runSync(program), 1)
 * ```
 *
 * @since 0.1.0
 * @category constructors
 */
export const make: Effect.Effect<MemoryStore.Service, never, KeyValueStore.KeyValueStore> = Effect.map(
  KeyValueStore.KeyValueStore,
  (store) => {
    const all = conversations.make(store)

    const operation = <A>(
      name: Operation,
      id: string,
      f: (
        conversation: conversations.Conversation,
        slot: conversations.Slot
      ) => Effect.Effect<A, logs.LogError | MemoryError.MemoryStoreError>
    ): Effect.Effect<A, MemoryError.MemoryStoreError> =>
      Effect.mapError(all.use(id, f), toStoreError(name, id)).pipe(
        Effect.withSpan(`KeyValueMemoryStore.${name}`, { attributes: { conversation: id }, captureStackTrace: false })
      )

    const historyFrom = (
      id: string,
      begun: conversations.Conversation,
      position: number
    ): Effect.Effect<readonly [Chunk.Chunk<MemoryStore.Entry>, Option.Option<number>], MemoryError.MemoryStoreError> =>
      operation("history", id, (conversation) =>
        Effect.gen(function*() {
          const end = begun.log.ends[0]
          if (conversation.generation !== begun.generation) {
            return yield* conflict("history", id, "it was cleared while it was read: read it again")
          }
          if (position >= end) return [Chunk.empty(), Option.none()] as const
          const { bodies, key, start } = yield* all.read(conversation.log, position)
          const recorded = yield* Effect.forEach(
            bodies.slice(position - start, end - start),
            (body) => conversations.decodeRecorded(key, body),
            { concurrency: 1 }
          )
          const entries = recorded.flatMap(({ event }) => event._tag === "Appended" ? event.entries : [])
          return [Chunk.unsafeFromArray(entries), Option.some(start + bodies.length)] as const
        }))

    return {
      append: (id, expectedSequence, entries) =>
        operation("append", id, (conversation, slot) =>
          Effect.gen(function*() {
            const { standing } = conversation
            if (entries.length === 0) return standing.revision
            if (expectedSequence === standing.next) {
              const next = standing.next + entries.length
              yield* all.write(slot, conversation, { _tag: "Appended", entries }, { ...standing, next })
              return standing.revision
            }
            const later = expectedSequence < standing.first || expectedSequence > standing.next
              ? []
              : yield* all.readBack(conversation, (event) =>
                event._tag === "Appended" && event.entries[0].sequence <= expectedSequence)
            return holds(later, entries)
              ? standing.revision
              : yield* conflict(
                "append",
                id,
                `the log stands at ${standing.next}, not at ${expectedSequence}: load it and append again`
              )
          })),
      load: (id) =>
        operation("load", id, (conversation) =>
          Effect.map(all.stateOf(conversation), (state) => ({
            ...state,
            entries: events.uncovered(state),
            revision: conversation.standing.revision,
            nextSequence: conversation.standing.next
          }))),
      compact: (id, expectedRevision, compaction) =>
        operation("compact", id, (conversation, slot) =>
          Effect.gen(function*() {
            const { standing } = conversation
            if (standing.revision !== expectedRevision) {
              return yield* conflict(
                "compact",
                id,
                `the revision is ${standing.revision}, not ${expectedRevision}: load the conversation and compact it anew`
              )
            }
            const revision = standing.revision + 1
            yield* all.write(slot, conversation, yield* all.compacted(conversation, compaction), {
              ...standing,
              revision
            })
            return revision
          })),
      saveCounts: (id, counter, counts) =>
        operation("saveCounts", id, (conversation, slot) =>
          counts.size === 0
            ? Effect.void
            : all.write(
              slot,
              conversation,
              { _tag: "Counted", counts: new Map([[counter, counts]]) },
              conversation.standing
            )),
      clear: (id) => operation("clear", id, (conversation, slot) => all.clear(slot, conversation)),
      history: (id) =>
        Stream.unwrap(Effect.map(
          operation("history", id, Effect.succeed),
          (begun) => Stream.paginateChunkEffect(0, (position) => historyFrom(id, begun, position))
        )),
      list: Stream.unwrap(Effect.sync(() => {
        const seen = new Set<string>()
        const ids = Stream.paginateChunkEffect(0, (position) =>
          Effect.map(
            Effect.mapError(all.listFrom(position), toStoreError("list", "")),
            (found) =>
              [
                Chunk.fromIterable(found?.ids.filter((id) => !seen.has(id) && seen.add(id)) ?? []),
                Option.fromNullable(found?.next)
              ] as const
          ))
        return Stream.filterEffect(
          ids,
          (id) =>
            operation("list", id, ({ standing }) => Effect.succeed(standing.next > standing.first)).pipe(
              // One that cannot be read any more is there all the same.
              Effect.catchIf(({ reason }) => reason === "corrupt", () => Effect.succeed(true))
            )
        )
      }))
    }
  }
)

/**
 * A store over a `KeyValueStore`, see {@link make}.
 *
 * @since 0.1.0
 * @category layers
 */
export const layer: Layer.Layer<MemoryStore.MemoryStore, never, KeyValueStore.KeyValueStore> = Layer.effect(
  MemoryStore.MemoryStore,
  make
)

/**
 * A store in a directory, which is made if it is not there. One process at a time may use it; all layers over it in this
 * process know of each other.
 *
 * @since 0.1.0
 * @category layers
 */
export const layerFileSystem = (
  directory: string
): Layer.Layer<MemoryStore.MemoryStore, PlatformError, FileSystem.FileSystem | Path.Path> =>
  Layer.scoped(
    MemoryStore.MemoryStore,
    Effect.gen(function*() {
      const fileSystem = yield* FileSystem.FileSystem
      const path = yield* Path.Path
      const store = yield* directories.share(fileSystem, path.resolve(directory), yield* KeyValueStore.KeyValueStore)
      return yield* Effect.provideService(make, KeyValueStore.KeyValueStore, store)
    })
  ).pipe(Layer.provide(KeyValueStore.layerFileSystem(directory)))
