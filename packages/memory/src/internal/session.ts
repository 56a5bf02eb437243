/**
 * One conversation: its view, kept in step with the store. Everything that writes goes through one permit.
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Random from "effect/Random"
import * as Ref from "effect/Ref"

import type { MemoryStoreError, TokenCountError } from "../MemoryError.js"
import type * as MemoryStore from "../MemoryStore.js"
import type * as Message from "../Message.js"
import type * as TokenCounter from "../TokenCounter.js"
import { countAll, remembering } from "./counting.js"
import { type Counts, type Options as ViewOptions, type Raw, View } from "./view.js"

/**
 * The view in step with the store. It is changed in place, in synchronous steps only: read what you need from it before
 * you yield.
 *
 * @internal
 */
export interface Loaded {
  readonly view: View
  readonly revision: number
  readonly nextSequence: number
  readonly compaction: MemoryStore.Compaction | undefined
  /** Moves whenever the view does. */
  readonly version: number
}

/** How often an append is tried again because another writer was first. */
const appendAttempts = 100

/** @internal */
export interface Session {
  /** Counts each message once. */
  readonly counter: TokenCounter.Service
  readonly counts: Counts
  readonly append: (
    messages: ReadonlyArray<Message.Message>,
    isProtected: boolean
  ) => Effect.Effect<void, MemoryStoreError>
  /** Reads from the view, once it is loaded. */
  readonly read: <A>(f: (loaded: Loaded) => A) => Effect.Effect<A, MemoryStoreError>
  /** Reads from the view, once everything in it is counted. */
  readonly readCounted: <A>(f: (loaded: Loaded) => A) => Effect.Effect<A, MemoryStoreError | TokenCountError>
  /** Commits what `decide` returns on the view as it then stands; answers whether it did. */
  readonly compact: (
    decide: (loaded: Loaded) => { readonly compaction: MemoryStore.Compaction | undefined } | undefined
  ) => Effect.Effect<boolean, MemoryStoreError>
  readonly clear: Effect.Effect<void, MemoryStoreError>
}

const viewOf = (
  entries: ReadonlyArray<Raw>,
  compaction: MemoryStore.Compaction | undefined,
  options: ViewOptions,
  counts: Counts
): View => {
  const view = new View(options, counts)
  let standIns = compaction?.messages ?? []
  const placeStandIns = () => {
    for (const message of standIns) view.append({ message, sequence: -1, protected: false })
    standIns = []
  }
  for (const entry of entries) {
    if (compaction !== undefined && entry.sequence > compaction.from) placeStandIns()
    view.append(entry)
  }
  placeStandIns()
  return view
}

