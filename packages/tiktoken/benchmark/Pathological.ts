/**
 * Texts that are one long piece, and prose to compare with, in milliseconds of processor time for 1,000, 10,000, 100,000 and
 * 1,000,000 characters: the time should grow as the length does, and for a byte be no more than ten times that of prose. The
 * first of a row pays for what is compiled. A library that takes more than 4 µs for a character (and 40 ms) is not asked
 * for more.
 *
 * Node 20.20 on two virtual cores that other work kept busy, so that ratios mean more than figures:
 *
 * | text | this package | js-tiktoken | tiktoken (WASM) | gpt-tokenizer | ai-tokenizer |
 * | --- | ---: | ---: | ---: | ---: | ---: |
 * | prose | 2.0 · 2.1 · 13 · 60 | 26 · 11 · 96 · 509 | 2.7 · 8.8 · 28 · 207 | 7.7 · 4.1 · 30 · 197 | 4.4 · 6.0 · 40 · 199 |
 * | one letter | 0.3 · 8.9 · 24 · 39 | 63 · – · – · – | 0.7 · 59 · – · – | 1.0 · 44 · – · – | 1.0 · 52 · – · – |
 * | spaces | 3.4 · 0.3 · 2.7 · 20 | 66 · – · – · – | 0.9 · 61 · – · – | 1.0 · 41 · – · – | 1.1 · 54 · – · – |
 * | newlines | 0.1 · 0.1 · 1.4 · 17 | 71 · – · – · – | 0.9 · 60 · – · – | 0.9 · 39 · 4112 · – | 1.4 · 60 · – · – |
 * | equals signs | 4.9 · 3.9 · 2.8 · 22 | 72 · – · – · – | 0.9 · 61 · – · – | 1.0 · 41 · – · – | 1.1 · 53 · – · – |
 * | dashes | 0.8 · 1.9 · 6.3 · 24 | 81 · – · – · – | 0.8 · 60 · – · – | 1.0 · 40 · 3965 · – | 1.6 · 54 · – · – |
 * | one ideograph | 0.3 · 4.8 · 33 · 82 | 544 · – · – · – | 5.1 · 473 · – · – | 4.0 · 297 · – · – | 5.2 · 402 · – · – |
 * | ideographs | 1.2 · 2.5 · 15 · 138 | 695 · – · – · – | 5.6 · 480 · – · – | 6.2 · 294 · – · – | 8.0 · 405 · – · – |
 * | letters | 0.4 · 1.0 · 13 · 58 | 2.3 · 13 · 124 · 1377 | 1.4 · 3.3 · 30 · 269 | 4.0 · 8.9 · 97 · 2206 | 2.7 · 13 · 172 · 2401 |
 * | lower case | 1.1 · 3.4 · 20 · 123 | 79 · – · – · – | 1.3 · 45 · – · – | 2.4 · 33 · 3023 · – | 8.5 · 52 · – · – |
 * | base64 | 0.3 · 0.7 · 5.3 · 38 | 2.3 · 11 · 465 · – | 2.3 · 4.7 · 41 · 410 | 10 · 48 · – · – | 21 · 38 · 418 · – |
 * | hexadecimal | 0.2 · 0.5 · 1.8 · 15 | 4.6 · 5.0 · 63 · 1282 | 0.9 · 14 · 51 · 331 | 4.0 · 19 · 73 · 335 | 1.1 · 6.7 · 50 · 290 |
 * | emoji | 0.1 · 0.4 · 5.0 · 48 | 289 · – · – · – | 2.8 · 227 · – · – | 5.2 · 139 · – · – | 2.7 · 215 · – · – |
 * | punctuation | 0.7 · 2.0 · 10 · 74 | 52 · – · – · – | 0.7 · 33 · 3140 · – | 2.2 · 35 · 1993 · – | 2.7 · 44 · – · – |
 * | white space | 0.7 · 1.7 · 13 · 110 | 75 · – · – · – | 1.1 · 56 · – · – | 1.5 · 38 · 3493 · – | 2.6 · 51 · – · – |
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
