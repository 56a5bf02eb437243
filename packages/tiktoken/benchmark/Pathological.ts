/**
 * Texts that are one long piece, in milliseconds of processor time for 1,000, 10,000, 100,000 and 1,000,000
 * characters: the time should grow as the length does. A library that takes more than 4 µs for a character (and 40 ms) is
 * not asked for more.
 *
 * Node 20.20 on two virtual cores that other work kept busy, so that ratios mean more than figures:
 *
 * | text | this package | js-tiktoken | tiktoken (WASM) | gpt-tokenizer | ai-tokenizer |
 * | --- | ---: | ---: | ---: | ---: | ---: |
 * | one letter | 7.9 · 1.7 · 24 · 30 | 95 · – · – · – | 4.1 · 131 · – · – | 15 · 75 · – · – | 13 · 96 · – · – |
 * | spaces | 19 · 7.8 · 11 · 26 | 96 · – · – · – | 1.4 · 95 · – · – | 1.1 · 67 · – · – | 1.6 · 110 · – · – |
 * | newlines | 4.1 · 0.3 · 3.5 · 17 | 98 · – · – · – | 1.3 · 96 · – · – | 1.1 · 55 · – · – | 1.4 · 81 · – · – |
 * | equals signs | 0.5 · 2.9 · 26 · 280 | 84 · – · – · – | 1.1 · 92 · – · – | 1.1 · 59 · – · – | 1.2 · 66 · – · – |
 * | dashes | 0.6 · 2.7 · 30 · 263 | 82 · – · – · – | 1.1 · 92 · – · – | 1.1 · 59 · – · – | 1.3 · 70 · – · – |
 * | one ideograph | 5.0 · 11 · 38 · 100 | 630 · – · – · – | 8.0 · 721 · – · – | 26 · 509 · – · – | 22 · 564 · – · – |
 * | ideographs | 1.2 · 7.8 · 25 · 200 | 1080 · – · – · – | 9.6 · 740 · – · – | 7.8 · 515 · – · – | 11 · 432 · – · – |
 * | letters | 6.0 · 14 · 33 · 157 | 2.3 · 17 · 217 · 1983 | 1.1 · 5.6 · 37 · 360 | 2.9 · 18 · 174 · 2821 | 1.8 · 12 · 133 · 2534 |
 * | lower case | 0.7 · 3.0 · 17 · 187 | 83 · – · – · – | 1.1 · 68 · – · – | 4.7 · 60 · – · – | 2.5 · 49 · – · – |
 * | base64 | 0.6 · 1.9 · 14 · 128 | 2.1 · 12 · 155 · 2078 | 5.3 · 5.6 · 57 · 507 | 9.2 · 66 · – · – | 23 · 47 · – · – |
 * | hexadecimal | 0.2 · 0.9 · 5.8 · 21 | 4.6 · 5.7 · 47 · 767 | 8.1 · 4.3 · 42 · 426 | 1.1 · 11 · 71 · 558 | 1.0 · 6.9 · 47 · 301 |
 * | emoji | 0.2 · 3.4 · 19 · 54 | 328 · – · – · – | 3.8 · 338 · – · – | 13 · 231 · – · – | 5.4 · 196 · – · – |
 * | punctuation | 0.6 · 1.7 · 14 · 100 | 62 · – · – · – | 1.0 · 48 · – · – | 1.8 · 44 · – · – | 2.0 · 34 · 2734 · – |
 * | white space | 0.6 · 1.8 · 13 · 134 | 87 · – · – · – | 1.1 · 84 · – · – | 1.7 · 58 · – · – | 1.6 · 50 · – · – |
 */
import { makeRandom } from "../test/support/random.js"
import { counters, now } from "./support/counters.js"

const random = makeRandom(7)

const randomOf = (alphabet: string) => (length: number): string => {
  const chars = Array.from(alphabet)
  return Array.from({ length }, () => random.pick(chars)).join("")
}

const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

const families: Readonly<Record<string, (length: number) => string>> = {
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
