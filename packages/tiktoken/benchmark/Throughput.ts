/**
 * Counting fresh texts, in MB of UTF-8 a second: each text is counted once by each library, in turn, after a warm-up on
 * other texts of the same kind. Medians of five rounds, in processor time, which other processes disturb less. Each
 * encoding has a process of its own.
 *
 * Node 20.20 on two virtual cores that other work kept busy, so that ratios mean more than figures:
 *
 * ### o200k_base
 *
 * | text | this package | js-tiktoken | tiktoken (WASM) | gpt-tokenizer | ai-tokenizer | ÷ fastest other | ÷ js-tiktoken |
 * | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |
 * | short prose | 41.0 | 2.58 | 3.97 | 8.53 | 10.6 | 3.9 | 16 |
 * | short markdown | 49.3 | 2.78 | 3.80 | 10.2 | 10.1 | 4.9 | 18 |
 * | short code | 50.9 | 2.71 | 3.17 | 12.5 | 9.83 | 4.1 | 19 |
 * | short JSON | 69.3 | 2.46 | 2.45 | 13.6 | 12.5 | 5.1 | 28 |
 * | short Chinese | 18.8 | 0.20 | 6.08 | 2.25 | 0.64 | 3.1 | 92 |
 * | short Japanese | 23.6 | 0.21 | 6.08 | 0.50 | 0.69 | 3.9 | 113 |
 * | short mixed | 19.8 | 0.37 | 4.23 | 1.63 | 1.82 | 4.7 | 54 |
 * | short base64 | 7.67 | 0.67 | 2.01 | 0.10 | 0.16 | 3.8 | 11 |
 * | medium prose | 45.1 | 2.95 | 3.16 | 17.4 | 4.90 | 2.6 | 15 |
 * | medium markdown | 49.0 | 2.24 | 3.07 | 9.03 | 6.17 | 5.4 | 22 |
 * | medium code | 57.5 | 3.03 | 3.05 | 11.2 | 5.03 | 5.2 | 19 |
 * | medium JSON | 76.6 | 2.95 | 2.31 | 11.2 | 20.1 | 3.8 | 26 |
 * | medium Chinese | 19.3 | 0.19 | 5.67 | 1.93 | 4.37 | 3.4 | 102 |
 * | medium Japanese | 22.2 | 0.21 | 6.39 | 0.53 | 3.77 | 3.5 | 104 |
 * | medium mixed | 19.4 | 0.32 | 3.98 | 1.67 | 0.68 | 4.9 | 61 |
 * | medium base64 | 7.60 | 0.62 | 1.83 | 0.11 | 1.78 | 4.1 | 12 |
 * | long prose | 49.5 | 3.18 | 3.63 | 11.9 | 24.7 | 2.0 | 16 |
 * | long markdown | 58.5 | 2.93 | 3.57 | 10.4 | 26.0 | 2.3 | 20 |
 * | long code | 51.9 | 2.68 | 2.86 | 12.5 | 20.4 | 2.6 | 19 |
 * | long JSON | 76.8 | 3.26 | 2.56 | 17.7 | 6.89 | 4.3 | 24 |
 * | long Chinese | 19.2 | 0.18 | 5.66 | 2.64 | 0.49 | 3.4 | 105 |
 * | long Japanese | 21.0 | 0.19 | 5.72 | 0.49 | 0.30 | 3.7 | 112 |
 * | long mixed | 18.9 | 0.30 | 4.00 | 1.64 | 1.08 | 4.7 | 62 |
 * | long base64 | 7.09 | 0.58 | 1.76 | 0.11 | 0.31 | 4.0 | 12 |
 *
 * o200k_base: 2.0 to 5.4 times the fastest other library (median 3.9), 32 times js-tiktoken in the geometric mean.
 *
 * ### cl100k_base
 *
 * | text | this package | js-tiktoken | tiktoken (WASM) | gpt-tokenizer | ai-tokenizer | ÷ fastest other | ÷ js-tiktoken |
 * | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |
 * | short prose | 34.1 | 2.34 | 4.19 | 12.4 | 9.55 | 2.8 | 15 |
 * | short markdown | 41.1 | 1.95 | 3.54 | 8.57 | 11.4 | 3.6 | 21 |
 * | short code | 37.7 | 1.23 | 3.01 | 9.58 | 9.76 | 3.9 | 31 |
 * | short JSON | 56.2 | 2.95 | 2.38 | 10.1 | 15.7 | 3.6 | 19 |
 * | short Chinese | 21.3 | 0.18 | 5.60 | 7.60 | 5.45 | 2.8 | 120 |
 * | short Japanese | 23.9 | 0.20 | 6.31 | 0.56 | 6.36 | 3.8 | 118 |
 * | short mixed | 19.7 | 0.34 | 4.05 | 1.56 | 1.34 | 4.9 | 59 |
 * | short base64 | 7.25 | 0.53 | 2.65 | 0.13 | 2.11 | 2.7 | 14 |
 * | medium prose | 53.8 | 3.11 | 4.72 | 9.90 | 16.8 | 3.2 | 17 |
 * | medium markdown | 48.4 | 2.24 | 3.93 | 3.54 | 8.94 | 5.4 | 22 |
 * | medium code | 42.4 | 1.39 | 3.15 | 2.12 | 10.5 | 4.1 | 31 |
 * | medium JSON | 61.1 | 3.22 | 2.46 | 9.38 | 24.8 | 2.5 | 19 |
 * | medium Chinese | 20.9 | 0.20 | 6.34 | 2.38 | 0.98 | 3.3 | 105 |
 * | medium Japanese | 22.7 | 0.23 | 7.05 | 0.69 | 0.69 | 3.2 | 101 |
 * | medium mixed | 18.7 | 0.32 | 4.13 | 1.71 | 1.97 | 4.5 | 59 |
 * | medium base64 | 7.43 | 0.57 | 2.62 | 1.91 | 0.14 | 2.8 | 13 |
 * | long prose | 45.5 | 2.86 | 4.38 | 16.8 | 5.92 | 2.7 | 16 |
 * | long markdown | 48.2 | 2.09 | 4.01 | 16.8 | 18.2 | 2.7 | 23 |
 * | long code | 39.9 | 1.29 | 3.14 | 15.1 | 10.7 | 2.6 | 31 |
 * | long JSON | 59.4 | 3.65 | 2.67 | 20.7 | 27.7 | 2.1 | 16 |
 * | long Chinese | 21.5 | 0.20 | 6.64 | 1.28 | 0.99 | 3.2 | 107 |
 * | long Japanese | 23.3 | 0.22 | 7.13 | 0.75 | 9.70 | 2.4 | 106 |
 * | long mixed | 22.4 | 0.38 | 4.49 | 2.14 | 6.58 | 3.4 | 58 |
 * | long base64 | 8.19 | 0.62 | 2.87 | 0.17 | 3.64 | 2.3 | 13 |
 *
 * cl100k_base: 2.1 to 5.4 times the fastest other library (median 3.2), 34 times js-tiktoken in the geometric mean.
 */
