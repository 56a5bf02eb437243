/**
 * Counting fresh texts, in MB of UTF-8 a second of processor time: each text is counted once by each library. The texts
 * (`support/corpora.ts`) are documents, sources, manifests and messages of the packages that are installed, cut into short
 * (150 units of UTF-16), medium (2,000) and long ones (50,000; of Chinese and Japanese there is less, so that they are 20,000
 * and 15,000 long).
 *
 * Each encoding and length has a process of its own, with one thread, so that a library pays for its own garbage. All warm
 * up on the first fifth of a kind of text. Then there are five rounds of some 200,000 units (20,000 of Chinese, 15,000 of
 * Japanese), in which the libraries count the same new texts in turn, each after a tenth of a second on those of the warm-up,
 * so that it finds the caches of the processor as it needs them. A library that takes more than 0.4 seconds for a round does
 * not count it to its end. Medians of the rounds.
 *
 * In 4 of 48 rows it is less than three times the fastest other library: Markdown (three rows) and Chinese (one). Some tables
 * in Markdown are padded with runs of 90 to 120 spaces, which are no token and are counted at 8 to 20 MB/s. And a round takes
 * 4 ms where all goes well: where something rare comes up first, code is compiled anew, which takes longer.
 *
 * Node 20.20 on two virtual cores that other work kept busy, so that ratios mean more than figures:
 *
 * ### o200k_base
 *
 * | text | this package | js-tiktoken | tiktoken (WASM) | gpt-tokenizer | ai-tokenizer | ÷ fastest other | ÷ js-tiktoken |
 * | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |
 * | short prose | 55.5 | 2.59 | 4.55 | 8.26 | 7.73 | 6.7 | 21 |
 * | short markdown | 26.9 | 2.36 | 4.20 | 8.13 | 10.8 | 2.5 | 11 |
 * | short code | 52.8 | 2.71 | 4.04 | 8.99 | 9.49 | 5.6 | 19 |
 * | short JSON | 81.3 | 3.04 | 2.86 | 7.32 | 12.8 | 6.3 | 27 |
 * | short Chinese | 17.0 | 0.40 | 5.43 | 1.52 | 1.75 | 3.1 | 43 |
 * | short Japanese | 21.2 | 0.24 | 5.86 | 1.85 | 1.68 | 3.6 | 90 |
 * | short mixed | 22.3 | 0.89 | 3.68 | 3.02 | 3.29 | 6.1 | 25 |
 * | short base64 | 26.3 | 0.88 | 2.44 | 0.61 | 0.53 | 10.8 | 30 |
 * | medium prose | 63.7 | 2.85 | 4.74 | 10.0 | 9.18 | 6.4 | 22 |
 * | medium markdown | 49.0 | 1.89 | 4.22 | 5.84 | 10.0 | 4.9 | 26 |
 * | medium code | 60.6 | 2.54 | 3.87 | 10.4 | 11.9 | 5.1 | 24 |
 * | medium JSON | 88.5 | 2.45 | 3.08 | 10.1 | 16.7 | 5.3 | 36 |
 * | medium Chinese | 18.8 | 0.39 | 5.43 | 1.72 | 1.86 | 3.5 | 48 |
 * | medium Japanese | 24.2 | 0.24 | 6.06 | 1.84 | 1.83 | 4.0 | 100 |
 * | medium mixed | 32.4 | 0.96 | 4.01 | 3.51 | 4.14 | 7.8 | 34 |
 * | medium base64 | 28.0 | 0.96 | 2.56 | 0.60 | 0.53 | 11.0 | 29 |
 * | long prose | 61.2 | 2.39 | 4.83 | 6.74 | 7.28 | 8.4 | 26 |
 * | long markdown | 49.0 | 1.64 | 3.94 | 5.34 | 6.96 | 7.0 | 30 |
 * | long code | 59.9 | 2.51 | 3.97 | 8.47 | 8.36 | 7.1 | 24 |
 * | long JSON | 87.5 | 2.32 | 3.21 | 8.12 | 11.4 | 7.6 | 38 |
 * | long Chinese | 17.8 | 0.39 | 5.57 | 1.76 | 1.85 | 3.2 | 46 |
 * | long Japanese | 24.0 | 0.25 | 6.13 | 1.89 | 1.93 | 3.9 | 96 |
 * | long mixed | 32.2 | 1.02 | 4.13 | 3.38 | 4.58 | 7.0 | 32 |
 * | long base64 | 30.0 | 0.94 | 2.60 | 0.70 | 0.54 | 11.5 | 32 |
 *
 * o200k_base: 2.5 to 11.5 times the fastest other library (median 6.3; less than 3 times in 1 of 24 rows), 33 times js-tiktoken in the geometric mean.
 *
 * ### cl100k_base
 *
 * | text | this package | js-tiktoken | tiktoken (WASM) | gpt-tokenizer | ai-tokenizer | ÷ fastest other | ÷ js-tiktoken |
 * | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |
 * | short prose | 37.8 | 2.21 | 4.86 | 7.78 | 6.77 | 4.9 | 17 |
 * | short markdown | 15.9 | 1.14 | 2.74 | 5.00 | 4.10 | 3.2 | 14 |
 * | short code | 26.6 | 0.96 | 2.50 | 4.01 | 3.34 | 6.6 | 28 |
 * | short JSON | 51.5 | 1.84 | 2.45 | 7.93 | 8.56 | 6.0 | 28 |
 * | short Chinese | 14.0 | 0.30 | 3.83 | 0.94 | 1.32 | 3.7 | 47 |
 * | short Japanese | 16.9 | 0.18 | 4.34 | 1.43 | 1.32 | 3.9 | 96 |
 * | short mixed | 17.5 | 0.55 | 2.49 | 2.55 | 2.19 | 6.9 | 32 |
 * | short base64 | 12.7 | 0.49 | 2.25 | 0.36 | 0.33 | 5.6 | 26 |
 * | medium prose | 48.0 | 1.88 | 4.23 | 7.12 | 6.18 | 6.7 | 26 |
 * | medium markdown | 9.35 | 1.19 | 3.89 | 5.83 | 6.69 | 1.4 | 8 |
 * | medium code | 34.8 | 1.43 | 3.46 | 6.39 | 4.38 | 5.4 | 24 |
 * | medium JSON | 67.8 | 1.92 | 2.26 | 7.47 | 10.4 | 6.5 | 35 |
 * | medium Chinese | 10.6 | 0.25 | 4.01 | 1.31 | 1.34 | 2.7 | 43 |
 * | medium Japanese | 18.0 | 0.16 | 4.62 | 1.06 | 1.35 | 3.9 | 114 |
 * | medium mixed | 31.1 | 0.89 | 3.79 | 3.29 | 3.51 | 8.2 | 35 |
 * | medium base64 | 14.8 | 0.56 | 2.50 | 0.43 | 0.40 | 5.9 | 27 |
 * | long prose | 64.1 | 2.26 | 5.36 | 6.03 | 7.69 | 8.3 | 28 |
 * | long markdown | 6.61 | 1.07 | 4.22 | 4.59 | 5.02 | 1.3 | 6 |
 * | long code | 44.4 | 1.37 | 3.03 | 4.22 | 5.17 | 8.6 | 32 |
 * | long JSON | 83.2 | 2.16 | 3.19 | 10.7 | 9.61 | 7.8 | 38 |
 * | long Chinese | 21.0 | 0.44 | 6.05 | 1.72 | 2.23 | 3.5 | 47 |
 * | long Japanese | 26.2 | 0.28 | 6.74 | 2.11 | 1.98 | 3.9 | 94 |
 * | long mixed | 31.8 | 0.61 | 3.94 | 3.05 | 3.00 | 8.1 | 52 |
 * | long base64 | 24.0 | 0.79 | 3.78 | 0.72 | 0.48 | 6.4 | 30 |
 *
 * cl100k_base: 1.3 to 8.6 times the fastest other library (median 5.9; less than 3 times in 3 of 24 rows), 31 times js-tiktoken in the geometric mean.
 */