/** @internal */
export const make = Effect.fnUntraced(function*(options: {
  readonly id: string
  readonly store: MemoryStore.Service
  readonly counter: TokenCounter.Service
  readonly view: ViewOptions
}): Effect.fn.Return<Session> {
  const { id, store } = options
  const counts: Counts = new WeakMap()
  const counter = remembering(options.counter, counts)
  const state = yield* Ref.make<{ readonly loaded: Loaded | undefined; readonly version: number }>({
    loaded: undefined,
    version: 0
  })
  const writer = yield* Effect.makeSemaphore(1)
  const counting = yield* Effect.makeSemaphore(1)
  const origin = `${yield* Random.nextIntBetween(0, 2 ** 31)}-${yield* Random.nextIntBetween(0, 2 ** 31)}`
  const recorded = yield* Ref.make(0)

  const set = (loaded: Omit<Loaded, "version"> | undefined) =>
    Ref.updateAndGet(state, ({ version }) => ({
      loaded: loaded === undefined ? undefined : { ...loaded, version: version + 1 },
      version: version + 1
    }))
  const forget = set(undefined)
  /** After a write that failed or was interrupted nobody knows what is stored. */
  const forgetUnlessDone = <A, E>(write: Effect.Effect<A, E>): Effect.Effect<A, E> =>
    Effect.onExit(write, (exit) => Exit.isSuccess(exit) ? Effect.void : forget)

  const load = Effect.gen(function*() {
    const { loaded } = yield* Ref.get(state)
    if (loaded !== undefined) return loaded
    const snapshot = yield* store.load(id)
    const saved = snapshot.counts.get(counter.id)
    for (const { message, sequence } of snapshot.entries) {
      const tokens = saved?.get(sequence)
      if (tokens !== undefined) counts.set(message, tokens)
    }
    const fresh = {
      view: viewOf(snapshot.entries, snapshot.compaction, options.view, counts),
      revision: snapshot.revision,
      nextSequence: snapshot.nextSequence,
      compaction: snapshot.compaction
    }
    const { version } = yield* set(fresh)
    return { ...fresh, version }
  })

  const read = <A>(f: (loaded: Loaded) => A): Effect.Effect<A, MemoryStoreError> =>
    Effect.flatMap(
      Ref.get(state),
      ({ loaded }) =>
        loaded !== undefined ? Effect.succeed(f(loaded)) : Effect.zipRight(writer.withPermits(1)(load), read(f))
    )

  const countMissing = counting.withPermits(1)(
    Effect.gen(function*() {
      const missing = yield* read(({ view }) => view.uncounted())
      if (missing.length === 0) return
      const tokens = yield* countAll(counter, missing.map(({ message }) => message))
      const saved = new Map<number, number>()
      missing.forEach(({ sequence, verbatim }, i) => {
        if (verbatim && sequence >= 0) saved.set(sequence, tokens[i])
      })
      // Counts can be had again: a store that does not keep them is no reason to fail.
      yield* Effect.ignoreLogged(store.saveCounts(id, counter.id, saved))
    })
  )

  const readCounted = <A>(f: (loaded: Loaded) => A): Effect.Effect<A, MemoryStoreError | TokenCountError> =>
    Effect.flatten(
      read((loaded) =>
        loaded.view.uncounted().length === 0 ? Effect.succeed(f(loaded)) : Effect.zipRight(countMissing, readCounted(f))
      )
    )

  /** One write: what it needs is loaded first, what it wrote is applied without a gap. */
  const write = <A>(
    operation: (loaded: Loaded) => Effect.Effect<A, MemoryStoreError>,
    apply: (loaded: Loaded, answer: A) => Omit<Loaded, "version"> | undefined
  ): Effect.Effect<void, MemoryStoreError> =>
    Effect.uninterruptibleMask((restore) =>
      Effect.gen(function*() {
        const loaded = yield* restore(load)
        const answer = yield* forgetUnlessDone(restore(operation(loaded)))
        yield* set(apply(loaded, answer))
      })
    )

  const append: Session["append"] = Effect.fnUntraced(function*(messages, isProtected) {
    const recordedAt = yield* Clock.currentTimeMillis
    const first = yield* Ref.getAndUpdate(recorded, (n) => n + messages.length)
    const entriesFrom = (sequence: number): ReadonlyArray<MemoryStore.Entry> =>
      messages.map((message, i) => ({
        sequence: sequence + i,
        id: `${origin}-${first + i}`,
        message,
        protected: isProtected,
        recordedAt
      }))
    yield* write(
      ({ nextSequence }) => store.append(id, nextSequence, entriesFrom(nextSequence)),
      (loaded, revision) => {
        if (revision !== loaded.revision) return undefined
        messages.forEach((message, i) =>
          loaded.view.append({ message, sequence: loaded.nextSequence + i, protected: isProtected })
        )
        return { ...loaded, nextSequence: loaded.nextSequence + messages.length }
      }
    ).pipe(
      Effect.retry({ while: (error) => error.reason === "conflict", times: appendAttempts }),
      writer.withPermits(1)
    )
  })

  const compact: Session["compact"] = (decide) =>
    Effect.uninterruptibleMask((restore) =>
      Effect.gen(function*() {
        const loaded = yield* restore(load)
        const decision = decide(loaded)
        if (decision === undefined) return false
        const { compaction } = decision
        const revision = yield* forgetUnlessDone(restore(store.compact(id, loaded.revision, compaction)))
        // What was covered before stands in no view: where it comes back, it is loaded.
        yield* set(
          compaction === undefined ? undefined : {
            ...loaded,
            revision,
            compaction,
            view: viewOf(uncovered(loaded.view.raws, compaction), compaction, options.view, counts)
          }
        )
        return true
      })
    ).pipe(writer.withPermits(1))

  const clear = Effect.uninterruptibleMask((restore) => Effect.ensuring(restore(store.clear(id)), forget)).pipe(
    writer.withPermits(1)
  )

  return {
    counter,
    counts,
    append,
    read,
    readCounted,
    compact,
    clear
  }
})

const uncovered = (raws: ReadonlyArray<Raw>, compaction: MemoryStore.Compaction): ReadonlyArray<Raw> => {
  const keep = new Set(compaction.keep)
  return raws.filter(({ sequence }) =>
    sequence >= 0 && (sequence < compaction.from || sequence >= compaction.upTo || keep.has(sequence))
  )
}
