/**
 * Finds tokens by their bytes.
 *
 * Two open-addressing tables hold the tokens: those with a piece key by that key, the longer ones by a hash of their
 * bytes. A third one tells by the first four bytes which lengths of tokens there are.
 *
 * A closure rather than a class: while a process uses one encoding only, V8 compiles its tables in as constants, which
 * makes counting about 1.4 times as fast.
 *
 * @internal
 */
import { hashOf, MAX_KEY_LENGTH, word0, word1, word2, word3 } from "./pieceKey.js"
import type { Tokens } from "./ranks.js"

/** There is no such token. */
export const NO_TOKEN = -1

/** Bytes by which the lengths of tokens are looked up. */
const PREFIX = 4

/** In a set of lengths: there are tokens without a key too. */
const LONGER = 1 << 16

/** Finds tokens by their bytes, of which 16 must be readable from `start` on. */
export interface Vocabulary {
  readonly tokens: Tokens
  /** The length of each token in bytes. */
  readonly lengths: Uint8Array
  /** The token that has exactly these bytes, or `NO_TOKEN`. */
  readonly find: (bytes: Uint8Array, view: DataView, start: number, length: number) => number
  /** The token of these two bytes, or `NO_TOKEN`. */
  readonly findTwo: (bytes: Uint8Array, start: number) => number
  /** The token that has this key, or `NO_TOKEN`. */
  readonly findKey: (w0: number, w1: number, w2: number, w3: number, hash: number) => number
  /** The longest token of at most `limit` bytes that starts at `start`, or `NO_TOKEN` where `limit` is 0. */
  readonly findLongest: (bytes: Uint8Array, view: DataView, start: number, limit: number) => number
}

/** Bits of a table that these entries fill to this part at most. */
const bitsFor = (entries: number, part: number): number => Math.ceil(Math.log2(entries / part))

const hashOfPrefix = (prefix: number): number => Math.imul(prefix ^ prefix >>> 15, 0x9e3779b1)

/** For more than 15 bytes: the first and last eight and the length, so that a long run costs no more than a word. */
const hashOfLong = (view: DataView, start: number, length: number): number =>
  hashOf(
    view.getInt32(start, true) ^ length,
    view.getInt32(start + 4, true),
    view.getInt32(start + length - 8, true),
    view.getInt32(start + length - 4, true)
  )

const lengthsOf = ({ count, offsets }: Tokens): Uint8Array => {
  const lengths = new Uint8Array(count)
  for (let token = 0; token < count; token++) lengths[token] = offsets[token + 1] - offsets[token]
  return lengths
}

