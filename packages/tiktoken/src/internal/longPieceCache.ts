/**
 * Remembers the token counts of pieces without a key, such as the spaces that align a table. Its size is fixed: a piece
 * overwrites what was in its slot.
 *
 * @internal
 */
import { hashOf } from "./pieceKey.js"

const BITS = 12

/** The longest piece that is remembered, in bytes. */
export const MAX_CACHED = 127

const ROOM = 128

export interface LongPieceCache {
  /** The slot of a piece of 16 to `MAX_CACHED` bytes. */
  readonly slotOf: (view: DataView, start: number, length: number) => number
  /** The count of a piece, or 0 where it is not known. */
  readonly get: (slot: number, bytes: Uint8Array, start: number, length: number) => number
  readonly set: (slot: number, bytes: Uint8Array, start: number, length: number, count: number) => void
}

export const makeLongPieceCache = (): LongPieceCache => {
  const pieces = new Uint8Array(ROOM << BITS)
  const lengths = new Uint8Array(1 << BITS)
  const counts = new Uint8Array(1 << BITS)
  return {
    slotOf: (view, start, length) =>
      hashOf(
        view.getInt32(start, true) ^ length,
        view.getInt32(start + 4, true) ^ view.getInt32(start + (length >> 1) - 2, true),
        view.getInt32(start + length - 8, true),
        view.getInt32(start + length - 4, true)
      ) >>> 32 - BITS,
    get: (slot, bytes, start, length) => {
      if (lengths[slot] !== length) return 0
      const at = slot * ROOM
      for (let i = 0; i < length; i++) if (pieces[at + i] !== bytes[start + i]) return 0
      return counts[slot]
    },
    set: (slot, bytes, start, length, count) => {
      const at = slot * ROOM
      for (let i = 0; i < length; i++) pieces[at + i] = bytes[start + i]
      lengths[slot] = length
      counts[slot] = count
    }
  }
}