import { spawnSync } from "node:child_process"
import { fileURLToPath } from "node:url"
import { corpora, cut } from "./support/corpora.js"
import { type Count, counters, type Encoding, median } from "./support/counters.js"

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

/** Units between two looks at the clock, which take as long as to count a short text. */
const STEP = 20_000

/** Counts texts while there is time: MB a second of each step. */
const ratesOf = (count: Count, texts: ReadonlyArray<string>): ReadonlyArray<number> => {
  const step = Math.ceil(STEP / texts[0].length)
  const rates: Array<number> = []
  const end = performance.now() + TIME
  for (let from = 0; from < texts.length && performance.now() < end; from += step) {
    const part = texts.slice(from, from + step)
    const start = performance.now()
    for (const text of part) count(text)
    const time = performance.now() - start
    rates.push(part.reduce((sum, text) => sum + Buffer.byteLength(text), 0) / time / 1_000)
  }
  return rates
}

const warmUp = (count: Count, texts: ReadonlyArray<string>, time: number): void => {
  const end = performance.now() + time
  for (let i = 0; performance.now() < end; i++) count(texts[i % texts.length])
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
        rates[name].push(...ratesOf(count[name], fresh))
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
      ["--expose-gc", fileURLToPath(import.meta.url), encoding, size],
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
