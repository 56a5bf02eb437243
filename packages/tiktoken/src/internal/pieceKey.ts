/**
 * Keys for pieces of at most 15 bytes: the bytes in four 32-bit words with the length in the last one's top byte. Two
 * pieces are the same exactly if their words are, so that tables need neither strings nor a second comparison.
 *
 * @internal
 */

/** The longest piece that has a key. */
export const MAX_KEY_LENGTH = 15

const maskOfWord = (word: number): Int32Array =>
  Int32Array.from({ length: MAX_KEY_LENGTH + 1 }, (_, length) => {
    const bytes = Math.min(4, Math.max(0, length - 4 * word))
    return bytes === 4 ? -1 : (1 << (8 * bytes)) - 1
  })

const mask0 = maskOfWord(0)
const mask1 = maskOfWord(1)
const mask2 = maskOfWord(2)
const mask3 = maskOfWord(3)

/** The words of the key of the `length` bytes at `at`, of which 16 must be readable. Most pieces end in the second word. */
export const word0 = (view: DataView, at: number, length: number): number => view.getInt32(at, true) & mask0[length]
/** @see word0 */
export const word1 = (view: DataView, at: number, length: number): number => view.getInt32(at + 4, true) & mask1[length]
/** @see word0 */
export const word2 = (view: DataView, at: number, length: number): number =>
  length > 8 ? view.getInt32(at + 8, true) & mask2[length] : 0
/** @see word0 */
export const word3 = (view: DataView, at: number, length: number): number =>
  length > 12 ? view.getInt32(at + 12, true) & mask3[length] | length << 24 : length << 24

/** Scatters a key over 32 bits. Tables take as many of the top bits as they have slots for. */
export const hashOf = (w0: number, w1: number, w2: number, w3: number): number => {
  const mixed = Math.imul(w0, 0x9e3779b1) ^ Math.imul(w1, 0x85ebca77) ^ Math.imul(w2, 0xc2b2ae3d) ^
    Math.imul(w3, 0x27d4eb2f)
  return Math.imul(mixed ^ mixed >>> 15, 0x2c1b3c6d)
}
