/**
 * Counts the tokens of the pieces of a text. What was counted is remembered, within fixed room.
 *
 * @internal
 */
import { GIVEN_UP, makeBacktrack } from "./backtrack.js"
import { codePointOfThree, isThreeBytes } from "./characters.js"
import { makeMayCross } from "./crossings.js"
import { makeLongPieceCache, MAX_CACHED } from "./longPieceCache.js"
import { makeMerge } from "./merge.js"
import { makeRankOf } from "./pairs.js"
import { makePieceCache } from "./pieceCache.js"
import { hashOf, MAX_KEY_LENGTH, word0, word1, word2, word3 } from "./pieceKey.js"
import { makeShortMerge, MAX_SHORT } from "./shortMerge.js"
import { NO_TOKEN, type Vocabulary } from "./vocabulary.js"
import { type CountWindow, makeCountWindow, makeLongPiece, WINDOW } from "./windows.js"

/** The longest piece in bytes that is merged though it ends with a character of two bytes. */
const MAX_SHORT_WIDE = 6

export interface Pieces {
  /** Tokens of a piece of UTF-8. 16 bytes must be readable behind it. */
  readonly count: (bytes: Uint8Array, view: DataView, start: number, end: number) => number
  /** Counts on in a piece that is too long to be counted at once. */
  readonly countWindow: CountWindow
}

export const makePieces = (vocabulary: Vocabulary): Pieces => {
  const { find, findKey, findTwo } = vocabulary
  const rankOf = makeRankOf(vocabulary)
  const backtrack = makeBacktrack(vocabulary, rankOf)
  const shortMerge = makeShortMerge(vocabulary)
  const countWindow = makeCountWindow(backtrack, makeMerge(vocabulary, rankOf))
  const mayCross = makeMayCross(vocabulary.tokens)
  const cache = makePieceCache()
  const longCache = makeLongPieceCache()
  // By code point, of characters of three bytes; 0 is "not met yet".
  const characterCounts = new Uint8Array(1 << 16)

  /**
   * Of what is no token. Going back and forth takes whole syllables of Cyrillic or Arabic at once, merging makes each
   * character of its bytes first. Of Chinese only few characters are left together that are no token.
   */
  const countMerged = (bytes: Uint8Array, view: DataView, start: number, end: number): number => {
    const length = end - start
    const isWide = bytes[end - 1] >= 0x80 && !isThreeBytes(bytes[end - 3])
    if (length <= MAX_SHORT && (!isWide || length <= MAX_SHORT_WIDE)) {
      return shortMerge(bytes, view, start, end)
    }
    const count = length <= WINDOW ? backtrack.count(bytes, view, start, end) : GIVEN_UP
    if (count !== GIVEN_UP) return count
    const piece = makeLongPiece(bytes, view, start, end)
    while (!piece.isDone) countWindow(piece)
    return piece.count
  }

  const countCharacter = (bytes: Uint8Array, view: DataView, start: number): number => {
    const codePoint = codePointOfThree(bytes, start)
    const known = characterCounts[codePoint]
    if (known > 0) return known
    const count = find(bytes, view, start, 3) === NO_TOKEN ? countMerged(bytes, view, start, start + 3) : 1
    return characterCounts[codePoint] = count
  }

  const countKeyed = (bytes: Uint8Array, view: DataView, start: number, end: number): number => {
    const length = end - start
    const w0 = word0(view, start, length)
    const w1 = word1(view, start, length)
    const w2 = word2(view, start, length)
    const w3 = word3(view, start, length)
    const hash = hashOf(w0, w1, w2, w3)
    const known = cache.get(w0, w1, w2, w3, hash)
    if (known > 0) return known
    const count = findKey(w0, w1, w2, w3, hash) === NO_TOKEN ? countMerged(bytes, view, start, end) : 1
    cache.set(w0, w1, w2, w3, hash, count)
    return count
  }

  const countLong = (bytes: Uint8Array, view: DataView, start: number, end: number): number => {
    const length = end - start
    const slot = length > MAX_CACHED ? -1 : longCache.slotOf(view, start, length)
    const known = slot < 0 ? 0 : longCache.get(slot, bytes, start, length)
    if (known > 0) return known
    const count = find(bytes, view, start, length) === NO_TOKEN ? countMerged(bytes, view, start, end) : 1
    if (slot >= 0) longCache.set(slot, bytes, start, length, count)
    return count
  }

  /** Of a piece, or of a part of one that no token crosses the ends of. */
  const countPart = (bytes: Uint8Array, view: DataView, start: number, end: number): number => {
    const length = end - start
    if (length === 1) return 1
    if (length === 2) return findTwo(bytes, start) === NO_TOKEN ? 2 : 1
    if (length === 3 && isThreeBytes(bytes[start])) return countCharacter(bytes, view, start)
    return length > MAX_KEY_LENGTH ? countLong(bytes, view, start, end) : countKeyed(bytes, view, start, end)
  }

  /** Of a piece with characters of three bytes, in parts. */
  const countParts = (bytes: Uint8Array, view: DataView, start: number, end: number): number => {
    let count = 0
    let partStart = start
    let before = 0
    for (let at = start; at < end;) {
      if (!isThreeBytes(bytes[at])) {
        before = 0
        at++
        continue
      }
      const codePoint = codePointOfThree(bytes, at)
      if (before > 0 && !mayCross(before, codePoint)) {
        count += countPart(bytes, view, partStart, at)
        partStart = at
      }
      before = codePoint
      at += 3
    }
    return count + countPart(bytes, view, partStart, end)
  }

  // What ends with a character of three bytes mostly consists of such.
  const count = (bytes: Uint8Array, view: DataView, start: number, end: number): number =>
    end - start > 3 && bytes[end - 1] >= 0x80 && isThreeBytes(bytes[end - 3])
      ? countParts(bytes, view, start, end)
      : countPart(bytes, view, start, end)

  return { count, countWindow }
}
