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

const BLANK = 0x20
const LINE_END = 0x0a
const PADDING_SIGN = 0x3d

const makeBase64Values = (): Int8Array => {
  const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
  const values = new Int8Array(128).fill(-1)
  for (let i = 0; i < alphabet.length; i++) values[alphabet.charCodeAt(i)] = i
  return values
}

/** Parses a table. Only the order of the ranks matters, so they are read no further than to see that they ascend. */
export const parseRanks = (table: string): Tokens => {
  const values = makeBase64Values()
  const source = new TextEncoder().encode(table)
  const bytes = new Uint8Array(source.length + PADDING)
  const offsets = new Uint32Array(source.length / 4 + 2)
  let count = 0
  let written = 0
  let at = 0
  while (at < source.length) {
    // Skip "! <rank> ".
    at = source.indexOf(BLANK, source.indexOf(BLANK, at) + 1) + 1
    while (at < source.length && source[at] !== LINE_END) {
      let bits = 0
      let group = 0
      for (let value = values[source[at]]; value >= 0; value = values[source[++at]]) {
        group = (group << 6 | value) & 0xffff
        bits += 6
        if (bits >= 8) {
          bits -= 8
          bytes[written++] = group >>> bits
        }
      }
      offsets[++count] = written
      while (source[at] === PADDING_SIGN) at++
      if (source[at] === BLANK) at++
    }
    at++
  }
  return { count, bytes: bytes.slice(0, written + PADDING), offsets: offsets.slice(0, count + 1) }
}

/** Whether each byte is a token, so that there is a way to encode any text. */
export const hasEveryByte = ({ bytes, count, offsets }: Tokens): boolean => {
  const found = new Set<number>()
  for (let token = 0; token < count; token++) {
    if (offsets[token + 1] - offsets[token] === 1) found.add(bytes[offsets[token]])
  }
  return found.size === 256
}
