/**
 * Conversations over a `KeyValueStore`: each a log, and a head that names which. Clearing begins another log.
 */
import type * as KeyValueStore from "@effect/platform/KeyValueStore"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import { globalValue } from "effect/GlobalValue"
import * as ParseResult from "effect/ParseResult"
import * as Schema from "effect/Schema"
import type * as MemoryStore from "effect-memory/MemoryStore"
import * as events from "./storeEvent.js"
import * as logs from "./storeLog.js"
import * as record from "./storeRecord.js"
import * as slots from "./storeSlots.js"

/** What is known of a conversation. @internal */
export interface Conversation {
  readonly id: string
  readonly base: string
  readonly generation: number
  /** Whether its head has to be written yet. */
  readonly isNew: boolean
  readonly log: logs.Cursor
  readonly standing: events.Standing
}

/** @internal */
export type Slot = slots.Slot<Conversation>

interface Shared {
  readonly conversations: slots.Slots<Conversation>
  readonly list: slots.Slots<logs.Cursor>
}

/** Conversations known at a time that nobody is using. */
const capacity = 256

/** All stores over one `KeyValueStore` wait for each other. */
const shared = globalValue(
  "@effect-memory/platform/KeyValueMemoryStore/shared",
  () => new WeakMap<KeyValueStore.KeyValueStore, Shared>()
)

const sharedBy = (store: KeyValueStore.KeyValueStore): Shared => {
  const found = shared.get(store)
  if (found !== undefined) return found
  const made = { conversations: slots.make<Conversation>(capacity), list: slots.make<logs.Cursor>(1) }
  shared.set(store, made)
  return made
}

const longestName = 80

/**
 * A name for keys that is safe as part of a file name, also where case is ignored. Names of several ids can be the same:
 * the head tells whose it is.
 *
 * @internal
 */
export const nameOf = (id: string): string => {
  let name = ""
  for (let i = 0; i < id.length && name.length < longestName; i++) {
    const character = id.charAt(i)
    name += /[a-z0-9-]/.test(character) ? character : `_${id.charCodeAt(i).toString(16).padStart(4, "0")}`
  }
  return `${name}.${record.checksum(id)}`
}

/** Names the field, never what it holds. */
const decode = <A, I>(schema: Schema.Schema<A, I>) => {
  const parse = Schema.decodeUnknownEither(schema)
  return (key: string, body: string): Either.Either<A, logs.LogError> =>
    Either.mapLeft(parse(body), (error) => {
      const paths = ParseResult.ArrayFormatter.formatErrorSync(error).map(({ path }) => path.map(String).join("."))
      const deepest = paths.reduce((a, b) => b.length > a.length ? b : a, "")
      return logs.corrupt(key, `a record in it is not what it should be at "${deepest}"`)
    })
}

const decodeHead = decode(events.Head)
const decodeListed = decode(events.Listed)
/** @internal */
export const decodeRecorded = decode(events.Recorded)
const encodeHead = Schema.encode(events.Head)
const encodeListed = Schema.encode(events.Listed)
const encodeRecorded = Schema.encode(events.Recorded)

const orUnwritable = <A>(effect: Effect.Effect<A, ParseResult.ParseError>): Effect.Effect<A, logs.LogError> =>
  Effect.mapError(effect, (error) => {
    const path = ParseResult.ArrayFormatter.formatErrorSync(error)[0]?.path.map(String).join(".") ?? ""
    return new logs.LogError({
      reason: "corrupt",
      detail: `what should be written is no JSON at "${path}", and was not: give JSON values only`
    })
  })

const headKey = (base: string, generation: number): string => `${base}.head.${generation % 2}`

const listBase = "memory.list"

