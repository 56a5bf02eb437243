/**
 * Counts the tokens of a piece as byte pair merging makes them, without merging.
 *
 * The result of merging is the one sequence of tokens in which each two neighbours, merged by themselves, stay the same
 * two. So the longest tokens are taken from left to right, with a step back where two neighbours would not stay. The method
 * is that of the crate `bpe` in github/rust-gems. It takes a step or two for a token in text, and is given up where it takes
 * many, as in a long line of dashes.
 *
 * @internal
 */
import { NEVER, type RankOf } from "./pairs.js"
import { NO_TOKEN, type Vocabulary } from "./vocabulary.js"

/** The answer where it takes too many steps back. */
export const GIVEN_UP = -1

/** Steps back that a piece may take: some, and one more for each byte that is done. */
const STEPS = 32

const STAY_BITS = 13

/** Bytes of a piece that can be counted without making room. */
const ROOM = 256

export interface Backtrack {
  /** Number of tokens of a piece, or `GIVEN_UP`. 16 bytes must be readable behind it. */
  readonly count: (bytes: Uint8Array, view: DataView, start: number, end: number) => number
  /** Writes the ends of the tokens that were counted last, from the start of the piece. */
  readonly readEnds: (ends: Int32Array) => void
}

export const makeBacktrack = ({ find, findLongest, lengths, tokens }: Vocabulary, rankOf: RankOf): Backtrack => {
  const tokenView = new DataView(tokens.bytes.buffer)

  // The two tokens that a token is merged from, found when they are asked for. A byte is its own parts.
  const leftParts = new Int32Array(tokens.count).fill(NO_TOKEN)
  const rightParts = new Int32Array(tokens.count).fill(NO_TOKEN)

  /**
   * Whether two neighbours that make no token themselves stay two: whether merging the bytes of both makes nothing across
   * `at`, the place where they meet. Undoes the merges of both, the last one first, and sees whether a merge across would
   * have come before it.
   */
  const stay = (first: number, second: number, bytes: Uint8Array, view: DataView, at: number): boolean => {
    let left = first
    let right = second
    let undone: number
    do {
      // Of equal ranks the left one is merged first, so a merge across comes before an equal one on the right.
      if (left > right) {
        undone = left
        left = rightPart(left)
        if (left === undone) {
          undone = right + 1
          right = leftPart(right)
          if (right + 1 === undone) return true
        }
      } else {
        undone = right + 1
        right = leftPart(right)
        if (right + 1 === undone) {
          undone = left
          left = rightPart(left)
          if (left === undone) return true
        }
      }
    } while (rankOf(left, right, bytes, view, at) >= undone)
    return false
  }

  // First token, second token and the answer in its lowest bit.
  const known = new Int32Array(2 << STAY_BITS).fill(NO_TOKEN)

  /** {@link stay}, remembered by the tokens. A pair overwrites what was in its slot. */
  const staysTwo = (first: number, second: number, bytes: Uint8Array, view: DataView, at: number): boolean => {
    const mixed = Math.imul(first, 0x9e3779b1) ^ Math.imul(second, 0x85ebca77)
    const slot = 2 * (Math.imul(mixed ^ mixed >>> 15, 0x2c1b3c6d) >>> 32 - STAY_BITS)
    if (known[slot] === first && known[slot + 1] >> 1 === second) return (known[slot + 1] & 1) === 1
    const stays = stay(first, second, bytes, view, at)
    known[slot] = first
    known[slot + 1] = second << 1 | (stays ? 1 : 0)
    return stays
  }

  const leftPart = (token: number): number => {
    if (leftParts[token] === NO_TOKEN) findParts(token)
    return leftParts[token]
  }

  const rightPart = (token: number): number => {
    if (leftParts[token] === NO_TOKEN) findParts(token)
    return rightParts[token]
  }

  /** The last merge that makes a token is of the two tokens of lower rank that would stay two without that token. */
  const findParts = (token: number): void => {
    const start = tokens.offsets[token]
    const length = lengths[token]
    leftParts[token] = token
    rightParts[token] = token
    for (let split = length - 1; split > 0; split--) {
      const left = find(tokens.bytes, tokenView, start, split)
      if (left === NO_TOKEN || left >= token) continue
      const right = find(tokens.bytes, tokenView, start + split, length - split)
      if (right === NO_TOKEN || right >= token) continue
      if (stay(left, right, tokens.bytes, tokenView, start + split)) {
        leftParts[token] = left
        rightParts[token] = right
        return
      }
    }
  }

  let taken = new Int32Array(ROOM)
  let deadEnds = new Uint8Array(ROOM)

  const makeRoom = (size: number): void => {
    taken = new Int32Array(size)
    deadEnds = new Uint8Array(size)
  }

  let count = 0

  const countPiece = (bytes: Uint8Array, view: DataView, start: number, end: number): number => {
    if (end - start >= taken.length) makeRoom(2 * (end - start))
    let steps = 0
    count = 0
    let at = start
    let last = NO_TOKEN
    let metDeadEnd = false
    // Whether the last token taken is the longest that starts where it starts: then it makes no token with the next one.
    let lastIsLongest = true
    let token = findLongest(bytes, view, at, end - at)
    let isLongest = true
    for (;;) {
      const next = at + lengths[token]
      if (
        deadEnds[next - start] === 0 && (
          last === NO_TOKEN ||
          (lastIsLongest || rankOf(last, token, bytes, view, at) === NEVER) && staysTwo(last, token, bytes, view, at)
        )
      ) {
        taken[count++] = last = token
        if (next === end) break
        lastIsLongest = isLongest
        at = next
        token = findLongest(bytes, view, at, end - at)
        isLongest = true
        continue
      }
      if (++steps > STEPS + at - start) {
        count = GIVEN_UP
        break
      }
      token = findLongest(bytes, view, at, lengths[token] - 1)
      isLongest = false
      while (token === NO_TOKEN) {
        // No token leads on from here: give back the one before and take a shorter one instead.
        deadEnds[at - start] = 1
        metDeadEnd = true
        const given = taken[--count]
        last = count > 0 ? taken[count - 1] : NO_TOKEN
        lastIsLongest = false
        at -= lengths[given]
        token = findLongest(bytes, view, at, lengths[given] - 1)
      }
    }
    if (metDeadEnd) deadEnds.fill(0, 0, end - start)
    return count
  }

  const readEnds = (ends: Int32Array): void => {
    let end = 0
    for (let i = 0; i < count; i++) ends[i] = end += lengths[taken[i]]
  }

  return { count: countPiece, readEnds }
}
