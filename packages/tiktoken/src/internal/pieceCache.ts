/**
 * Remembers the token counts of pieces that are no tokens. Its size is fixed: a piece overwrites what was in its slot.
 *
 * @internal
 */

const BITS = 15

export interface PieceCache {
  /** The count of the piece with this key, or 0 where it is not known. */
  readonly get: (w0: number, w1: number, w2: number, w3: number, hash: number) => number
  readonly set: (w0: number, w1: number, w2: number, w3: number, hash: number, count: number) => void
}

export const makePieceCache = (): PieceCache => {
  const keys = new Int32Array(4 << BITS)
  const counts = new Uint8Array(1 << BITS)
  return {
    get: (w0, w1, w2, w3, hash) => {
      const slot = hash >>> 32 - BITS
      const at = slot * 4
      return keys[at + 3] === w3 && keys[at] === w0 && keys[at + 1] === w1 && keys[at + 2] === w2 ? counts[slot] : 0
    },
    set: (w0, w1, w2, w3, hash, count) => {
      const slot = hash >>> 32 - BITS
      const at = slot * 4
      keys[at] = w0
      keys[at + 1] = w1
      keys[at + 2] = w2
      keys[at + 3] = w3
      counts[slot] = count
    }
  }
}