/** @internal */
export const make = (store: KeyValueStore.KeyValueStore) => {
  const log = logs.make(store)
  const { conversations, list } = sharedBy(store)

  const readHead = Effect.fnUntraced(function*(key: string): Effect.fn.Return<
    events.Head | "torn" | undefined,
    logs.LogError
  > {
    const parsed = yield* log.get(key, 1)
    if (parsed === undefined) return undefined
    if (parsed._tag === "Torn") return "torn"
    return parsed._tag === "Bad" ? yield* logs.corrupt(key, parsed.why) : yield* decodeHead(key, parsed.bodies[0])
  })

  /** What an interrupted `clear` left behind. */
  const sweep = (base: string, generation: number) =>
    generation < 0 ? Effect.void : Effect.ignore(Effect.flatMap(log.open(`${base}.${generation}`), log.removeAll))

  const open = Effect.fnUntraced(function*(id: string): Effect.fn.Return<Conversation, logs.LogError> {
    const name = `memory.c.${nameOf(id)}`
    for (let attempt = 0;; attempt++) {
      const base = `${name}.${attempt}`
      const [even, odd] = yield* Effect.all([readHead(headKey(base, 0)), readHead(headKey(base, 1))], {
        concurrency: 2
      })
      const [head] = [even, odd].filter((found) => found !== undefined && found !== "torn").sort((a, b) =>
        b.generation - a.generation
      )
      if (head !== undefined && head.id !== id) continue
      const generation = head?.generation ?? 0
      const opened = yield* log.open(`${base}.${generation}`)
      if (head === undefined && opened.last !== undefined) {
        return yield* logs.corrupt(headKey(base, 0), "it is missing or ends too early, though records are there")
      }
      // A log that `clear` began has a record, and only one that has a record is cleared like that.
      if (opened.last === undefined && head !== undefined) {
        if (generation > 0) {
          return yield* logs.corrupt(`${base}.${generation}.0.0`, "it is missing, though the head is there")
        }
        if ((yield* log.open(`${base}.1`)).last !== undefined) {
          return yield* logs.corrupt(headKey(base, 1), "it is missing or ends too early, though records are there")
        }
      }
      yield* sweep(base, generation - 1)
      const standing = opened.last === undefined
        ? { revision: 0, next: 0, first: 0 }
        : (yield* decodeRecorded(`${base}.${generation}`, opened.last)).standing
      return { id, base, generation, isNew: head === undefined, log: opened, standing }
    }
  })

  /** Uses a conversation while nobody else does. */
  const use = <A, E>(
    id: string,
    f: (conversation: Conversation, slot: Slot) => Effect.Effect<A, E>
  ): Effect.Effect<A, E | logs.LogError> =>
    conversations.use(
      id,
      (slot) =>
        Effect.flatMap(slot.known === undefined ? open(id) : Effect.succeed(slot.known), (conversation) => {
          slot.known = conversation
          return f(conversation, slot)
        })
    )

  /** Appends, and makes larger segments. Where that fails the record is there all the same, and the rest is found again. */
  const append = <A>(
    slot: slots.Slot<A>,
    cursor: logs.Cursor,
    body: string,
    f: (cursor: logs.Cursor) => A
  ): Effect.Effect<void, logs.LogError> => {
    slot.known = undefined
    return log.append(cursor, body).pipe(
      Effect.flatMap((appended) => Effect.either(log.merge(appended))),
      Effect.map((merged) => {
        if (Either.isRight(merged)) slot.known = f(merged.right)
      })
    )
  }

  const enlist = (id: string) =>
    list.use(listBase, (slot) =>
      Effect.gen(function*() {
        const cursor = slot.known ?? (yield* log.open(listBase))
        yield* append(slot, cursor, yield* orUnwritable(encodeListed({ id })), (appended) => appended)
      }))

  const writeHead = Effect.fnUntraced(function*({ base, generation, id }: Conversation) {
    yield* log.set(headKey(base, generation), record.encode(yield* orUnwritable(encodeHead({ id, generation }))))
  })

  /** Records an event. The head comes first: a conversation without one has no records. */
  const write = Effect.fnUntraced(
    function*(slot: Slot, conversation: Conversation, event: events.Event, standing: events.Standing) {
      const body = yield* orUnwritable(encodeRecorded({ standing, event }))
      slot.known = undefined
      if (conversation.isNew) {
        yield* enlist(conversation.id)
        yield* writeHead(conversation)
      }
      yield* append(
        slot,
        conversation.log,
        body,
        (cursor) => ({ ...conversation, isNew: false, log: cursor, standing })
      )
    },
    Effect.uninterruptible
  )

  /** Begins another log. The head comes last: until then the one before is current. */
  const clear = Effect.fnUntraced(function*(slot: Slot, conversation: Conversation) {
    const { base, standing: { next, revision } } = conversation
    const standing = { revision: revision + 1, next, first: next }
    if (conversation.log.last === undefined) return yield* write(slot, conversation, { _tag: "Cleared" }, standing)
    const body = yield* orUnwritable(encodeRecorded({ standing, event: { _tag: "Cleared" } }))
    slot.known = undefined
    const generation = conversation.generation + 1
    const begun = yield* log.append({ base: `${base}.${generation}`, ends: [0, 0, 0], last: undefined }, body)
    const cleared = { ...conversation, generation, log: begun, standing }
    yield* writeHead(cleared)
    if (Either.isRight(yield* Effect.either(log.removeAll(conversation.log)))) slot.known = cleared
  }, Effect.uninterruptible)

  /** Events from the newest one for which `isEnough` holds, the oldest first. */
  const readBack = Effect.fnUntraced(function*(
    { log: cursor }: Conversation,
    isEnough: (event: events.Event) => boolean
  ): Effect.fn.Return<ReadonlyArray<events.Event>, logs.LogError> {
    const found: Array<events.Event> = []
    let position = cursor.ends[0]
    while (position > 0) {
      const { bodies, key, start } = yield* log.read(cursor, position - 1)
      for (const body of bodies.slice(0, position - start).reverse()) {
        const { event } = yield* decodeRecorded(key, body)
        found.push(event)
        if (isEnough(event)) return found.reverse()
      }
      position = start
    }
    return found.reverse()
  })

  /** The conversation as it stands, from its newest compaction on unless all of it is wanted. */
  const stateOf = (conversation: Conversation, all = false): Effect.Effect<events.State, logs.LogError> =>
    Effect.suspend(() => {
      let whole = all
      return Effect.map(
        readBack(conversation, ({ _tag }) => {
          // What was covered came back: it stands before the compaction.
          if (_tag === "Restored") whole = true
          return _tag === "Compacted" && !whole
        }),
        events.replay
      )
    })

  /** What to record of a compaction, with all that it leaves uncovered. */
  const compacted = (
    conversation: Conversation,
    compaction: MemoryStore.Compaction | undefined
  ): Effect.Effect<events.Event, logs.LogError> => {
    if (compaction === undefined) return Effect.succeed({ _tag: "Restored" })
    const compactedEvent = ({ counts, entries }: events.State): events.Event => ({
      _tag: "Compacted",
      compaction,
      entries: events.uncovered({ compaction, entries }),
      counts
    })
    return Effect.flatMap(stateOf(conversation), (state) =>
      events.coversAll(compaction, state.compaction)
        ? Effect.succeed(compactedEvent(state))
        : Effect.map(stateOf(conversation, true), compactedEvent))
  }

  /** Ids in the list from a position on, and where to go on; `undefined` at the end. */
  const listFrom = (position: number) =>
    list.use(listBase, (slot) =>
      Effect.gen(function*() {
        const cursor = slot.known ?? (yield* log.open(listBase))
        slot.known = cursor
        if (position >= cursor.ends[0]) return undefined
        const { bodies, key, start } = yield* log.read(cursor, position)
        const ids = yield* Effect.forEach(bodies.slice(position - start), (body) => decodeListed(key, body), {
          concurrency: 1
        })
        return { ids: ids.map(({ id }) => id), next: start + bodies.length }
      }))

  return { use, write, clear, readBack, stateOf, compacted, listFrom, read: log.read }
}
