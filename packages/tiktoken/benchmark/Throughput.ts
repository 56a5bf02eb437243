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
 * Node 20.20 on two virtual cores whose speed changes by half from minute to minute, so that ratios mean more than figures:
 *
 * ### o200k_base
 *
 * | text | this package | js-tiktoken | tiktoken (WASM) | gpt-tokenizer | ai-tokenizer | ÷ fastest other | ÷ js-tiktoken |
 * | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |
 * | short prose | 40.2 | 2.38 | 4.60 | 8.87 | 9.19 | 4.4 | 17 |
 * | short markdown | 46.6 | 1.38 | 3.51 | 7.22 | 9.97 | 4.7 | 34 |
 * | short code | 61.4 | 2.16 | 3.71 | 10.8 | 11.9 | 5.1 | 28 |
 * | short JSON | 66.7 | 2.19 | 3.09 | 11.1 | 13.7 | 4.8 | 30 |
 * | short Chinese | 35.9 | 0.44 | 5.57 | 1.59 | 2.09 | 6.4 | 83 |
 * | short Japanese | 24.6 | 0.22 | 5.14 | 0.91 | 1.60 | 4.8 | 113 |
 * | short mixed | 30.2 | 1.15 | 4.07 | 4.05 | 4.92 | 6.1 | 26 |
 * | short base64 | 20.0 | 0.80 | 2.52 | 0.60 | 0.49 | 7.9 | 25 |
 * | medium prose | 58.8 | 2.58 | 4.87 | 8.07 | 10.9 | 5.4 | 23 |
 * | medium markdown | 39.5 | 1.62 | 3.76 | 8.84 | 8.04 | 4.5 | 24 |
 * | medium code | 56.3 | 2.15 | 4.04 | 15.2 | 13.8 | 3.7 | 26 |
 * | medium JSON | 64.2 | 1.81 | 2.71 | 12.2 | 11.6 | 5.3 | 35 |
 * | medium Chinese | 25.6 | 0.41 | 5.59 | 1.34 | 1.96 | 4.6 | 62 |
 * | medium Japanese | 28.0 | 0.26 | 6.36 | 2.13 | 2.08 | 4.4 | 107 |
 * | medium mixed | 36.1 | 1.04 | 4.33 | 5.68 | 5.01 | 6.4 | 35 |
 * | medium base64 | 32.0 | 0.89 | 2.67 | 0.78 | 0.75 | 12.0 | 36 |
 * | long prose | 53.0 | 1.76 | 4.69 | 3.65 | 5.72 | 9.3 | 30 |
 * | long markdown | 51.4 | 1.57 | 4.06 | 4.23 | 4.41 | 11.6 | 33 |
 * | long code | 51.8 | 1.70 | 3.78 | 8.41 | 7.63 | 6.2 | 30 |
 * | long JSON | 64.5 | 1.76 | 2.57 | 6.52 | 6.65 | 9.7 | 37 |
 * | long Chinese | 25.5 | 0.43 | 5.70 | 1.57 | 1.77 | 4.5 | 59 |
 * | long Japanese | 26.9 | 0.24 | 6.26 | 1.77 | 1.67 | 4.3 | 113 |
 * | long mixed | 35.9 | 1.02 | 4.48 | 3.96 | 5.16 | 7.0 | 35 |
 * | long base64 | 29.2 | 0.74 | 2.32 | 0.54 | 0.63 | 12.6 | 39 |
 *
 * o200k_base: 3.7 to 12.6 times the fastest other library (median 5.4; less than 3 times in 0 of 24 rows), 39 times
 * js-tiktoken in the geometric mean.
 *
 * ### cl100k_base
 *
 * | text | this package | js-tiktoken | tiktoken (WASM) | gpt-tokenizer | ai-tokenizer | ÷ fastest other | ÷ js-tiktoken |
 * | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |
 * | short prose | 45.4 | 2.42 | 5.27 | 8.87 | 8.86 | 5.1 | 19 |
 * | short markdown | 44.4 | 2.36 | 4.55 | 10.0 | 9.04 | 4.4 | 19 |
 * | short code | 40.2 | 1.64 | 4.27 | 8.79 | 6.37 | 4.6 | 25 |
 * | short JSON | 64.5 | 2.10 | 3.18 | 13.1 | 10.9 | 4.9 | 31 |
 * | short Chinese | 38.2 | 0.45 | 6.04 | 1.21 | 1.78 | 6.3 | 84 |
 * | short Japanese | 34.1 | 0.19 | 6.65 | 1.57 | 1.45 | 5.1 | 179 |
 * | short mixed | 34.8 | 1.02 | 4.51 | 2.88 | 4.29 | 7.7 | 34 |
 * | short base64 | 21.0 | 0.63 | 3.42 | 0.57 | 0.39 | 6.1 | 33 |
 * | medium prose | 32.3 | 1.60 | 3.85 | 6.96 | 5.92 | 4.6 | 20 |
 * | medium markdown | 35.2 | 1.18 | 3.04 | 4.89 | 5.61 | 6.3 | 30 |
 * | medium code | 31.4 | 0.98 | 3.11 | 6.52 | 4.19 | 4.8 | 32 |
 * | medium JSON | 67.9 | 2.42 | 3.14 | 10.7 | 15.2 | 4.5 | 28 |
 * | medium Chinese | 30.5 | 0.46 | 6.17 | 2.06 | 2.40 | 4.9 | 66 |
 * | medium Japanese | 37.4 | 0.28 | 6.87 | 2.32 | 2.29 | 5.4 | 135 |
 * | medium mixed | 25.9 | 0.65 | 3.26 | 2.84 | 3.42 | 7.6 | 40 |
 * | medium base64 | 19.5 | 0.59 | 2.56 | 0.57 | 0.48 | 7.6 | 33 |
 * | long prose | 39.0 | 1.54 | 3.76 | 4.95 | 5.54 | 7.0 | 25 |
 * | long markdown | 30.4 | 1.20 | 3.09 | 4.19 | 5.29 | 5.7 | 25 |
 * | long code | 32.3 | 1.00 | 2.80 | 5.08 | 4.04 | 6.3 | 32 |
 * | long JSON | 72.3 | 1.77 | 2.95 | 9.06 | 9.02 | 8.0 | 41 |
 * | long Chinese | 31.4 | 0.28 | 4.18 | 1.15 | 1.40 | 7.5 | 112 |
 * | long Japanese | 51.9 | 0.22 | 6.89 | 2.29 | 1.70 | 7.5 | 232 |
 * | long mixed | 35.4 | 0.75 | 3.63 | 4.26 | 3.01 | 8.3 | 47 |
 * | long base64 | 23.3 | 0.76 | 2.54 | 0.66 | 0.54 | 9.2 | 31 |
 *
 * cl100k_base: 4.4 to 9.2 times the fastest other library (median 6.3; less than 3 times in 0 of 24 rows), 42 times
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
