/**
 * An append-only log of records over a `KeyValueStore`.
 *
 * Record n is written to a key of its own, `base.0.n`. Of sixteen records one segment is made, of sixteen segments a
 * larger one; then what they were made of is removed. A key that holds what was acknowledged is never written again, and
 * nothing is removed before what replaces it is written. So the end is found by asking for keys, and only the newest value of
 * a level can be torn.
 */
import type { PlatformError } from "@effect/platform/Error"
import type * as KeyValueStore from "@effect/platform/KeyValueStore"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as record from "./storeRecord.js"

/** @internal */
export class LogError extends Data.TaggedError("LogError")<{
  readonly reason: "corrupt" | "unavailable"
  readonly detail: string
  readonly cause?: PlatformError
}> {}

/**
 * Where a log stands.
 *
 * @internal
 */
export interface Cursor {
  readonly base: string
  /** By level: the number of the segment that comes next. A segment of level 0 is one record. */
  readonly ends: readonly [number, number, number]
  /** The newest record. */
  readonly last: string | undefined
}

/** @internal */
export interface Segment {
  readonly key: string
  /** Number of its first record. */
  readonly start: number
  readonly bodies: ReadonlyArray<string>
}

const fanout = 16

type Level = 0 | 1 | 2

const sizeOf = (level: Level): number => fanout ** level

const keyOf = (base: string, level: Level, segment: number): string => `${base}.${level}.${segment}`

/** @internal */
export const corrupt = (key: string, why: string): LogError =>
  new LogError({
    reason: "corrupt",
    detail: `key "${key}" cannot be read: ${why}. Bring it back from a copy, or remove all keys of this conversation`
  })

