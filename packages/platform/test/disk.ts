/**
 * A disk that can fail in the midst of a write, and key-value stores over it. Each `store` is another process: it knows
 * nothing of the others.
 */
import { Error as PlatformError, KeyValueStore } from "@effect/platform"
import { assert } from "@effect/vitest"
import { KeyValueMemoryStore } from "@effect-memory/platform"
import { Chunk, Effect, Option, Stream } from "effect"
import { MemoryStore, Message } from "effect-memory"

export type Values = ReadonlyMap<string, Uint8Array>

/** What becomes of the value of a write that does not come to its end; `undefined`: the key stays as it is. */
export type Cut = (value: Uint8Array) => Uint8Array | undefined

export const cuts: Readonly<Record<string, Cut>> = {
  nothing: () => undefined,
  "an empty value": () => new Uint8Array(),
  "one byte": (value) => value.slice(0, 1),
  half: (value) => value.slice(0, value.length >> 1),
  "all but one byte": (value) => value.slice(0, -1),
  zeros: (value) => new Uint8Array(value.length),
  all: (value) => value
}

/** Counts writes and removals from 1; the one with this number is cut, then fails or dies. */
export interface Crash {
  readonly at: number
  readonly cut: Cut
  readonly how: "fails" | "dies"
}

const down = new PlatformError.SystemError({
  reason: "Unknown",
  module: "KeyValueStore",
  method: "set",
  description: "the disk is full"
})

export class Disk {
  readonly values: Map<string, Uint8Array>
  /** What was there before each write and removal. */
  readonly before: Array<{ readonly values: Values; readonly key: string; readonly value: Uint8Array | undefined }> = []
  writes = 0
  reads = 0

  constructor(values: Values = new Map(), private readonly crash?: Crash) {
    this.values = new Map(values)
  }

  readonly store: KeyValueStore.KeyValueStore = KeyValueStore.make({
    get: (key) =>
      Effect.sync(() => {
        this.reads++
        return Option.map(Option.fromNullable(this.values.get(key)), (value) => new TextDecoder().decode(value))
      }),
    getUint8Array: (key) => Effect.sync(() => Option.fromNullable(this.values.get(key))),
    has: (key) => Effect.sync(() => this.values.has(key)),
    set: (key, value) => this.write(key, typeof value === "string" ? new TextEncoder().encode(value) : value),
    remove: (key) =>
      Effect.suspend(() =>
        this.values.has(key) ? this.write(key, undefined) : Effect.dieMessage(`no ${key} to remove`)
      ),
    clear: Effect.sync(() => this.values.clear()),
    size: Effect.sync(() => this.values.size)
  })

  /** A memory store of a process that has just been started. */
  get memories(): Effect.Effect<MemoryStore.Service> {
    return Effect.provideService(KeyValueMemoryStore.make, KeyValueStore.KeyValueStore, this.store)
  }

  private put(key: string, value: Uint8Array | undefined): void {
    if (value === undefined) this.values.delete(key)
    else this.values.set(key, value)
  }

  private write(key: string, value: Uint8Array | undefined): Effect.Effect<void, PlatformError.PlatformError> {
    // A write takes time: others run in between.
    return Effect.zipRight(
      Effect.yieldNow(),
      Effect.suspend(() => {
        this.before.push({ values: new Map(this.values), key, value })
        this.writes++
        if (this.crash?.at !== this.writes) return Effect.sync(() => this.put(key, value))
        const cut = value === undefined ? undefined : this.crash.cut(value)
        if (cut !== undefined) this.put(key, cut)
        return this.crash.how === "fails" ? Effect.fail(down) : Effect.dieMessage("the power is off")
      })
    )
  }
}

// =============================================================================
// Conversations
// =============================================================================

export type Operation = (store: MemoryStore.Service) => Effect.Effect<unknown, unknown>

export const entry = (sequence: number, text = `日本 é 🦜 ${sequence}`): MemoryStore.Entry => ({
  sequence,
  id: `e${sequence}`,
  message: Message.user(text),
  protected: false,
  recordedAt: sequence
})

export const append = (id: string, count = 1): Operation => (store) =>
  Effect.flatMap(
    store.load(id),
    ({ nextSequence }) =>
      store.append(id, nextSequence, Array.from({ length: count }, (_, i) => entry(nextSequence + i)))
  )

export const compact =
  (id: string, compaction: Omit<MemoryStore.Compaction, "messages"> | undefined): Operation => (store) =>
    Effect.flatMap(store.load(id), ({ revision }) =>
      store.compact(
        id,
        revision,
        compaction === undefined ? undefined : { ...compaction, messages: [Message.user(`要約 ${revision}`)] }
      ))

export const count = (id: string, ...counts: ReadonlyArray<readonly [number, number]>): Operation => (store) =>
  store.saveCounts(id, "characters", new Map(counts))

export const clear = (id: string): Operation => (store) => store.clear(id)

/** All that can be seen of these conversations, as plain values. */
export const viewOf = (store: MemoryStore.Service, ids: ReadonlyArray<string>) =>
  Effect.gen(function*() {
    const listed = Array.from(yield* Stream.runCollect(store.list)).sort()
    assert.strictEqual(new Set(listed).size, listed.length, "nothing is listed twice")
    const conversations = yield* Effect.forEach(ids, (id) =>
      Effect.gen(function*() {
        const { counts, ...snapshot } = yield* store.load(id)
        const history = Chunk.toReadonlyArray(yield* Stream.runCollect(store.history(id)))
        const sorted = Array.from(
          counts,
          ([counter, tokens]) => [counter, Array.from(tokens).sort(([a], [b]) => a - b)]
        )
        return { ...snapshot, counts: sorted, history }
      }))
    return { listed, conversations }
  })

/** What should be seen before the first operation, after the first, and so on. */
export const viewsOf = (operations: ReadonlyArray<Operation>, ids: ReadonlyArray<string>) =>
  Effect.gen(function*() {
    const model = yield* MemoryStore.makeMemory
    const views = [yield* viewOf(model, ids)]
    for (const operation of operations) {
      yield* operation(model)
      views.push(yield* viewOf(model, ids))
    }
    return views
  })
