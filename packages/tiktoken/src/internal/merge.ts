/**
 * Byte pair merging: the two neighbours that make the token of lowest rank are merged, the leftmost first, until no two
 * make a token.
 *
 * @internal
 */
import { NEVER, type RankOf } from "./pairs.js"
import type { Vocabulary } from "./vocabulary.js"

/** Bytes that can be merged without making room. */
const ROOM = 256

export interface Merge {
  /** Number of tokens of a piece. 16 bytes must be readable behind it. */
  readonly count: (bytes: Uint8Array, view: DataView, start: number, end: number) => number
  /** Writes the ends of the tokens that were counted last, from the start of the piece. */
  readonly readEnds: (ends: Int32Array) => void
}

export const makeMerge = ({ find }: Vocabulary, rankOf: RankOf): Merge => {
  // By position in the piece: a token is known by the position of its first byte.
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

  let length = 0

  // Afterwards `next` leads from token to token.
  const count = (bytes: Uint8Array, view: DataView, start: number, end: number): number => {
    length = end - start
    let leaves = 1
    while (leaves < length) leaves *= 2
    if (leaves > token.length) makeRoom(Math.max(leaves, ROOM))

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

    let tokens = length
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
      tokens--
      enter(leaves + merged, NEVER)
      enter(leaf, rankAt(position))
      if (position > 0) enter(leaves + previous[position], rankAt(previous[position]))
    }
    return tokens
  }

  const readEnds = (ends: Int32Array): void => {
    let token = 0
    for (let position = next[0]; position < length; position = next[position]) ends[token++] = position
    ends[token] = length
  }

  return { count, readEnds }
}