/** @internal */
export const make = (store: KeyValueStore.KeyValueStore) => {
  const orUnavailable = <A>(doing: string, key: string, effect: Effect.Effect<A, PlatformError>) =>
    Effect.mapError(effect, (cause) =>
      new LogError({
        reason: "unavailable",
        detail: `the key-value store could not ${doing} "${key}": see the cause, and try again`,
        cause
      }))
  const has = (key: string) => orUnavailable("look for", key, store.has(key))
  const set = (key: string, value: string) => orUnavailable("write", key, store.set(key, value))

  const get = (key: string, count: number): Effect.Effect<record.Parsed | undefined, LogError> =>
    Effect.map(
      orUnavailable("read", key, store.get(key)),
      (value) => Option.isSome(value) ? record.parse(value.value, count) : undefined
    )

  const getWhole = (key: string, count: number): Effect.Effect<ReadonlyArray<string>, LogError> =>
    Effect.flatMap(get(key, count), (parsed) => {
      if (parsed?._tag === "Whole") return Effect.succeed(parsed.bodies)
      return Effect.fail(corrupt(
        key,
        parsed === undefined ? "it is missing" : parsed._tag === "Torn" ? "it ends too early" : parsed.why
      ))
    })

  const remove = (key: string) =>
    Effect.flatMap(has(key), (there) => there ? orUnavailable("remove", key, store.remove(key)) : Effect.void)

  /** The first number from `start` on that no key has: steps double, then halve. */
  const endOf = Effect.fnUntraced(function*(base: string, level: Level, start: number) {
    const isThere = (segment: number) => has(keyOf(base, level, segment))
    if (!(yield* isThere(start))) return start
    let there = start
    let step = 1
    while (yield* isThere(there + step)) {
      there += step
      step *= 2
    }
    let missing = there + step
    while (missing - there > 1) {
      const middle = (there + missing) >> 1
      if (yield* isThere(middle)) there = middle
      else missing = middle
    }
    return missing
  })

  /** What was merged is removed, the last of it last: as long as that is there, there is something left. */
  const removeMerged = Effect.fnUntraced(function*(base: string, level: Level, end: number) {
    const below = level === 2 ? 1 : 0
    if (end === 0 || level === 0 || !(yield* has(keyOf(base, below, end * fanout - 1)))) return
    for (let i = (end - 1) * fanout; i < end * fanout; i++) yield* remove(keyOf(base, below, i))
  })

  /** Finds where a log stands. What was torn when it was written is as if it had never been written. */
  const open = Effect.fnUntraced(function*(base: string): Effect.fn.Return<Cursor, LogError> {
    const ends: [number, number, number] = [0, 0, 0]
    let last: string | undefined
    let start = 0
    let tornAbove: string | undefined
    for (const level of [2, 1, 0] as const) {
      let end = yield* endOf(base, level, start)
      // Neither one that is missing in between, nor a segment whose parts are removed, is the end.
      for (const later of end === start ? [end + 1, end + fanout] : [end + 1]) {
        if (yield* has(keyOf(base, level, later))) {
          return yield* corrupt(keyOf(base, level, end), "it is missing, though later ones are there")
        }
      }
      if (tornAbove !== undefined && end - start < fanout) return yield* corrupt(tornAbove, "it ends too early")
      tornAbove = undefined
      if (end > start) {
        const key = keyOf(base, level, end - 1)
        const newest = yield* get(key, sizeOf(level))
        if (newest?._tag === "Torn") {
          end--
          if (level > 0) tornAbove = key
          else if (end > start) last = (yield* getWhole(keyOf(base, level, end - 1), 1)).at(-1)
        } else {
          last = (yield* getWhole(key, sizeOf(level))).at(-1)
        }
      }
      ends[level] = end
      yield* Effect.ignore(removeMerged(base, level, end))
      start = end * fanout
    }
    return { base, ends, last }
  })

  const append = (cursor: Cursor, body: string): Effect.Effect<Cursor, LogError> => {
    const { base, ends: [records, ...larger] } = cursor
    return Effect.as(
      set(keyOf(base, 0, records), record.encode(body)),
      { base, ends: [records + 1, ...larger], last: body }
    )
  }

  const mergeInto = Effect.fnUntraced(function*(cursor: Cursor, level: 1 | 2): Effect.fn.Return<Cursor, LogError> {
    const { base, ends } = cursor
    const below = level === 2 ? 1 : 0
    const segment = ends[level]
    if (ends[below] - segment * fanout < fanout) return cursor
    const parts = yield* Effect.forEach(
      Array.from({ length: fanout }, (_, i) => keyOf(base, below, segment * fanout + i)),
      (key) => getWhole(key, sizeOf(below)),
      { concurrency: fanout }
    )
    yield* set(keyOf(base, level, segment), parts.flat().map(record.encode).join(""))
    yield* removeMerged(base, level, segment + 1)
    return { ...cursor, ends: level === 1 ? [ends[0], segment + 1, ends[2]] : [ends[0], ends[1], segment + 1] }
  })

  /** Makes larger segments where there is enough for one. */
  const merge = (cursor: Cursor): Effect.Effect<Cursor, LogError> =>
    Effect.flatMap(mergeInto(cursor, 1), (merged) => mergeInto(merged, 2))

  /** The segment that holds a record. */
  const read = ({ base, ends }: Cursor, position: number): Effect.Effect<Segment, LogError> => {
    const level = position < ends[2] * sizeOf(2) ? 2 : position < ends[1] * sizeOf(1) ? 1 : 0
    const segment = Math.floor(position / sizeOf(level))
    const key = keyOf(base, level, segment)
    return Effect.map(getWhole(key, sizeOf(level)), (bodies) => ({ key, start: segment * sizeOf(level), bodies }))
  }

  /** Removes a log from its end on: what an interruption leaves of it is a shorter log. */
  const removeAll = Effect.fnUntraced(function*({ base, ends }: Cursor): Effect.fn.Return<void, LogError> {
    for (const level of [0, 1, 2] as const) {
      const start = level === 2 ? 0 : ends[level === 1 ? 2 : 1] * fanout
      // One that was torn may stand at the end.
      for (let i = ends[level]; i >= start; i--) yield* remove(keyOf(base, level, i))
    }
  })

  return { open, append, merge, read, removeAll, get, set }
}
