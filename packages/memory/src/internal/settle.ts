/**
 * From what a strategy returned to a context that keeps the laws: order of recording, whole groups, everything that
 * must stay, and what is materialized.
 */
import { isRecord } from "effect/Predicate"
import type { Compaction } from "../MemoryStore.js"
import * as Message from "../Message.js"
import { pair } from "./pairing.js"
import * as tag from "./tag.js"
import type { Item, Raw } from "./view.js"

/** @internal */
export interface Result {
  readonly messages: ReadonlyArray<Message.Message>
  readonly replace: boolean
  readonly origin?: ReadonlyArray<number> | undefined
  readonly covers?: ReadonlyArray<number> | undefined
}

/** A message of the trimmed sequence and the item it is or rewrites; none for a new one. @internal */
export interface Placed {
  readonly message: Message.Message
  readonly item: number | undefined
}

/** @internal */
export interface Settled {
  readonly placed: ReadonlyArray<Placed>
  /** Items that new messages stand for from now on; empty for a projection. */
  readonly covers: ReadonlySet<number>
  /** What stands for them: earlier stand-ins that were kept, then new messages. */
  readonly standIns: ReadonlyArray<Message.Message>
}

/**
 * Indices of the items that no strategy can remove: protected rounds, pinned messages, the newest round's user
 * messages, its newest group and its open calls.
 */
const mustStay = (items: ReadonlyArray<Item>, groups: ReadonlyArray<Group>): ReadonlySet<number> => {
  const stay = new Set<number>()
  const newest = items.at(-1)?.round
  items.forEach((item, i) => {
    if (item.protected || (item.pinned && item.sequence >= 0)) stay.add(i)
    else if (item.round === newest && item.sequence >= 0 && item.message.role === "user") stay.add(i)
  })
  groups.forEach((group, g) => {
    if (items[group.items[0]].round !== newest) return
    if (g === groups.length - 1 || group.open) { for (const i of group.items) stay.add(i) }
  })
  return stay
}

/** @internal */
export interface Group {
  /** The assistant message, then its results. */
  readonly items: ReadonlyArray<number>
  /** Whether a call has no result but one that closes it, which the true one may still replace. */
  readonly open: boolean
}

/** @internal */
export const groupsOf = (messages: ReadonlyArray<Message.Message>): ReadonlyArray<Group> => {
  const { pairing } = pair(messages)
  return messages.flatMap((message, i): ReadonlyArray<Group> => {
    if (message.role !== "assistant") return []
    const answers = new Set(
      pairing.calls[i].flatMap((call) =>
        call.answeredAt === undefined || call.answeredAt === i ? [] : [call.answeredAt]
      )
    )
    const open = pairing.calls[i].some(({ answer }) => answer === undefined || tag.isClosing(answer.part))
    return [{ items: [i, ...answers], open }]
  })
}

/** Origins as given, or found by reference from the end: what is kept is the newest of several, and none is new. @internal */
export const originsOf = (inputs: ReadonlyArray<Message.Message>, result: Result): ReadonlyArray<number> => {
  if (result.origin !== undefined) return result.origin
  const places = new Map<Message.Message, Array<number>>()
  inputs.forEach((message, i) => {
    const same = places.get(message)
    if (same === undefined) places.set(message, [i])
    else same.push(i)
  })
  return result.messages.map((message) => message).reverse().map((message) => {
    const same = places.get(message) ?? [-1]
    return same.length > 1 ? same.pop()! : same[0]
  }).reverse()
}

const isIndex = (i: number, length: number): boolean => Number.isInteger(i) && i >= 0 && i < length

/** What is wrong with a result, in words; nothing if it can be used. @internal */
export const faultOf = (result: Result, inputs: ReadonlyArray<Message.Message>): string | undefined => {
  if (!isRecord(result) || !Array.isArray(result.messages)) return "it returned no list of messages"
  if (typeof result.replace !== "boolean") return `replace is ${String(result.replace)}: say true or false`
  const known = new Set(inputs)
  const wrong = result.messages.findIndex((message) => !known.has(message) && !Message.isMessage(message))
  if (wrong >= 0) return `messages[${wrong}] is not a message: make it with the constructors of Message`
  if (result.origin !== undefined) {
    if (!Array.isArray(result.origin)) return "origin is not a list: give one index for each message"
    if (result.origin.length !== result.messages.length) {
      return `origin names ${result.origin.length} messages of ${result.messages.length}: give one index for each`
    }
  }
  if (result.covers !== undefined && !Array.isArray(result.covers)) return "covers is not a list of indices"
  const origin = result.origin?.find((i) => i !== -1 && !isIndex(i, inputs.length))
  if (origin !== undefined) return `origin holds ${origin}: give an index of the input, or -1 for a new message`
  const covered = result.covers?.find((i) => !isIndex(i, inputs.length))
  return covered === undefined ? undefined : `covers holds ${covered}: give indices of the input`
}

