/**
 * Reads the rank tables of js-tiktoken, whose tokens and order are OpenAI's own.
 *
 * @internal
 */

/** A rank table as js-tiktoken ships it: lines of `! <rank of the first> <base64 token> <base64 token> …`. */
export interface RankTable {
  readonly pat_str: string
  readonly bpe_ranks: string
}

/** Zero bytes behind the last token, so that 16 bytes can be read from anywhere in it. */
const PADDING = 16

/** The tokens of an encoding in order of rank. A token is known by its place in this order. */
export interface Tokens {
  readonly count: number
  /** Their bytes, one after the other. */
  readonly bytes: Uint8Array
  /** Token `t` is `bytes[offsets[t]]` up to, not including, `bytes[offsets[t + 1]]`. */
  readonly offsets: Uint32Array
}

const LINE_END = 0x0a
const PADDING_SIGN = 0x3d

const makeBase64Values = (): Int8Array => {
  const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
  const values = new Int8Array(128).fill(-1)
  for (let i = 0; i < alphabet.length; i++) values[alphabet.charCodeAt(i)] = i
  values[PADDING_SIGN] = 0
  return values
}

/** Parses a table. Only the order of the ranks matters, so they are read no further than to see that they ascend. */
export const parseRanks = (table: string): Tokens => {
  const values = makeBase64Values()
  const valueAt = (at: number): number => values[table.charCodeAt(at)]
  // Rather too large than to be copied: what is never written to takes no memory.
  const bytes = new Uint8Array(table.length + PADDING)
  const offsets = new Uint32Array(table.length / 4 + 2)
  let count = 0
  let written = 0
  let at = 0
  while (at < table.length) {
    // Skip "! <rank> ".
    at = table.indexOf(" ", table.indexOf(" ", at) + 1) + 1
    while (at < table.length && table.charCodeAt(at) !== LINE_END) {
      // Three bytes of four characters each, but for what padding signs stand for.
      while (valueAt(at) >= 0) {
        const group = valueAt(at) << 18 | valueAt(at + 1) << 12 | valueAt(at + 2) << 6 | valueAt(at + 3)
        bytes[written] = group >>> 16
        bytes[written + 1] = group >>> 8
        bytes[written + 2] = group
        written += table.charCodeAt(at + 3) !== PADDING_SIGN ? 3 : table.charCodeAt(at + 2) !== PADDING_SIGN ? 2 : 1
        at += 4
      }
      offsets[++count] = written
      if (table.charCodeAt(at) !== LINE_END) at++
    }
    at++
  }
  return { count, bytes: bytes.subarray(0, written + PADDING), offsets: offsets.subarray(0, count + 1) }
}

/** Whether each byte is a token, so that there is a way to encode any text. */
export const hasEveryByte = ({ bytes, count, offsets }: Tokens): boolean => {
  const found = new Set<number>()
  for (let token = 0; token < count; token++) {
    if (offsets[token + 1] - offsets[token] === 1) found.add(bytes[offsets[token]])
  }
  return found.size === 256
}
