/**
 * Counting fresh texts, in MB of UTF-8 a second: each text is counted once by each library, in turn, after a warm-up on
 * other texts of the same kind. Medians of five rounds, in processor time, which other processes disturb less. Each
 * encoding has a process of its own.
 *
 * The last result stands in the README.
 */
import { spawnSync } from "node:child_process"
import { fileURLToPath } from "node:url"
import { corpora, cut } from "./support/corpora.js"
import { type Count, counters, type Encoding, median, now } from "./support/counters.js"

const ROUNDS = 5
const LENGTH = 700_000
/** Units of UTF-16 that a library counts in a round. */
const ROUND = 50_000
const lengths = { short: 150, medium: 2_000, long: 50_000 }

const bytesOf = (texts: ReadonlyArray<string>): number => texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0)

const timeOf = (count: Count, texts: ReadonlyArray<string>): number => {
  const start = now()
  for (const text of texts) count(text)
  return now() - start
}

const warmUp = (count: Count, texts: ReadonlyArray<string>, time: number): void => {
  const start = now()
  for (const text of texts) {
    if (now() - start > time) return
    count(text)
  }
}

const measure = async (encoding: Encoding): Promise<void> => {
  const all = corpora(LENGTH)
  const names = Object.keys(counters)
  const peers = names.slice(1)
  const count: Record<string, Count> = {}
  for (const name of names) {
    count[name] = await counters[name](encoding)
    for (const text of Object.values(all)) warmUp(count[name], cut(text, 500), 500)
  }
  console.log(`\n### ${encoding}\n`)
  console.log(`| text | ${names.join(" | ")} | ÷ fastest other | ÷ js-tiktoken |`)
  console.log(`| --- |${" ---: |".repeat(names.length + 2)}`)
  const overFastest: Array<number> = []
  const overJs: Array<number> = []
  for (const [size, length] of Object.entries(lengths)) {
    for (const [corpus, text] of Object.entries(all)) {
      const texts = cut(text, length)
      const perRound = Math.max(1, Math.floor(ROUND / length))
      const fresh = texts.slice(0, ROUNDS * perRound)
      for (const name of names) warmUp(count[name], texts.slice(ROUNDS * perRound), 300)
      const rates: Record<string, Array<number>> = Object.fromEntries(names.map((name) => [name, []]))
      for (let round = 0; round < ROUNDS; round++) {
        const part = fresh.slice(round * perRound, (round + 1) * perRound)
        const bytes = bytesOf(part)
        for (let i = 0; i < names.length; i++) {
          const name = names[(i + round) % names.length]
          rates[name].push(bytes / timeOf(count[name], part) / 1_000)
        }
      }
      const rate = Object.fromEntries(names.map((name) => [name, median(rates[name])]))
      const fastest = Math.max(...peers.map((name) => rate[name]))
      overFastest.push(rate[names[0]] / fastest)
      overJs.push(rate[names[0]] / rate["js-tiktoken"])
      console.log(
        `| ${size} ${corpus} | ${names.map((name) => rate[name].toFixed(rate[name] < 10 ? 2 : 1)).join(" | ")} | ` +
          `${overFastest.at(-1)!.toFixed(1)} | ${overJs.at(-1)!.toFixed(0)} |`
      )
    }
  }
  const mean = Math.exp(overJs.reduce((sum, ratio) => sum + Math.log(ratio), 0) / overJs.length)
  console.log(
    `\n${encoding}: ${Math.min(...overFastest).toFixed(1)} to ${
      Math.max(...overFastest).toFixed(1)
    } times the fastest ` +
      `other library (median ${median(overFastest).toFixed(1)}), ${
        mean.toFixed(0)
      } times js-tiktoken in the geometric mean.`
  )
}

const encodings: ReadonlyArray<Encoding> = ["o200k_base", "cl100k_base"]
const asked = encodings.find((encoding) => encoding === process.argv[2])
if (asked !== undefined) await measure(asked)
else {
  for (const encoding of encodings) {
    spawnSync(process.execPath, [...process.execArgv, fileURLToPath(import.meta.url), encoding], { stdio: "inherit" })
  }
}
