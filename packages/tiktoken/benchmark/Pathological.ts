/**
 * Texts that are one long piece, in milliseconds of processor time for 1,000, 10,000, 100,000 and 1,000,000
 * characters: the time should grow as the length does. A library that takes more than 4 µs for a character (and 40 ms) is
 * not asked for more.
 *
 * The last result stands in the README.
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
