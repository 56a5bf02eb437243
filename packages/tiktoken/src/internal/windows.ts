/**
 * Counts the tokens of a long piece in windows, so that the time is linear in the length, and counting can pause.
 *
 * Each window starts with a token of the one before it. A sequence of tokens is the right one exactly if each two
 * neighbours in it are right by themselves. So where both windows have the same token in the same place, what stands before
 * it in the first and the whole of the second are right together.
 *
 * @internal
 */
import { type Backtrack, GIVEN_UP } from "./backtrack.js"
import type { Merge } from "./merge.js"

/** Bytes of a window that is counted by going back and forth, and of one where that is given up and which is merged. */
export const WINDOW = 2048
const MERGED_WINDOW = 512

/** How far from the end of a window its tokens are taken as they are: the longest token. */
const MARGIN = 128

/** A piece, and how far it is counted. 16 bytes must be readable behind it. */
export interface LongPiece {
  readonly bytes: Uint8Array
  readonly view: DataView
  readonly start: number
  readonly end: number
  /** Where the next window starts: at the start of the last token taken from the one before. */
  from: number
  /** The end of that token. */
  expectedEnd: number
  /** Tokens before the window. */
  count: number
  /** How much larger the windows are than at first, since they did not fit together. */
  scale: number
  isDone: boolean
}

export const makeLongPiece = (bytes: Uint8Array, view: DataView, start: number, end: number): LongPiece => ({
  bytes,
  view,
  start,
  end,
  from: start,
  expectedEnd: start,
  count: 0,
  scale: 1,
  isDone: false
})

/** Counts on by one window. */
export type CountWindow = (piece: LongPiece) => void

export const makeCountWindow = (backtrack: Backtrack, merge: Merge): CountWindow => {
  // The ends of the tokens of the window, from its start.
  let ends = new Int32Array(WINDOW)
  let count = 0

  // The window that was merged last, whose ends these are. The windows of a line of dashes are all the same.
  let mergedBytes = new Uint8Array(0)
  let mergedEnds = new Int32Array(0)

  const isMergedWindow = (bytes: Uint8Array, from: number, to: number): boolean => {
    if (mergedBytes.length !== to - from) return false
    for (let i = 0; i < mergedBytes.length; i++) if (mergedBytes[i] !== bytes[from + i]) return false
    return true
  }

  /** Finds the tokens of the next window, and tells where it ends. */
  const countTokens = ({ bytes, end, from, scale, view }: LongPiece): number => {
    const to = Math.min(end, from + scale * WINDOW)
    const mergedTo = Math.min(end, from + scale * MERGED_WINDOW)
    if (to - from > ends.length) ends = new Int32Array(to - from)
    if (!isMergedWindow(bytes, from, mergedTo)) {
      count = backtrack.count(bytes, view, from, to)
      if (count !== GIVEN_UP) {
        backtrack.readEnds(ends)
        return to
      }
      count = merge.count(bytes, view, from, mergedTo)
      merge.readEnds(ends)
      mergedBytes = bytes.slice(from, mergedTo)
      mergedEnds = ends.slice(0, count)
    } else {
      count = mergedEnds.length
      ends.set(mergedEnds)
    }
    return mergedTo
  }

  return (piece) => {
    const { end, from, scale, start } = piece
    const to = countTokens(piece)
    const fits = from === start || from + ends[0] === piece.expectedEnd
    if (fits && to === end) {
      piece.count += count
      piece.isDone = true
      return
    }
    let taken = count
    while (taken > 0 && from + ends[taken - 1] >= to - scale * MARGIN) taken--
    if (!fits || taken === 0) {
      piece.from = start
      piece.count = 0
      piece.scale *= 2
      return
    }
    piece.count += taken
    piece.from = from + ends[taken - 1]
    piece.expectedEnd = from + ends[taken]
  }
}
