/**
 * Where a token may cross from one character into the next. Where none does, no merge does either, and what stands before
 * and behind can be counted by itself. In Chinese that is so between most characters, since few pairs stand in a token.
 *
 * @internal
 */
import { codePointOfThree, isThreeBytes, isTrail } from "./characters.js"
import type { Tokens } from "./ranks.js"

/** Bits of a hash of two characters. */
const BITS = 18

/** Whether a token may cross from the first into the second of two code points that take three bytes each. */
export type MayCross = (first: number, second: number) => boolean

const hashOf = (first: number, second: number): number => Math.imul(first << 16 | second, 0x9e3779b1) >>> 32 - BITS

/** Of the last byte of one character and the first of the next, the bits that differ. */
const innerBits = (last: number, first: number): number => (last & 0x3f) << 4 | first & 0x0f

export const makeMayCross = ({ bytes, count, offsets }: Tokens): MayCross => {
  // A bit for the hash of each two characters that stand side by side in a token.
  const pairs = new Uint8Array(1 << BITS - 3)
  // By the inner bits: whether a token takes only a part of one of the two characters.
  const parts = new Uint8Array(1 << 10)
  let isFilled = false

  /** Whether there is a character of three bytes before `at`, of which the token may have the end only. */
  const isBehindThree = (start: number, at: number): boolean =>
    at - start < 3 ? isTrail(bytes[start]) && isTrail(bytes[at - 1]) : isThreeBytes(bytes[at - 3])

  const addCrossing = (at: number, start: number, end: number): void => {
    if (at === start || !isBehindThree(start, at)) return
    if (at - start < 3 || end - at < 3) {
      parts[innerBits(bytes[at - 1], bytes[at])] = 1
    } else {
      const hash = hashOf(codePointOfThree(bytes, at - 3), codePointOfThree(bytes, at))
      pairs[hash >>> 3] |= 1 << (hash & 7)
    }
  }

  // It takes some milliseconds, so not before it is asked for.
  const fill = (): void => {
    for (let at = 0, token = 0; at < offsets[count]; at++) {
      if (!isThreeBytes(bytes[at])) continue
      while (offsets[token + 1] <= at) token++
      addCrossing(at, offsets[token], offsets[token + 1])
    }
    isFilled = true
  }

  return (first, second) => {
    if (!isFilled) fill()
    const hash = hashOf(first, second)
    return (pairs[hash >>> 3] & 1 << (hash & 7)) !== 0 || parts[innerBits(first, second >>> 12)] !== 0
  }
}
