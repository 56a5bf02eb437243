/**
 * Counting fresh texts, in MB of UTF-8 a second: each text is counted once by each library. The texts
 * (`support/corpora.ts`) are documents, sources, manifests and messages of the packages that are installed, cut into short
 * (150 units of UTF-16), medium (2,000) and long ones (50,000; of Chinese and Japanese there is less, so that they are 20,000
 * and 15,000 long).
 *
 * Each encoding and length has a process of its own. All warm up on the first fifth of a kind of text. Then there are five
 * rounds of some 200,000 units (20,000 of Chinese, 15,000 of Japanese), in which the libraries count the same new texts in
 * turn, each after a tenth of a second on those of the warm-up, so that it finds the caches of the processor as it needs
 * them. A library that takes more than 0.4 seconds for a round does not count it to its end. Medians over the steps of all
 * rounds, each of some 20,000 units: where something rare comes up first, V8 compiles anew, which would be most of the time
 * of a round otherwise. So most of that, and of the collection of garbage, is left out for all of them.
 *
 * In 5 of 48 rows it is less than three times the fastest other library, all of them Chinese.
 *
 * Node 20.20 on two virtual cores whose speed changes by half from minute to minute, so that ratios mean more than figures:
 *
 * ### o200k_base
 *
 * | text | this package | js-tiktoken | tiktoken (WASM) | gpt-tokenizer | ai-tokenizer | ÷ fastest other | ÷ js-tiktoken |
 * | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |
 * | short prose | 31.8 | 1.81 | 3.30 | 6.25 | 6.05 | 5.1 | 18 |
 * | short markdown | 43.7 | 1.74 | 4.12 | 9.49 | 10.4 | 4.2 | 25 |
 * | short code | 55.9 | 2.29 | 3.90 | 11.6 | 11.7 | 4.8 | 24 |
 * | short JSON | 62.3 | 2.22 | 3.09 | 9.66 | 14.0 | 4.5 | 28 |
 * | short Chinese | 13.7 | 0.38 | 5.45 | 1.48 | 1.67 | 2.5 | 36 |
 * | short Japanese | 19.5 | 0.25 | 5.74 | 1.89 | 1.83 | 3.4 | 79 |
 * | short mixed | 25.9 | 0.93 | 3.89 | 3.61 | 4.22 | 6.1 | 28 |
 * | short base64 | 25.9 | 0.81 | 2.53 | 0.64 | 0.60 | 10.2 | 32 |
 * | medium prose | 49.9 | 2.67 | 4.91 | 9.02 | 9.57 | 5.2 | 19 |
 * | medium markdown | 47.8 | 1.87 | 4.30 | 8.66 | 10.2 | 4.7 | 25 |
 * | medium code | 60.0 | 2.72 | 4.08 | 12.0 | 12.9 | 4.6 | 22 |
 * | medium JSON | 74.0 | 2.38 | 3.22 | 12.1 | 18.2 | 4.1 | 31 |
 * | medium Chinese | 12.8 | 0.38 | 5.43 | 1.66 | 1.59 | 2.4 | 34 |
 * | medium Japanese | 18.7 | 0.24 | 5.97 | 2.14 | 1.91 | 3.1 | 77 |
 * | medium mixed | 30.0 | 0.96 | 4.17 | 4.18 | 4.79 | 6.3 | 31 |
 * | medium base64 | 29.1 | 0.90 | 2.58 | 0.58 | 0.69 | 11.3 | 33 |
 * | long prose | 51.2 | 2.43 | 5.18 | 7.97 | 9.09 | 5.6 | 21 |
 * | long markdown | 47.5 | 1.62 | 4.20 | 6.31 | 8.26 | 5.7 | 29 |
 * | long code | 61.6 | 1.99 | 4.21 | 9.68 | 9.14 | 6.4 | 31 |
 * | long JSON | 71.5 | 1.78 | 3.27 | 9.72 | 12.4 | 5.8 | 40 |
 * | long Chinese | 12.0 | 0.35 | 5.64 | 1.89 | 1.74 | 2.1 | 35 |
 * | long Japanese | 19.1 | 0.23 | 6.08 | 1.62 | 1.22 | 3.1 | 82 |
 * | long mixed | 31.2 | 0.98 | 4.25 | 4.27 | 4.24 | 7.3 | 32 |
 * | long base64 | 28.4 | 0.79 | 2.65 | 0.84 | 0.51 | 10.7 | 36 |
 *
 * o200k_base: 2.1 to 11.3 times the fastest other library (median 5.1; less than 3 times in 3 of 24 rows), 32 times
 * js-tiktoken in the geometric mean.
 *
 * ### cl100k_base
 *
 * | text | this package | js-tiktoken | tiktoken (WASM) | gpt-tokenizer | ai-tokenizer | ÷ fastest other | ÷ js-tiktoken |
 * | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |
 * | short prose | 45.1 | 2.33 | 4.85 | 7.71 | 6.48 | 5.8 | 19 |
 * | short markdown | 48.0 | 1.83 | 4.08 | 7.78 | 7.08 | 6.2 | 26 |
 * | short code | 43.5 | 1.34 | 3.98 | 7.07 | 5.20 | 6.2 | 32 |
 * | short JSON | 71.6 | 2.32 | 3.04 | 11.1 | 11.5 | 6.3 | 31 |
 * | short Chinese | 20.4 | 0.43 | 6.04 | 2.25 | 2.25 | 3.4 | 47 |
 * | short Japanese | 25.4 | 0.26 | 6.32 | 2.21 | 2.03 | 4.0 | 99 |
 * | short mixed | 28.1 | 0.84 | 3.93 | 2.05 | 3.78 | 7.1 | 33 |
 * | short base64 | 18.3 | 0.75 | 3.44 | 0.62 | 0.43 | 5.3 | 25 |
 * | medium prose | 52.9 | 2.39 | 5.44 | 8.96 | 8.77 | 5.9 | 22 |
 * | medium markdown | 52.1 | 1.76 | 4.63 | 8.30 | 9.50 | 5.5 | 30 |
 * | medium code | 46.3 | 1.43 | 4.35 | 7.94 | 7.19 | 5.8 | 32 |
 * | medium JSON | 76.5 | 2.13 | 3.26 | 13.0 | 17.1 | 4.5 | 36 |
 * | medium Chinese | 17.8 | 0.40 | 6.31 | 1.93 | 1.65 | 2.8 | 44 |
 * | medium Japanese | 27.2 | 0.26 | 6.99 | 2.00 | 2.25 | 3.9 | 103 |
 * | medium mixed | 34.1 | 0.96 | 4.56 | 4.63 | 5.20 | 6.6 | 35 |
 * | medium base64 | 19.4 | 0.80 | 3.80 | 0.64 | 0.52 | 5.1 | 24 |
 * | long prose | 41.3 | 1.57 | 5.35 | 7.54 | 5.97 | 5.5 | 26 |
 * | long markdown | 35.7 | 1.13 | 4.20 | 6.29 | 7.05 | 5.1 | 32 |
 * | long code | 41.5 | 1.24 | 4.24 | 6.88 | 6.24 | 6.0 | 33 |
 * | long JSON | 50.8 | 1.50 | 2.86 | 8.38 | 8.15 | 6.1 | 34 |
 * | long Chinese | 12.8 | 0.43 | 6.07 | 1.50 | 1.76 | 2.1 | 30 |
 * | long Japanese | 21.0 | 0.26 | 6.81 | 1.86 | 2.05 | 3.1 | 81 |
 * | long mixed | 23.5 | 0.64 | 4.36 | 2.71 | 2.88 | 5.4 | 37 |
 * | long base64 | 16.6 | 0.55 | 2.57 | 0.48 | 0.50 | 6.5 | 30 |
 *
 * cl100k_base: 2.1 to 7.1 times the fastest other library (median 5.5; less than 3 times in 2 of 24 rows), 35 times
 * js-tiktoken in the geometric mean.
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
