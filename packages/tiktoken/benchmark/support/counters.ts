/** The libraries that are compared, each loaded when it is asked for. */
import { Effect } from "effect"
import { load } from "../../src/internal/load.js"

export type Count = (text: string) => number

export type Encoding = "o200k_base" | "cl100k_base"

const ranks = {
  o200k_base: () => import("js-tiktoken/ranks/o200k_base"),
  cl100k_base: () => import("js-tiktoken/ranks/cl100k_base")
}

const gptTokenizer = {
  o200k_base: () => import("gpt-tokenizer/encoding/o200k_base"),
  cl100k_base: () => import("gpt-tokenizer/encoding/cl100k_base")
}

const aiTokenizer = {
  o200k_base: () => import("ai-tokenizer/encoding/o200k_base"),
  cl100k_base: () => import("ai-tokenizer/encoding/cl100k_base")
}

export const counters: Readonly<Record<string, (encoding: Encoding) => Promise<Count>>> = {
  "this package": async (encoding) => (await Effect.runPromise(load(encoding))).count,
  "js-tiktoken": async (encoding) => {
    const { Tiktoken } = await import("js-tiktoken/lite")
    const tiktoken = new Tiktoken((await ranks[encoding]()).default)
    return (text) => tiktoken.encode(text, [], []).length
  },
  "tiktoken (WASM)": async (encoding) => {
    const tiktoken = (await import("tiktoken")).get_encoding(encoding)
    return (text) => tiktoken.encode_ordinary(text).length
  },
  "gpt-tokenizer": async (encoding) => (await gptTokenizer[encoding]()).countTokens,
  "ai-tokenizer": async (encoding) => {
    const { Tokenizer } = await import("ai-tokenizer")
    const tokenizer = new Tokenizer(await aiTokenizer[encoding]())
    return (text) => tokenizer.count(text)
  }
}

/** Processor time of this process in milliseconds, which other processes disturb less than the time of the clock. */
export const now = (): number => {
  const { system, user } = process.cpuUsage()
  return (system + user) / 1_000
}

export const median = (values: ReadonlyArray<number>): number => [...values].sort((a, b) => a - b)[values.length >> 1]
