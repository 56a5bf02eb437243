/**
 * Byte pair merging of short pieces: few enough bytes that looking at all pairs for the lowest rank is cheaper than to keep
 * them in order.
 *
 * @internal
 */
import { NEVER } from "./pairs.js"
import { NO_TOKEN, type Vocabulary } from "./vocabulary.js"

/** The longest piece in bytes. */
export const MAX_SHORT = 20

/** Number of tokens of a piece of at most `MAX_SHORT` bytes. 16 bytes must be readable behind it. */
export type ShortMerge = (bytes: Uint8Array, view: DataView, start: number, end: number) => number

export const makeShortMerge = ({ find, findTwo }: Vocabulary): ShortMerge => {
  // Part `i` goes from `starts[i]` to `starts[i + 1]`, and makes a token of rank `ranks[i]` with the part behind it.
  const starts = new Int32Array(MAX_SHORT + 1)
  const ranks = new Int32Array(MAX_SHORT)

  /** The rank of a part with the one behind it. */
  const rankAt = (bytes: Uint8Array, view: DataView, part: number): number => {
    const token = find(bytes, view, starts[part], starts[part + 2] - starts[part])
    return token === NO_TOKEN ? NEVER : token
  }

  return (bytes, view, start, end) => {
    let pairs = end - start - 1
    for (let i = 0; i < pairs; i++) {
      const token = findTwo(bytes, start + i)
      starts[i] = start + i
      ranks[i] = token === NO_TOKEN ? NEVER : token
    }
    starts[pairs] = end - 1
    starts[pairs + 1] = end

    for (;;) {
      let lowest = NEVER
      let part = 0
      for (let i = 0; i < pairs; i++) {
        if (ranks[i] < lowest) {
          lowest = ranks[i]
          part = i
        }
      }
      if (lowest === NEVER) return pairs + 1
      // The part behind is gone, and what comes after it moves up.
      pairs--
      for (let i = part + 1; i <= pairs; i++) {
        starts[i] = starts[i + 1]
        ranks[i] = ranks[i + 1]
      }
      starts[pairs + 1] = end
      if (part < pairs) ranks[part] = rankAt(bytes, view, part)
      if (part > 0) ranks[part - 1] = rankAt(bytes, view, part - 1)
    }
  }
}
