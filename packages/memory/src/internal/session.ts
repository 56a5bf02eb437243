/**
 * One conversation: its view, kept in step with the store. Everything that writes goes through one permit.
 */
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Hash from "effect/Hash"
import * as Random from "effect/Random"
import * as Ref from "effect/Ref"
import type { MemoryStoreError, TokenCountError } from "../MemoryError.js"
import type * as MemoryStore from "../MemoryStore.js"
import type * as Message from "../Message.js"
import type * as TokenCounter from "../TokenCounter.js"
import { countAll, remembering } from "./counting.js"
import { exclusive } from "./exclusive.js"
import type { Forms } from "./forms.js"
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

/** How often a write is tried because another writer was first. */
const writeAttempts = 100

/** After a conflict the view is loaded again: the next try starts from what is stored. */
const untilNoConflict = <A>(
  write: Effect.Effect<A, MemoryStoreError>,
  attempts = writeAttempts
): Effect.Effect<A, MemoryStoreError> =>
  Effect.catchAll(
    write,
    (error) => error.reason === "conflict" && attempts > 1 ? untilNoConflict(write, attempts - 1) : Effect.fail(error)
  )

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
    decide: (
      loaded: Loaded
    ) => Effect.Effect<{ readonly compaction: MemoryStore.Compaction | undefined } | undefined>
  ) => Effect.Effect<boolean, MemoryStoreError>
  readonly clear: Effect.Effect<void, MemoryStoreError>
}

const viewOf = (
  entries: ReadonlyArray<Raw>,
  compaction: MemoryStore.Compaction | undefined,
  options: ViewOptions,
  known: { readonly counts: Counts; readonly forms: Forms }
): View => {
  const view = new View(options, known.counts, known.forms)
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
  const known = { counts, forms: new WeakMap() }
  const counter = remembering(options.counter, counts)
  const state = yield* Ref.make<{ readonly loaded: Loaded | undefined; readonly version: number }>({
    loaded: undefined,
    version: 0
  })
  const writer = yield* Effect.makeSemaphore(1)
  const exclusively = exclusive(writer)
  const counting = yield* Effect.makeSemaphore(1)
  // Under one seed, two memories draw the same numbers: the last one is not drawn.
  const drawn = `${yield* Random.nextIntBetween(0, 2 ** 31)}-${yield* Random.nextIntBetween(0, 2 ** 31)}`
  const origin = `${drawn}-${Hash.random(counts)}`

  const set = (fresh: Omit<Loaded, "version">): Effect.Effect<Loaded> =>
    Ref.modify(state, ({ version }) => {
      const loaded = { ...fresh, version: version + 1 }
      return [loaded, { loaded, version: version + 1 }]
    })
  const forget = Ref.update(state, ({ version }) => ({ loaded: undefined, version: version + 1 }))

  const reload = Effect.gen(function*() {
    const snapshot = yield* store.load(id)
    const saved = snapshot.counts.get(counter.id)
    for (const { message, sequence } of snapshot.entries) {
      const tokens = saved?.get(sequence)
      if (tokens !== undefined) counts.set(message, tokens)
    }
    return yield* set({
      view: viewOf(snapshot.entries, snapshot.compaction, options.view, known),
      revision: snapshot.revision,
      nextSequence: snapshot.nextSequence,
      compaction: snapshot.compaction
    })
  })

  const load = Effect.flatMap(Ref.get(state), ({ loaded }) => loaded === undefined ? reload : Effect.succeed(loaded))

  const read = <A>(f: (loaded: Loaded) => A): Effect.Effect<A, MemoryStoreError> =>
    Effect.flatMap(
      Ref.get(state),
      ({ loaded }) => loaded !== undefined ? Effect.succeed(f(loaded)) : Effect.zipRight(exclusively(load), read(f))
    )

  const countMissing = exclusive(counting)(
    Effect.gen(function*() {
      const missing = yield* read(({ view }) => view.uncounted())
      if (missing.length === 0) return
      const counted = yield* Effect.either(
        countAll(counter, Array.from(new Set(missing.map(({ message }) => message))))
      )
      const saved = new Map<number, number>()
      for (const { message, sequence, verbatim } of missing) {
        const tokens = counts.get(message)
        if (tokens !== undefined && verbatim && sequence >= 0) saved.set(sequence, tokens)
      }
      // Counts can be had again: a store that does not keep them is no reason to fail.
      if (saved.size > 0) yield* Effect.ignoreLogged(store.saveCounts(id, counter.id, saved))
      if (Either.isLeft(counted)) return yield* counted.left
    })
  )

  const readCounted = <A>(f: (loaded: Loaded) => A): Effect.Effect<A, MemoryStoreError | TokenCountError> =>
    Effect.flatMap(Ref.get(state), ({ loaded }) =>
      loaded !== undefined && loaded.view.uncounted().length === 0
        ? Effect.succeed(f(loaded))
        : Effect.zipRight(countMissing, readCounted(f)))

  /**
   * One write: what it needs is loaded first, what it wrote is applied without a gap. After one that failed or was
   * interrupted nobody knows what is stored: the view is loaded again.
   */
  const write = <A, B>(
    operation: (loaded: Loaded) => Effect.Effect<A, MemoryStoreError>,
    apply: (loaded: Loaded, answer: A) => Effect.Effect<B>
  ): Effect.Effect<B, MemoryStoreError> =>
    Effect.uninterruptibleMask((restore) =>
      Effect.gen(function*() {
        const loaded = yield* restore(load)
        return yield* Effect.matchCauseEffect(restore(operation(loaded)), {
          onFailure: (cause) => Effect.zipRight(forget, Effect.failCause(cause)),
          onSuccess: (answer) => apply(loaded, answer)
        })
      })
    )

  const appendOnce = (
    messages: ReadonlyArray<Message.Message>,
    isProtected: boolean,
    recordedAt: number
  ): Effect.Effect<void, MemoryStoreError> =>
    write(
      ({ nextSequence, version }) =>
        store.append(
          id,
          nextSequence,
          messages.map((message, i): MemoryStore.Entry => ({
            sequence: nextSequence + i,
            // The version moves with every write, also with one that failed: no other entry is called the same.
            id: `${origin}-${version}-${i}`,
            message,
            protected: isProtected,
            recordedAt
          }))
        ),
      (loaded, revision) => {
        // Another memory has compacted or cleared the conversation.
        if (revision !== loaded.revision) return forget
        messages.forEach((message, i) =>
          loaded.view.append({ message, sequence: loaded.nextSequence + i, protected: isProtected })
        )
        return set({ ...loaded, nextSequence: loaded.nextSequence + messages.length })
      }
    )

  const append: Session["append"] = (messages, isProtected) =>
    Effect.clockWith((clock) => {
      const recordedAt = clock.unsafeCurrentTimeMillis()
      return exclusively(untilNoConflict(appendOnce(messages, isProtected, recordedAt)))
    })

  const compact: Session["compact"] = (decide) =>
    exclusively(untilNoConflict(
      Effect.flatMap(Effect.flatMap(load, decide), (decision) =>
        decision === undefined ? Effect.succeed(false) : Effect.as(commit(decision.compaction), true))
    ))

  const commit = (compaction: MemoryStore.Compaction | undefined) =>
    write(
      ({ revision }) => store.compact(id, revision, compaction),
      (loaded, revision) =>
        // What was covered before stands in no view: where it comes back, it is loaded.
        compaction === undefined ? forget : Effect.asVoid(set({
          ...loaded,
          revision,
          compaction,
          view: viewOf(uncovered(loaded.view.raws, compaction), compaction, options.view, known)
        }))
    )

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
