/**
 * Byte pair merging: the two neighbours that make the token of lowest rank are merged, the leftmost first, until no two
 * make a token.
 *
 * @internal
 */
import { NEVER, type RankOf } from "./pairs.js"
import type { Vocabulary } from "./vocabulary.js"

/** Bytes of a window, and how far from its end its tokens are taken as they are. */
const WINDOW = 256
const MARGIN = 64

/** The windows of a piece do not fit together. */
const DISAGREE = -1

/** Number of tokens of a piece. 16 bytes must be readable behind it. */
export type Merge = (bytes: Uint8Array, view: DataView, start: number, end: number) => number

export const makeMerge = ({ find }: Vocabulary, rankOf: RankOf): Merge => {
  // By position in the window: a token is known by the position of its first byte.
  let token = new Int32Array(0)
  let next = new Int32Array(0)
  let previous = new Int32Array(0)

  // A tournament for the lowest rank. Node 1 is the root, the children of node n are 2n and 2n + 1, and leaf p is the
  // rank of the token at position p with the one behind it.
  let lowest = new Int32Array(0)

  const makeRoom = (size: number): void => {
    token = new Int32Array(size)
    next = new Int32Array(size)
    previous = new Int32Array(size)
    lowest = new Int32Array(2 * size)
  }

  /** Enters a rank and plays the matches that it may change. */
  const enter = (leaf: number, rank: number): void => {
    lowest[leaf] = rank
    for (let node = leaf >> 1; node > 0; node >>= 1) {
      const winner = Math.min(lowest[2 * node], lowest[2 * node + 1])
      if (lowest[node] === winner) return
      lowest[node] = winner
    }
  }

  /** Merges the bytes from `start` to `end` all at once. Afterwards `next` leads from token to token. */
  const mergeWindow = (bytes: Uint8Array, view: DataView, start: number, end: number): number => {
    const length = end - start
    let leaves = 1
    while (leaves < length) leaves *= 2
    if (leaves > token.length) makeRoom(Math.max(leaves, WINDOW))

    for (let i = 0; i < length; i++) {
      token[i] = find(bytes, view, start + i, 1)
      next[i] = i + 1
      previous[i] = i - 1
    }
    const rankAt = (position: number): number => {
      const behind = next[position]
      return behind < length ? rankOf(token[position], token[behind], bytes, view, start + behind) : NEVER
    }
    for (let i = 0; i < leaves; i++) lowest[leaves + i] = i < length ? rankAt(i) : NEVER
    for (let node = leaves - 1; node > 0; node--) lowest[node] = Math.min(lowest[2 * node], lowest[2 * node + 1])

    let count = length
    for (let rank = lowest[1]; rank !== NEVER; rank = lowest[1]) {
      let leaf = 1
      while (leaf < leaves) {
        leaf *= 2
        if (lowest[leaf] !== rank) leaf++
      }
      const position = leaf - leaves
      const merged = next[position]
      const behind = next[merged]
      token[position] = rank
      next[position] = behind
      if (behind < length) previous[behind] = position
      count--
      enter(leaves + merged, NEVER)
      enter(leaf, rankAt(position))
      if (position > 0) enter(leaves + previous[position], rankAt(previous[position]))
    }
    return count
  }

  /**
   * Merges in windows, so that the time is linear in the length. Each window starts with a token of the one before it.
   *
   * A sequence of tokens is the right one exactly if each two neighbours in it are right by themselves. So where both
   * windows have the same token in the same place, what stands before it in the first and the whole of the second are right
   * together.
   */
  const mergeInWindows = (bytes: Uint8Array, view: DataView, start: number, end: number, size: number): number => {
    let count = 0
    let from = start
    let expectedEnd = 0
    for (;;) {
      const to = Math.min(end, from + size)
      const tokens = mergeWindow(bytes, view, from, to)
      if (from > start && from + next[0] !== expectedEnd) return DISAGREE
      if (to === end) return count + tokens
      let position = 0
      while (next[position] < size - MARGIN) {
        position = next[position]
        count++
      }
      if (position === 0) return DISAGREE
      expectedEnd = from + next[position]
      from += position
    }
  }

  return (bytes, view, start, end) => {
    for (let size = WINDOW;; size *= 2) {
      const tokens = mergeInWindows(bytes, view, start, end, size)
      if (tokens !== DISAGREE) return tokens
    }
  }
}
