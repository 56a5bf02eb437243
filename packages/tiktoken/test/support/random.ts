/** Random text that visits every rule of the split patterns, from a seed. */

/** A small generator of numbers (mulberry32): the same seed gives the same text on every engine. */
export interface Random {
  /** A whole number from 0 up to, not including, `limit`. */
  readonly below: (limit: number) => number
  readonly pick: <A>(items: ReadonlyArray<A>) => A
}

export const makeRandom = (seed: number): Random => {
  let state = seed
  const next = (): number => {
    state = state + 0x6d2b79f5 | 0
    let mixed = Math.imul(state ^ state >>> 15, 1 | state)
    mixed = mixed + Math.imul(mixed ^ mixed >>> 7, 61 | mixed) ^ mixed
    return ((mixed ^ mixed >>> 14) >>> 0) / 4294967296
  }
  const below = (limit: number): number => Math.floor(next() * limit)
  return { below, pick: (items) => items[below(items.length)] }
}

/** Characters by the role that they play in the patterns. */
const kinds: ReadonlyArray<ReadonlyArray<string>> = [
  Array.from("abcdefghijklmnopqrstuvwxyz"),
  Array.from("ABCDEFGHIJKLMNOPQRSTUVWXYZ"),
  Array.from("0123456789"),
  Array.from("٣४Ⅷ²½〇"),
  Array.from("äéßſıñøфдشب"),
  Array.from("ÄÉØФДΩ"),
  Array.from("ǅǈ"),
  Array.from("ʰʱˠªº"),
  Array.from("的是我在有日本語한국어กขא"),
  ["\u0301", "\u0308", "\u0345", "\u0903", "\u20dd", "\ufe0f", "\u200d"],
  [" ", " ", " ", "  ", "\t", "\u00a0", "\u2003", "\u3000", "\u2028", "\u0085"],
  ["\n", "\r", "\r\n", "\n\n"],
  ["\ufeff", "\u200b", "\u2060", "\u0000", "\u001f"],
  Array.from("!?.,;:-_=+*&^%$#@~`|\\<>(){}[]\"/"),
  ["'", "'s", "'S", "'t", "'re", "'RE", "'ve", "'Ve", "'m", "'ll", "'lL", "'d", "'ſ", "’s"],
  ["😀", "👩‍👩‍👧", "🇳🇴", "👍🏽", "𝒜", "𐐀", "𐐨", "𠀀", "\u{e0041}", "\u{10fffd}"],
  ["\ud800", "\udc00", "\udbff", "\udfff"],
  ["<|endoftext|>", "<|fim_prefix|>", "<|im_start|>", "<|"],
  ["the", " and", "function", "Hello", "HTTP", "camelCase", "return ", "http://", "0x1F", "__proto__"]
]

/** A text of up to `length` characters or snippets. */
export const randomText = (random: Random, length: number): string => {
  // Few kinds at a time, so that runs and their ends come up often.
  const chosen = Array.from({ length: 1 + random.below(4) }, () => random.pick(kinds))
  return Array.from({ length: random.below(length + 1) }, () => random.pick(random.pick(chosen))).join("")
}

/** A text of code units of any value: unassigned characters and lone surrogates with them. */
export const randomUnits = (random: Random, length: number): string =>
  String.fromCharCode(...Array.from({ length: random.below(length + 1) }, () => random.below(0x10000)))
