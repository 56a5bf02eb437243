/**
 * Character classes as OpenAI's split patterns see them, for UTF-8 bytes and for code points.
 *
 * The patterns are Rust regular expressions. JavaScript's classes agree with Rust's but for two characters, which
 * `classify` sets right.
 *
 * @internal
 */

/** Sets of characters, a bit each. */
export const CharacterClass = {
  /** May stand in the first half of a word, `[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]`. */
  UPPER: 1,
  /** May stand in the second half of a word, `[\p{Ll}\p{Lm}\p{Lo}\p{M}]`. */
  LOWER: 2,
  /** `\p{L}`. */
  LETTER: 4,
  /** `\p{N}`. */
  NUMBER: 8,
  /** White space other than CR and LF. */
  SPACE: 16,
  /** CR and LF. */
  NEWLINE: 32,
  /** `[^\s\p{L}\p{N}]`: marks are in here too. */
  OTHER: 64,
  /** A byte that starts a character of two to four bytes: its class is that of the code point. */
  WIDE: 128
} as const

// Local copies: V8 folds constants of the module itself into the code, exported ones it loads each time.
const { LETTER, LOWER, NEWLINE, NUMBER, OTHER, SPACE, UPPER, WIDE } = CharacterClass

/** Written behind the text. It is no byte of UTF-8 and in no class, so that every run of characters stops there. */
export const END_MARK = 0xff

const upper = /[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]/u
const lower = /[\p{Ll}\p{Lm}\p{Lo}\p{M}]/u
const letter = /\p{L}/u
const number = /\p{N}/u
const space = /\s/u

const classify = (codePoint: number): number => {
  if (codePoint === 0x0a || codePoint === 0x0d) return NEWLINE
  // NEL is white space in Rust and not in JavaScript; the byte order mark is the other way round.
  if (codePoint === 0x85) return SPACE
  if (codePoint === 0xfeff) return OTHER
  const char = String.fromCodePoint(codePoint)
  if (space.test(char)) return SPACE
  if (number.test(char)) return NUMBER
  return (upper.test(char) ? UPPER : 0) | (lower.test(char) ? LOWER : 0) | (letter.test(char) ? LETTER : OTHER)
}

const makeByteClasses = (): Uint8Array => {
  const table = new Uint8Array(256)
  for (let byte = 0; byte < 0x80; byte++) table[byte] = classify(byte)
  for (let byte = 0xc0; byte < 0xf8; byte++) table[byte] = WIDE
  return table
}

const classes = makeByteClasses()

/** The class of a byte: of an ASCII character, or `WIDE`. */
export const byteClasses: Uint8Array = classes

// Filled as characters are met; 0 is "not met yet". Pages that are never touched take no memory.
const codePointClasses = new Uint8Array(0x110000)

/** Number of bytes of the character that starts with this byte, which is `WIDE`. */
export const wideLength = (byte: number): number => byte < 0xe0 ? 2 : byte < 0xf0 ? 3 : 4

/** Whether a byte is one of a character but not its first. */
export const isTrail = (byte: number): boolean => (byte & 0xc0) === 0x80

/** Whether a byte starts a character of three bytes. */
export const isThreeBytes = (byte: number): boolean => (byte & 0xf0) === 0xe0

/** The code point of the three bytes at `at`. */
export const codePointOfThree = (bytes: Uint8Array, at: number): number =>
  (bytes[at] & 0x0f) << 12 | (bytes[at + 1] & 0x3f) << 6 | bytes[at + 2] & 0x3f

/** The class of the character that starts at `at` with a `WIDE` byte. */
export const wideClass = (bytes: Uint8Array, at: number): number => {
  const lead = bytes[at]
  const codePoint = lead < 0xe0
    ? (lead & 0x1f) << 6 | bytes[at + 1] & 0x3f
    : lead < 0xf0
    ? codePointOfThree(bytes, at)
    : (lead & 0x07) << 18 | (bytes[at + 1] & 0x3f) << 12 | (bytes[at + 2] & 0x3f) << 6 | bytes[at + 3] & 0x3f
  const known = codePointClasses[codePoint]
  return known === 0 ? codePointClasses[codePoint] = classify(codePoint) : known
}

/** The class of the character that starts at `at`. */
export const classAt = (bytes: Uint8Array, at: number): number => {
  const known = classes[bytes[at]]
  return known === WIDE ? wideClass(bytes, at) : known
}
