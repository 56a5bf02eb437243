/**
 * Where a text can be cut so that the pieces before and behind are those of the whole text.
 *
 * @internal
 */
import { CharacterClass, classAt, isTrail } from "./characters.js"

const { LETTER, LOWER, NUMBER, UPPER } = CharacterClass

const APOSTROPHE = 0x27

/**
 * Whether a piece ends between two characters, in each of the patterns and whatever stands around them: behind a letter or
 * number comes one of another class that is neither a mark nor an apostrophe. No alternative of a pattern goes on from
 * the one to the other, and none looks further ahead.
 */
const isBoundary = (bytes: Uint8Array, before: number, at: number): boolean => {
  const first = classAt(bytes, before) & (LETTER | NUMBER)
  const second = classAt(bytes, at)
  return first !== 0 && (first & second) === 0 && bytes[at] !== APOSTROPHE &&
    ((second & LETTER) !== 0 || (second & (UPPER | LOWER)) === 0)
}

/** The last place in a slice where it can be cut, or 0 where there is none. */
export const lastBoundary = (bytes: Uint8Array, length: number): number => {
  const previous = (at: number): number => {
    let before = at - 1
    while (isTrail(bytes[before])) before--
    return before
  }
  for (let at = previous(length); at > 0;) {
    const before = previous(at)
    if (isBoundary(bytes, before, at)) return at
    at = before
  }
  return 0
}

/** UTF-16 units of the bytes from `start` to `end`. */
export const unitsOf = (bytes: Uint8Array, start: number, end: number): number => {
  let units = 0
  for (let i = start; i < end; i++) {
    if (!isTrail(bytes[i])) units += bytes[i] >= 0xf0 ? 2 : 1
  }
  return units
}

/** Whether a cut at `at` would part the two units of one character. */
export const splitsSurrogatePair = (text: string, at: number): boolean => {
  const before = text.charCodeAt(at - 1)
  const behind = text.charCodeAt(at)
  return before >= 0xd800 && before < 0xdc00 && behind >= 0xdc00 && behind < 0xe000
}