export const makeVocabulary = (tokens: Tokens): Vocabulary => {
  const { bytes: tokenBytes, count, offsets } = tokens
  const tokenView = new DataView(tokenBytes.buffer)
  const lengths = lengthsOf(tokens)
  const maxLength = lengths.reduce((longest, length) => Math.max(longest, length), 0)

  // ---------------------------------------------------------------------------
  // One or two bytes
  // ---------------------------------------------------------------------------

  const oneByte = new Int32Array(1 << 8).fill(NO_TOKEN)
  const twoBytes = new Int32Array(1 << 16).fill(NO_TOKEN)

  const findTwo = (bytes: Uint8Array, start: number): number => twoBytes[bytes[start] << 8 | bytes[start + 1]]

  // ---------------------------------------------------------------------------
  // Tokens with a key
  // ---------------------------------------------------------------------------

  // Rather full, since a smaller table is cached better and what it does not hold seldom gets here (see `hashes`).
  const bits = bitsFor(count, 4 / 5)
  const shift = 32 - bits
  const last = (1 << bits) - 1
  // Four words a slot; an empty one has no length.
  const keys = new Int32Array(4 << bits)
  const values = new Int32Array(1 << bits)

  // A bit for each hash that a token has, eight for each slot: most keys that are no token end here, in a table that stays
  // in the processor's cache.
  const hashes = new Uint8Array(1 << bits)
  const hashShift = shift - 3

  const findKey = (w0: number, w1: number, w2: number, w3: number, hash: number): number => {
    const bit = hash >>> hashShift
    if ((hashes[bit >>> 3] & 1 << (bit & 7)) === 0) return NO_TOKEN
    let slot = hash >>> shift
    for (;;) {
      const at = slot * 4
      const found = keys[at + 3]
      if (found === w3 && keys[at] === w0 && keys[at + 1] === w1 && keys[at + 2] === w2) return values[slot]
      if (found === 0) return NO_TOKEN
      slot = slot + 1 & last
    }
  }

  const add = (token: number): void => {
    const start = offsets[token]
    const length = lengths[token]
    const w0 = word0(tokenView, start, length)
    const w1 = word1(tokenView, start, length)
    const w2 = word2(tokenView, start, length)
    const w3 = word3(tokenView, start, length)
    const hash = hashOf(w0, w1, w2, w3)
    const bit = hash >>> hashShift
    hashes[bit >>> 3] |= 1 << (bit & 7)
    let slot = hash >>> shift
    while (keys[slot * 4 + 3] !== 0) slot = slot + 1 & last
    const at = slot * 4
    keys[at] = w0
    keys[at + 1] = w1
    keys[at + 2] = w2
    keys[at + 3] = w3
    values[slot] = token
  }

  // ---------------------------------------------------------------------------
  // Longer tokens
  // ---------------------------------------------------------------------------

  const longBits = bitsFor(lengths.reduce((sum, length) => length > MAX_KEY_LENGTH ? sum + 1 : sum, 0), 1 / 2)
  const longShift = 32 - longBits
  const longLast = (1 << longBits) - 1
  // Tokens plus one; 0 is an empty slot.
  const longTokens = new Int32Array(1 << longBits)

  const findLong = (bytes: Uint8Array, view: DataView, start: number, length: number): number => {
    let slot = hashOfLong(view, start, length) >>> longShift
    for (;;) {
      const token = longTokens[slot] - 1
      if (token < 0) return NO_TOKEN
      if (lengths[token] === length) {
        const offset = offsets[token]
        let same = 0
        while (same < length && tokenBytes[offset + same] === bytes[start + same]) same++
        if (same === length) return token
      }
      slot = slot + 1 & longLast
    }
  }

  const addLong = (token: number): void => {
    let slot = hashOfLong(tokenView, offsets[token], lengths[token]) >>> longShift
    while (longTokens[slot] !== 0) slot = slot + 1 & longLast
    longTokens[slot] = token + 1
  }

  const find = (bytes: Uint8Array, view: DataView, start: number, length: number): number => {
    if (length <= 2) return length === 2 ? findTwo(bytes, start) : oneByte[bytes[start]]
    if (length > MAX_KEY_LENGTH) return length > maxLength ? NO_TOKEN : findLong(bytes, view, start, length)
    const w0 = word0(view, start, length)
    const w1 = word1(view, start, length)
    const w2 = word2(view, start, length)
    const w3 = word3(view, start, length)
    return findKey(w0, w1, w2, w3, hashOf(w0, w1, w2, w3))
  }

  // ---------------------------------------------------------------------------
  // Lengths by prefix
  // ---------------------------------------------------------------------------

  // There are far fewer prefixes than tokens.
  const prefixShift = shift + 1
  const prefixLast = last >>> 1
  const prefixes = new Int32Array(prefixLast + 1)
  // Sets of lengths, a bit each; 0 is an empty slot.
  const prefixLengths = new Int32Array(prefixLast + 1)
  // Lengths of the tokens without a key, longest first.
  const longLengths = new Map<number, Array<number>>()
  let areLengthsKnown = false

  const prefixSlot = (prefix: number): number => {
    let slot = hashOfPrefix(prefix) >>> prefixShift
    while (prefixLengths[slot] !== 0 && prefixes[slot] !== prefix) slot = slot + 1 & prefixLast
    return slot
  }

  const addLength = (token: number): void => {
    const length = lengths[token]
    const prefix = tokenView.getInt32(offsets[token], true)
    const slot = prefixSlot(prefix)
    prefixes[slot] = prefix
    if (length <= MAX_KEY_LENGTH) {
      prefixLengths[slot] |= 1 << length
      return
    }
    prefixLengths[slot] |= LONGER
    const known = longLengths.get(prefix)
    if (known === undefined) longLengths.set(prefix, [length])
    else if (!known.includes(length)) known.push(length)
  }

  // Not before it is asked for, since it takes a good part of loading and many texts have no piece for it.
  const fillLengths = (): void => {
    for (let token = 0; token < count; token++) if (lengths[token] >= PREFIX) addLength(token)
    for (const known of longLengths.values()) known.sort((a, b) => b - a)
    areLengthsKnown = true
  }

  const findLongest = (bytes: Uint8Array, view: DataView, start: number, limit: number): number => {
    if (!areLengthsKnown) fillLengths()
    if (limit >= PREFIX) {
      const prefix = view.getInt32(start, true)
      let known = prefixLengths[prefixSlot(prefix)]
      if ((known & LONGER) !== 0 && limit > MAX_KEY_LENGTH) {
        for (const length of longLengths.get(prefix)!) {
          const token = length <= limit ? findLong(bytes, view, start, length) : NO_TOKEN
          if (token !== NO_TOKEN) return token
        }
      }
      known &= limit < MAX_KEY_LENGTH ? (2 << limit) - 1 : LONGER - 1
      while (known !== 0) {
        const length = 31 - Math.clz32(known)
        const token = find(bytes, view, start, length)
        if (token !== NO_TOKEN) return token
        known ^= 1 << length
      }
    }
    if (limit >= 3) {
      const token = find(bytes, view, start, 3)
      if (token !== NO_TOKEN) return token
    }
    if (limit >= 2) {
      const token = findTwo(bytes, start)
      if (token !== NO_TOKEN) return token
    }
    return limit >= 1 ? oneByte[bytes[start]] : NO_TOKEN
  }

  for (let token = 0; token < count; token++) {
    const length = lengths[token]
    const start = offsets[token]
    if (length === 1) oneByte[tokenBytes[start]] = token
    if (length === 2) twoBytes[tokenBytes[start] << 8 | tokenBytes[start + 1]] = token
    if (length <= MAX_KEY_LENGTH) add(token)
    else addLong(token)
  }

  return { tokens, lengths, find, findTwo, findKey, findLongest }
}
