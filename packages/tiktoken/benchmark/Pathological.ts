/**
 * Texts that are one long piece, and prose to compare with, in milliseconds of processor time for 1,000, 10,000, 100,000 and
 * 1,000,000 characters: the time should grow as the length does, and for a byte be no more than ten times that of prose. The
 * first of a row pays for what is compiled. A library that takes more than 4 µs for a character (and 40 ms) is not asked
 * for more.
 *
 * Node 20.20 on two virtual cores whose speed changes by half, so that ratios mean more than figures:
 *
 * | text | this package | js-tiktoken | tiktoken (WASM) | gpt-tokenizer | ai-tokenizer |
 * | --- | ---: | ---: | ---: | ---: | ---: |
 * | prose | 8.6 · 35 · 50 · 116 | 6.6 · 13 · 82 · 642 | 4.3 · 14 · 52 · 317 | 7.9 · 5.9 · 55 · 254 | 6.8 · 9.1 · 63 · 269 |
 * | one letter | 0.5 · 15 · 29 · 37 | 95 · – · – · – | 1.0 · 65 · – · – | 7.8 · 82 · – · – | 1.6 · 90 · – · – |
 * | spaces | 13 · 0.2 · 1.7 · 20 | 110 · – · – · – | 1.0 · 68 · – · – | 1.9 · 121 · – · – | 2.2 · 102 · – · – |
 * | newlines | 0.2 · 0.2 · 2.9 · 32 | 113 · – · – · – | 1.1 · 71 · – · – | 1.7 · 84 · – · – | 2.1 · 57 · – · – |
 * | equals signs | 4.8 · 18 · 4.5 · 33 | 119 · – · – · – | 1.1 · 70 · – · – | 2.0 · 101 · – · – | 2.0 · 104 · – · – |
 * | dashes | 0.7 · 0.3 · 2.0 · 33 | 110 · – · – · – | 1.0 · 68 · – · – | 1.9 · 77 · – · – | 1.9 · 91 · – · – |
 * | one ideograph | 1.3 · 16 · 45 · 137 | 835 · – · – · – | 5.4 · 508 · – · – | 5.2 · 381 · – · – | 14 · 431 · – · – |
 * | ideographs | 5.1 · 0.7 · 19 · 150 | 795 · – · – · – | 5.9 · 480 · – · – | 7.1 · 365 · – · – | 8.3 · 413 · – · – |
 * | letters | 0.4 · 1.2 · 26 · 53 | 2.7 · 13 · 130 · 1269 | 1.8 · 6.9 · 41 · 274 | 2.8 · 12 · 117 · 3314 | 4.0 · 18 · 203 · 2997 |
 * | lower case | 1.8 · 11 · 26 · 223 | 325 · – · – · – | 1.6 · 46 · – · – | 11 · 44 · – · – | 22 · 53 · – · – |
 * | base64 | 0.3 · 0.8 · 5.0 · 38 | 2.0 · 9.9 · 110 · 1150 | 2.3 · 4.9 · 41 · 409 | 5.5 · 49 · – · – | 4.6 · 40 · – · – |
 * | hexadecimal | 0.2 · 0.6 · 2.0 · 16 | 1.3 · 5.0 · 51 · 579 | 4.0 · 4.1 · 34 · 338 | 1.3 · 9.0 · 62 · 340 | 0.9 · 6.4 · 44 · 278 |
 * | emoji | 0.2 · 0.4 · 5.6 · 54 | 258 · – · – · – | 2.8 · 235 · – · – | 8.3 · 191 · – · – | 2.7 · 207 · – · – |
 * | punctuation | 0.8 · 2.0 · 11 · 80 | 45 · – · – · – | 1.0 · 33 · 3121 · – | 2.2 · 30 · 2483 · – | 4.0 · 38 · 2835 · – |
 * | white space | 1.2 · 2.3 · 15 · 126 | 74 · – · – · – | 1.2 · 58 · – · – | 2.0 · 49 · – · – | 2.2 · 54 · – · – |
 */
import { makeRandom } from "../test/support/random.js"
import { corpora } from "./support/corpora.js"
import { counters, now } from "./support/counters.js"

const random = makeRandom(7)

const randomOf = (alphabet: string) => (length: number): string => {
  const chars = Array.from(alphabet)
  return Array.from({ length }, () => random.pick(chars)).join("")
}

const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

const { prose } = corpora(1_000_000)

const families: Readonly<Record<string, (length: number) => string>> = {
  "prose": (length) => prose.slice(-length),
  "one letter": (length) => "a".repeat(length),
  "spaces": (length) => " ".repeat(length),
  "newlines": (length) => "\n".repeat(length),
  "equals signs": (length) => "=".repeat(length),
  "dashes": (length) => "-".repeat(length),
  "one ideograph": (length) => "的".repeat(length),
  "ideographs": randomOf(
    "的一是在不了有和人这中大为上个国我以要他时来用们生到作地于出就分对成会可主发年动同工也能下过子说产种面而方后多定行学"
  ),
  "letters": randomOf(letters),
  "lower case": randomOf(letters.toLowerCase()),
  "base64": randomOf(`${letters}0123456789+/`),
  "hexadecimal": randomOf("0123456789abcdef"),
  "emoji": (length) => "😀".repeat(length / 2),
  "punctuation": randomOf("!?.,;:-_=+*&^%$#@~"),
  "white space": randomOf(" \t\n")
}

const lengths = [1_000, 10_000, 100_000, 1_000_000]

console.log(`| text | ${Object.keys(counters).join(" | ")} |`)
console.log(`| --- |${" ---: |".repeat(Object.keys(counters).length)}`)
const counts = await Promise.all(Object.values(counters).map((load) => load("o200k_base")))
for (const count of counts) count("A few words to begin with.".repeat(100))
for (const [family, make] of Object.entries(families)) {
  const texts = lengths.map(make)
  const cells = counts.map((count) => {
    let isSlow = false
    return texts.map((text) => {
      if (isSlow) return "–"
      const start = now()
      count(text)
      const time = now() - start
      isSlow = time > Math.max(40, text.length * 0.004)
      return time.toFixed(time < 10 ? 1 : 0)
    }).join(" · ")
  })
  console.log(`| ${family} | ${cells.join(" | ")} |`)
}