/**
 * `seen` are the items that the strategy was given, in its order.
 *
 * @internal
 */
export const settle = (items: ReadonlyArray<Item>, seen: ReadonlyArray<number>, result: Result): Settled => {
  const groups = groupsOf(items.map((item) => item.message))
  const stay = mustStay(items, groups)
  const origins = originsOf(seen.map((i) => items[i].message), result)
  const kept = new Map<number, Message.Message>()
  const added: Array<Message.Message> = []
  result.messages.forEach((message, i) => {
    if (origins[i] === -1) added.push(message)
    else if (!kept.has(seen[origins[i]])) kept.set(seen[origins[i]], message)
  })
  for (const i of stay) if (!kept.has(i)) kept.set(i, items[i].message)

  const covers = new Set<number>()
  if (result.replace) {
    const named = result.covers?.map((i) => seen[i]) ?? seen
    for (const i of named) if (!kept.has(i)) covers.add(i)
  }
  for (const group of groups) {
    const partly = group.items.some((i) => kept.has(i)) && group.items.some((i) => !kept.has(i))
    if (!partly) continue
    const whole = group.items.some((i) => stay.has(i))
    const covered = group.items.some((i) => covers.has(i))
    for (const i of group.items) {
      if (whole) {
        covers.delete(i)
        if (!kept.has(i)) kept.set(i, items[i].message)
      } else {
        kept.delete(i)
        if (covered) covers.add(i)
      }
    }
  }
  // A summary is left out only by the one that takes its place.
  items.forEach((item, i) => {
    if (item.sequence < 0 && !covers.has(i) && !kept.has(i)) kept.set(i, item.message)
  })
  const earlier = items.flatMap((item, i) => item.sequence < 0 && kept.has(i) ? [kept.get(i)!] : [])
  // What is to stand for nothing is not needed.
  const news = result.replace && covers.size === 0 ? [] : added
  return { placed: place(items, kept, news), covers, standIns: [...earlier, ...news] }
}

/** Kept messages in the order of recording; new ones where the oldest left-out message stood. */
const place = (
  items: ReadonlyArray<Item>,
  kept: ReadonlyMap<number, Message.Message>,
  added: ReadonlyArray<Message.Message>
): ReadonlyArray<Placed> => {
  const gap = items.findIndex((_, i) => !kept.has(i))
  const at = gap >= 0 ? gap : items.findIndex((item) => !item.pinned)
  const news = added.map((message): Placed => ({ message, item: undefined }))
  const out: Array<Placed> = at < 0 ? [...news] : []
  items.forEach((_, i) => {
    if (i === at) { for (const place of news) out.push(place) }
    const message = kept.get(i)
    if (message !== undefined) out.push({ message, item: i })
  })
  return out
}

/**
 * The compaction that covers these items and what the current one covers. An entry is covered when all its items are;
 * one that has none (an orphan, an empty message) goes with the entry before it.
 *
 * @internal
 */
export const compactionOf = (
  raws: ReadonlyArray<Raw>,
  items: ReadonlyArray<Item>,
  current: Compaction | undefined,
  settled: Settled
): Compaction => {
  const state = new Map<number, boolean>()
  items.forEach((item, i) => {
    if (item.sequence >= 0) state.set(item.sequence, settled.covers.has(i) && state.get(item.sequence) !== false)
  })
  const last = items.reduce((highest, item) => Math.max(highest, item.sequence), -1)
  const covered = new Set<number>()
  let before = false
  let from = current?.from ?? Infinity
  let upTo = current?.upTo ?? 0
  for (const { protected: isProtected, sequence } of raws) {
    if (sequence < 0 || sequence > last) continue
    before = state.get(sequence) ?? (before && !isProtected)
    if (!before) continue
    covered.add(sequence)
    from = Math.min(from, sequence)
    upTo = Math.max(upTo, sequence + 1)
  }
  const keep = raws.flatMap(({ sequence }) =>
    sequence >= from && sequence < upTo && !covered.has(sequence) ? [sequence] : []
  )
  return { from, upTo, keep, messages: settled.standIns }
}
