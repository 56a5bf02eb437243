/**
 * Ranks of pairs of tokens.
 *
 * @internal
 */
import { NO_TOKEN, type Vocabulary } from "./vocabulary.js"

/** The rank of two neighbours that make no token: higher than any. */
export const NEVER = 0x7fffffff

const BITS = 14

/** The rank of the token that two neighbours make, which meet at `at`. */
export type RankOf = (left: number, right: number, bytes: Uint8Array, view: DataView, at: number) => number

/** Looks ranks up by the bytes of both, and remembers them by the tokens. A pair overwrites what was in its slot. */
export const makeRankOf = ({ find, lengths }: Vocabulary): RankOf => {
  // Left token, right token, rank, and nothing: a slot of four words stays within a line of the processor's cache.
  const slots = new Int32Array(4 << BITS).fill(NO_TOKEN)
  return (left, right, bytes, view, at) => {
    const mixed = Math.imul(left, 0x9e3779b1) ^ Math.imul(right, 0x85ebca77)
    const slot = 4 * (Math.imul(mixed ^ mixed >>> 15, 0x2c1b3c6d) >>> 32 - BITS)
    if (slots[slot] === left && slots[slot + 1] === right) return slots[slot + 2]
    const token = find(bytes, view, at - lengths[left], lengths[left] + lengths[right])
    const rank = token === NO_TOKEN ? NEVER : token
    slots[slot] = left
    slots[slot + 1] = right
    slots[slot + 2] = rank
    return rank
  }
}
