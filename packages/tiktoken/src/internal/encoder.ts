/**
 * Counts the tokens of text without making them.
 *
 * A text is worked off in slices. A slice ends where the split is sure to end a piece, whatever stands on either side, so
 * that the counts of the slices add up to that of the text.
 *
 * @internal
 */
import { END_MARK } from "./characters.js"
import { makePieces } from "./pieces.js"
import type { Tokens } from "./ranks.js"
import { lastBoundary, splitsSurrogatePair, unitsOf } from "./slice.js"
import type { Split } from "./split.js"
import { makeVocabulary } from "./vocabulary.js"
import { type LongPiece, makeLongPiece } from "./windows.js"

/** UTF-16 units of a slice, unless it takes more to find a place to end it. */
export const SLICE = 1 << 15

/** A unit of UTF-16 takes at most three bytes of UTF-8. */
const BYTES_PER_UNIT = 3

/** Behind a slice: the end mark, and room to read 16 bytes from anywhere. */
const PADDING = 32

/** Bytes of a slice that had to grow which are counted at a time, and windows of a piece that is longer than that. */
const PART = 1 << 15
const WINDOWS = 16

/** A slice that had to grow, and how far it is counted. */
interface Grown {
  readonly bytes: Uint8Array
  readonly view: DataView
  readonly length: number
  /** Where the next piece starts. */
  next: number
  /** A long piece before it that is not counted to its end. */
  piece: LongPiece | undefined
}

/** How far a text is counted. */
export interface Progress {
  readonly text: string
  /** The UTF-16 unit that comes next. */
  at: number
  /** Tokens of what comes before it, as far as they are counted. */
  tokens: number
  /** A slice before it that is not counted to its end. */
  grown: Grown | undefined
}

export const makeProgress = (text: string): Progress => ({ text, at: 0, tokens: 0, grown: undefined })

/** Whether a text is counted to its end. */
export const isCounted = (progress: Progress): boolean =>
  progress.at === progress.text.length && progress.grown === undefined

/** Counts in one encoding. */
export interface Encoder {
  /** Length of the longest token in bytes. */
  readonly maxTokenLength: number
  /** Tokens of a text. */
  readonly count: (text: string) => number
  /** Counts on by one slice, or a part of one that had to grow. */
  readonly countSlice: (progress: Progress) => void
}

export const makeEncoder = (tokens: Tokens, split: Split): Encoder => {
  const vocabulary = makeVocabulary(tokens)
  const { count: countPiece, countWindow } = makePieces(vocabulary)

  const countPieces = (bytes: Uint8Array, view: DataView, length: number): number => {
    let count = 0
    for (let start = 0; start < length;) {
      const end = split(bytes, start, length)
      count += countPiece(bytes, view, start, end)
      start = end
    }
    return count
  }

  /** Counts on in a slice that had to grow. */
  const countGrown = (progress: Progress, grown: Grown): void => {
    const { bytes, length, view } = grown
    const stop = Math.min(length, grown.next + PART)
    while (grown.piece === undefined && grown.next < stop) {
      const start = grown.next
      grown.next = split(bytes, start, length)
      if (grown.next - start > PART) grown.piece = makeLongPiece(bytes, view, start, grown.next)
      else progress.tokens += countPiece(bytes, view, start, grown.next)
    }
    if (grown.piece !== undefined) {
      for (let i = 0; i < WINDOWS && !grown.piece.isDone; i++) countWindow(grown.piece)
      if (!grown.piece.isDone) return
      progress.tokens += grown.piece.count
      grown.piece = undefined
    }
    if (grown.next === length) progress.grown = undefined
  }

  const utf8 = new TextEncoder()
  let buffer = new Uint8Array(0)
  let bufferView = new DataView(buffer.buffer)

  const reserve = (units: number): void => {
    buffer = new Uint8Array((units + 1) * BYTES_PER_UNIT + PADDING)
    bufferView = new DataView(buffer.buffer)
  }
  reserve(SLICE)

  /** Writes UTF-8 into the buffer and tells its length. A lone surrogate becomes U+FFFD. */
  const encode = (text: string): number => {
    if (text.length * BYTES_PER_UNIT + PADDING > buffer.length) reserve(text.length)
    return utf8.encodeInto(text, buffer).written
  }

  const countSlice = (progress: Progress): void => {
    const { at, grown, text } = progress
    if (grown !== undefined) return countGrown(progress, grown)
    for (let size = SLICE;; size *= 2) {
      let end = Math.min(text.length, at + size)
      if (end < text.length && splitsSurrogatePair(text, end)) end++
      const length = encode(at === 0 && end === text.length ? text : text.slice(at, end))
      const cut = end === text.length ? length : lastBoundary(buffer, length)
      if (cut === 0) continue
      progress.at = end - unitsOf(buffer, cut, length)
      buffer[cut] = END_MARK
      if (size === SLICE) {
        progress.tokens += countPieces(buffer, bufferView, cut)
      } else {
        // The buffer is handed over, since other texts are counted before this one goes on.
        progress.grown = { bytes: buffer, view: bufferView, length: cut, next: 0, piece: undefined }
        reserve(SLICE)
      }
      return
    }
  }

  const count = (text: string): number => {
    const progress = makeProgress(text)
    while (!isCounted(progress)) countSlice(progress)
    return progress.tokens
  }

  return { maxTokenLength: vocabulary.lengths.reduce((a, b) => Math.max(a, b), 0), count, countSlice }
}