import { spawnSync } from "node:child_process"
import { fileURLToPath } from "node:url"
import { corpora, cut } from "./support/corpora.js"
import { type Count, counters, type Encoding, median, now } from "./support/counters.js"

const ROUNDS = 5
/** Units of UTF-16 that each library counts in a round, where there are as many, and time that it has for them. */
const ROUND = 200_000
const TIME = 400
/** The part of a text that all warm up on, and time to do so at first and before each round. */
const WARM_UP = 1 / 5
const FIRST_TIME = 600
const ROUND_TIME = 100

const lengths = { short: 150, medium: 2_000, long: 50_000 }
type Size = keyof typeof lengths

const encodings: ReadonlyArray<Encoding> = ["o200k_base", "cl100k_base"]
const sizes: ReadonlyArray<Size> = ["short", "medium", "long"]

/** Counts texts while there is time: MB a second. */
const rateOf = (count: Count, texts: ReadonlyArray<string>): number => {
  // The clock is looked at every 20,000 units, since that takes as long as to count a short text.
  const step = Math.ceil(20_000 / texts[0].length)
  const start = now()
  let counted = 0
  do {
    for (const stop = Math.min(texts.length, counted + step); counted < stop; counted++) count(texts[counted])
  } while (counted < texts.length && now() - start < TIME)
  const time = now() - start
  return texts.slice(0, counted).reduce((sum, text) => sum + Buffer.byteLength(text), 0) / time / 1_000
}

