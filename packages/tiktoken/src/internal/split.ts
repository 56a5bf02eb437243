/**
 * OpenAI's split patterns, written out. Each takes the UTF-8 bytes of a text and the place where a piece starts, and
 * tells where it ends. `END_MARK` must stand at `length`.
 *
 * In the comments, `U` is `UPPER`, `L` is `LOWER`, `P` is `[^\r\n\p{L}\p{N}]`, the one character that a word may take along
 * in front.
 *
 * @internal
 */
import { byteClasses, CharacterClass, classAt, wideClass, wideLength } from "./characters.js"

/** The end of the piece that starts at `start`. */
export type Split = (bytes: Uint8Array, start: number, length: number) => number

// Local copies: V8 folds constants of the module itself into the code, imported ones it loads each time.
const { LETTER, LOWER, NEWLINE, NUMBER, OTHER, SPACE, UPPER, WIDE } = CharacterClass
const classes = byteClasses

const ASCII_UPPER = UPPER | LETTER
const ASCII_LOWER = LOWER | LETTER

const APOSTROPHE = 0x27
const CR = 0x0d
const LF = 0x0a
const BLANK = 0x20
const SLASH = 0x2f

/** Number of bytes of `(?i:'s|'t|'re|'ve|'m|'ll|'d)` at an apostrophe, or 0. */
const contraction = (bytes: Uint8Array, at: number): number => {
  const first = bytes[at + 1] | 0x20
  if (first === 0x73 || first === 0x74 || first === 0x6d || first === 0x64) return 2
  const second = bytes[at + 2] | 0x20
  if ((first === 0x72 || first === 0x76) && second === 0x65) return 3
  if (first === 0x6c && second === 0x6c) return 3
  // The long s, U+017F, is an s to a pattern that ignores case.
  return bytes[at + 1] === 0xc5 && bytes[at + 2] === 0xbf ? 3 : 0
}

/** The end of a run of characters that are in any of these classes. */
const run = (bytes: Uint8Array, start: number, wanted: number): number => {
  let at = start
  for (;;) {
    const found = classes[bytes[at]]
    if ((found & wanted) !== 0) at++
    else if (found === WIDE && (wideClass(bytes, at) & wanted) !== 0) at += wideLength(bytes[at])
    else return at
  }
}

/** `\p{N}{1,3}` */
const upToThreeNumbers = (bytes: Uint8Array, start: number): number => {
  let at = start
  for (let i = 0; i < 3; i++) {
    const found = classes[bytes[at]]
    if (found === NUMBER) at++
    else if (found === WIDE && wideClass(bytes, at) === NUMBER) at += wideLength(bytes[at])
    else break
  }
  return at
}

/** `\s+(?!\S)|\s+`, and before it `\s*[\r\n]+` where `newlines` is set. */
const whiteSpace = (bytes: Uint8Array, start: number, length: number, newlines: boolean): number => {
  let at = start
  let last = start
  let afterNewline = -1
  for (;;) {
    const found = classes[bytes[at]]
    if (found === SPACE) {
      last = at++
    } else if (found === NEWLINE) {
      last = at++
      afterNewline = at
    } else if (found === WIDE && wideClass(bytes, at) === SPACE) {
      last = at
      at += wideLength(bytes[at])
    } else break
  }
  if (newlines && afterNewline >= 0) return afterNewline
  // The last character of a run is left to what follows, unless it is all there is or nothing follows.
  return at >= length || last === start ? at : last
}

/**
 * `P?U*L+|P?U+L*` where the word has characters beyond ASCII. Some are in both halves, so the pattern steps back: `U*`
 * takes all it can, and if no `L` follows gives back up to the last character that is an `L` too.
 */
const wideWord = (bytes: Uint8Array, start: number, wordStart: number, startClass: number): number => {
  let at = wordStart
  let afterLastLower = -1
  let found = classAt(bytes, at)
  while ((found & UPPER) !== 0) {
    at += classes[bytes[at]] === WIDE ? wideLength(bytes[at]) : 1
    if ((found & LOWER) !== 0) afterLastLower = at
    found = classAt(bytes, at)
  }
  if ((found & LOWER) !== 0) return run(bytes, at, LOWER)
  if (afterLastLower >= 0) return afterLastLower
  // No L at all. A mark in the place of P is an L itself, and `U*L+` without P comes before `P?U+L*`.
  return wordStart > start && (startClass & UPPER) !== 0 ? wordStart : at
}

