/**
 * One conversation: its view, kept in step with the store. Everything that writes does so under one lock.
 */
import * as Effect from "effect/Effect"
import type { LazyArg } from "effect/Function"
import * as Hash from "effect/Hash"
import * as Random from "effect/Random"
import * as Ref from "effect/Ref"
import type { MemoryStoreError, TokenCountError } from "../MemoryError.js"
import type * as MemoryStore from "../MemoryStore.js"
import type * as Message from "../Message.js"
import type * as TokenCounter from "../TokenCounter.js"
import { answerOf, countAll, remembering } from "./counting.js"
import type { Forms } from "./forms.js"
import { make as makeLock, type Restore } from "./lock.js"
import { type Counts, type Options as ViewOptions, type Raw, type Unsummed, View } from "./view.js"

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

interface State {
  readonly loaded: Loaded | undefined
  readonly version: number
}

/** More messages than a turn adds are counted so that other fibers run meanwhile. */
const mostNow = 16

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
  ) => Effect.Effect<unknown, MemoryStoreError>
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
  const state = yield* Ref.make<State>({ loaded: undefined, version: 0 })
  const writing = yield* makeLock
  const counting = yield* Effect.makeSemaphore(1)
  // Under one seed, two memories draw the same numbers: the last one is not drawn.
  const drawn = `${yield* Random.nextIntBetween(0, 2 ** 31)}-${yield* Random.nextIntBetween(0, 2 ** 31)}`
  const origin = `${drawn}-${Hash.random(counts)}`

  const set = (view: View, revision: number, nextSequence: number, compaction: MemoryStore.Compaction | undefined) =>
    Ref.modify(state, (before): [Loaded, State] => {
      const version = before.version + 1
      const loaded = { view, revision, nextSequence, compaction, version }
      return [loaded, { loaded, version }]
    })
  const forget = Ref.update(state, ({ version }) => ({ loaded: undefined, version: version + 1 }))

  const reload = Effect.gen(function*() {
    const snapshot = yield* store.load(id)
    const saved = snapshot.counts.get(counter.id)
    for (const { message, sequence } of snapshot.entries) {
      const tokens = saved?.get(sequence)
      if (tokens !== undefined) counts.set(message, tokens)
    }
    const { compaction, entries, nextSequence, revision } = snapshot
    return yield* set(viewOf(entries, compaction, options.view, known), revision, nextSequence, compaction)
  })

  const withLoaded = <A>(
    restore: Restore,
    f: (loaded: Loaded) => Effect.Effect<A, MemoryStoreError>
  ): Effect.Effect<A, MemoryStoreError> =>
    Effect.flatMap(
      Ref.get(state),
      ({ loaded }) => loaded === undefined ? Effect.flatMap(restore(reload), f) : f(loaded)
    )

  const load = writing((restore) => withLoaded(restore, Effect.succeed))

  const read = <A>(f: (loaded: Loaded) => A): Effect.Effect<A, MemoryStoreError> =>
    Effect.flatMap(
      Ref.get(state),
      ({ loaded }) => loaded !== undefined ? Effect.succeed(f(loaded)) : Effect.zipRight(load, read(f))
    )

  /** Saves what is counted, then goes on. Counts can be had again: a store that does not keep them is no failure. */
  const save = <A, E>(counted: ReadonlyArray<Unsummed>, next: LazyArg<Effect.Effect<A, E>>): Effect.Effect<A, E> => {
    const saved = new Map<number, number>()
    for (const { message, sequence, verbatim } of counted) {
      const tokens = counts.get(message)
      if (tokens !== undefined && verbatim && sequence >= 0) saved.set(sequence, tokens)
    }
    return saved.size === 0 ? next() : Effect.matchCauseEffect(store.saveCounts(id, counter.id, saved), {
      onFailure: (cause) => Effect.zipRight(Effect.logDebug("Counts were not saved", cause), next()),
      onSuccess: next
    })
  }

  const countMissing = Effect.gen(function*() {
    const missing = yield* read(({ view }) => view.uncounted())
    const counted = yield* Effect.either(countAll(counter, Array.from(new Set(missing.map(({ message }) => message)))))
    yield* save(missing, () => counted)
  }).pipe(counting.withPermits(1))

  /** What a turn adds is counted without waiting where the counter answers at once. */
  const isCountedNow = (missing: ReadonlyArray<Unsummed>): boolean =>
    missing.length <= mostNow && missing.every(({ message }) => answerOf(counter.countMessage(message)) !== undefined)

  const readCounted = <A>(f: (loaded: Loaded) => A): Effect.Effect<A, MemoryStoreError | TokenCountError> =>
    Effect.flatMap(Ref.get(state), ({ loaded }) => {
      if (loaded === undefined) return Effect.zipRight(countMissing, readCounted(f))
      const missing = loaded.view.uncounted()
      if (missing.length === 0) return Effect.succeed(f(loaded))
      const isCounted = isCountedNow(missing)
      // To save may take its time: what is read is what stands in the view then.
      const again = () => readCounted(f)
      return save(missing, isCounted ? again : () => Effect.flatMap(countMissing, again))
    })

  /**
   * One write: what it needs is loaded first, what it wrote is applied without a gap. After one that failed or was
   * interrupted nobody knows what is stored: the view is loaded again.
   */
  const write = <A>(
    restore: Restore,
    operation: (loaded: Loaded) => {
      readonly store: Effect.Effect<A, MemoryStoreError>
      readonly apply: (answer: A) => Effect.Effect<unknown>
    }
  ): Effect.Effect<unknown, MemoryStoreError> =>
    withLoaded(restore, (loaded) => {
      const { apply, store } = operation(loaded)
      return Effect.matchCauseEffect(restore(store), {
        onFailure: (cause) => Effect.zipRight(forget, Effect.failCause(cause)),
        onSuccess: apply
      })
    })

  const appendOnce = (
    restore: Restore,
    messages: ReadonlyArray<Message.Message>,
    isProtected: boolean,
    recordedAt: number
  ): Effect.Effect<unknown, MemoryStoreError> =>
    write<number>(restore, (loaded) => {
      const { nextSequence, version } = loaded
      const entries = messages.map((message, i): MemoryStore.Entry => ({
        sequence: nextSequence + i,
        // The version moves with every write, also with one that failed: no other entry is called the same.
        id: `${origin}-${version}-${i}`,
        message,
        protected: isProtected,
        recordedAt
      }))
      return {
        store: store.append(id, nextSequence, entries),
        apply: (revision) => {
          // Another memory has compacted or cleared the conversation.
          if (revision !== loaded.revision) return forget
          for (const entry of entries) loaded.view.append(entry)
          return set(loaded.view, revision, nextSequence + entries.length, loaded.compaction)
        }
      }
    })

  const append: Session["append"] = (messages, isProtected) =>
    Effect.clockWith((clock) => {
      const recordedAt = clock.unsafeCurrentTimeMillis()
      return writing((restore) => untilNoConflict(appendOnce(restore, messages, isProtected, recordedAt)))
    })

  const compact: Session["compact"] = (decide) =>
    writing((restore) =>
      untilNoConflict(
        Effect.flatMap(
          withLoaded(restore, (loaded) => restore(decide(loaded))),
          (decision) =>
            decision === undefined ? Effect.succeed(false) : Effect.as(commit(restore, decision.compaction), true)
        )
      )
    )

  const commit = (restore: Restore, compaction: MemoryStore.Compaction | undefined) =>
    write<number>(restore, (loaded) => ({
      store: store.compact(id, loaded.revision, compaction),
      // What was covered before stands in no view: where it comes back, it is loaded.
      apply: (revision) => {
        if (compaction === undefined) return forget
        const view = viewOf(uncovered(loaded.view.raws, compaction), compaction, options.view, known)
        return set(view, revision, loaded.nextSequence, compaction)
      }
    }))

  const clear = writing((restore) => Effect.ensuring(restore(Effect.suspend(() => store.clear(id))), forget))

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