const warmUp = (count: Count, texts: ReadonlyArray<string>, time: number): void => {
  const start = now()
  for (let i = 0; now() - start < time; i++) count(texts[i % texts.length])
}

interface Row {
  readonly corpus: string
  readonly rate: Readonly<Record<string, number>>
}

const measure = async (encoding: Encoding, size: Size): Promise<ReadonlyArray<Row>> => {
  const all = Object.entries(corpora(ROUNDS * ROUND / (1 - WARM_UP)))
  const names = Object.keys(counters)
  const count: Record<string, Count> = {}
  for (const name of names) {
    count[name] = await counters[name](encoding)
    for (const [, text] of all) warmUp(count[name], cut(text.slice(0, text.length * WARM_UP), 150), FIRST_TIME / 5)
  }
  return all.map(([corpus, text]) => {
    const from = Math.floor(text.length * WARM_UP)
    const round = Math.floor((text.length - from) / ROUNDS)
    const length = Math.min(lengths[size], round)
    const warm = cut(text.slice(0, from), Math.min(length, from))
    for (const name of names) warmUp(count[name], warm, FIRST_TIME)
    const rates: Record<string, Array<number>> = Object.fromEntries(names.map((name) => [name, []]))
    for (let i = 0; i < ROUNDS; i++) {
      const fresh = cut(text.slice(from + i * round, from + (i + 1) * round), length)
      for (let j = 0; j < names.length; j++) {
        const name = names[(i + j) % names.length]
        globalThis.gc?.()
        warmUp(count[name], warm, ROUND_TIME)
        rates[name].push(rateOf(count[name], fresh))
      }
    }
    return { corpus, rate: Object.fromEntries(names.map((name) => [name, median(rates[name])])) }
  })
}

const report = (encoding: Encoding): void => {
  const names = Object.keys(counters)
  const overFastest: Array<number> = []
  const overJs: Array<number> = []
  console.log(`\n### ${encoding}\n`)
  console.log(`| text | ${names.join(" | ")} | ÷ fastest other | ÷ js-tiktoken |`)
  console.log(`| --- |${" ---: |".repeat(names.length + 2)}`)
  for (const size of sizes) {
    const child = spawnSync(
      process.execPath,
      ["--expose-gc", "--single-threaded", ...process.execArgv, fileURLToPath(import.meta.url), encoding, size],
      { encoding: "utf8", stdio: ["ignore", "pipe", "inherit"] }
    )
    for (const { corpus, rate } of JSON.parse(child.stdout) as ReadonlyArray<Row>) {
      const fastest = Math.max(...names.slice(1).map((name) => rate[name]))
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
    `\n${encoding}: ${Math.min(...overFastest).toFixed(1)} to ${Math.max(...overFastest).toFixed(1)} times the ` +
      `fastest other library (median ${median(overFastest).toFixed(1)}; less than 3 times in ` +
      `${overFastest.filter((ratio) => ratio < 3).length} of ${overFastest.length} rows), ` +
      `${mean.toFixed(0)} times js-tiktoken in the geometric mean.`
  )
}

const encoding = encodings.find((encoding) => encoding === process.argv[2])
const size = sizes.find((size) => size === process.argv[3])
if (encoding === undefined) encodings.forEach(report)
else if (size === undefined) report(encoding)
else console.log(JSON.stringify(await measure(encoding, size)))