/**
 * ```
 * P?U*L+C?|P?U+L*C?|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+
 * ```
 * where `C` is a contraction.
 */
export const splitO200k: Split = (bytes, start, length) => {
  const first = bytes[start]
  let startClass = classes[first]
  let second = start + 1
  if (startClass === WIDE) {
    startClass = wideClass(bytes, start)
    second = start + wideLength(first)
  }
  let secondClass = 0
  let wordStart = -1
  if ((startClass & LETTER) !== 0) {
    wordStart = start
  } else if ((startClass & (NUMBER | NEWLINE)) === 0) {
    secondClass = classAt(bytes, second)
    if ((secondClass & (UPPER | LOWER)) !== 0) wordStart = second
    else if ((startClass & UPPER) !== 0) wordStart = start
  }
  if (wordStart >= 0) {
    let end = wordStart
    while (classes[bytes[end]] === ASCII_UPPER) end++
    while (classes[bytes[end]] === ASCII_LOWER) end++
    if (classes[bytes[end]] === WIDE) end = wideWord(bytes, start, wordStart, startClass)
    return bytes[end] === APOSTROPHE ? end + contraction(bytes, end) : end
  }
  if (startClass === NUMBER) return upToThreeNumbers(bytes, start)
  if ((startClass & OTHER) !== 0 || (first === BLANK && (secondClass & OTHER) !== 0)) {
    let end = run(bytes, startClass === SPACE ? second : start, OTHER)
    while (bytes[end] === LF || bytes[end] === CR || bytes[end] === SLASH) end++
    return end
  }
  return whiteSpace(bytes, start, length, true)
}

/**
 * ```
 * C|P?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+
 * ```
 * where `C` is a contraction.
 */
export const splitCl100k: Split = (bytes, start, length) => {
  const first = bytes[start]
  if (first === APOSTROPHE) {
    const bytesOfContraction = contraction(bytes, start)
    if (bytesOfContraction > 0) return start + bytesOfContraction
  }
  let startClass = classes[first]
  let second = start + 1
  if (startClass === WIDE) {
    startClass = wideClass(bytes, start)
    second = start + wideLength(first)
  }
  if ((startClass & LETTER) !== 0) return run(bytes, second, LETTER)
  let secondClass = 0
  if ((startClass & (NUMBER | NEWLINE)) === 0) {
    secondClass = classAt(bytes, second)
    if ((secondClass & LETTER) !== 0) return run(bytes, second, LETTER)
  }
  if (startClass === NUMBER) return upToThreeNumbers(bytes, start)
  if ((startClass & OTHER) !== 0 || (first === BLANK && (secondClass & OTHER) !== 0)) {
    let end = run(bytes, startClass === SPACE ? second : start, OTHER)
    while (bytes[end] === LF || bytes[end] === CR) end++
    return end
  }
  return whiteSpace(bytes, start, length, true)
}

/** Number of bytes of `'s|'t|'re|'ve|'m|'ll|'d`, in this case only, at an apostrophe, or 0. */
const lowerCaseContraction = (bytes: Uint8Array, at: number): number => {
  const found = contraction(bytes, at)
  for (let i = 1; i < found; i++) {
    if (classes[bytes[at + i]] !== ASCII_LOWER) return 0
  }
  return found
}

/**
 * ```
 * C| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+
 * ```
 * where `C` is a contraction. The pattern of gpt2, r50k and p50k.
 */
export const splitGpt2: Split = (bytes, start, length) => {
  if (bytes[start] === APOSTROPHE) {
    const bytesOfContraction = lowerCaseContraction(bytes, start)
    if (bytesOfContraction > 0) return start + bytesOfContraction
  }
  const from = bytes[start] === BLANK ? start + 1 : start
  const found = classAt(bytes, from) & (LETTER | NUMBER | OTHER)
  return found === 0 ? whiteSpace(bytes, start, length, false) : run(bytes, from, found)
}
