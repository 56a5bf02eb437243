/** The libraries that are compared, each loaded when it is asked for. */
import { Tokenizer } from "ai-tokenizer"
import { Effect } from "effect"
import { Tiktoken } from "js-tiktoken/lite"
import { createRequire } from "node:module"
import { load } from "../../src/internal/load.js"

export type Count = (text: string) => number

export type Encoding = "o200k_base" | "cl100k_base"

const require = createRequire(import.meta.url)

export const counters: Readonly<Record<string, (encoding: Encoding) => Promise<Count>>> = {
  "this package": async (encoding) => (await Effect.runPromise(load(encoding))).count,
  "js-tiktoken": async (encoding) => {
    const tiktoken = new Tiktoken(require(`js-tiktoken/ranks/${encoding}`))
    return (text) => tiktoken.encode(text, [], []).length
  },
  "tiktoken (WASM)": async (encoding) => {
    const tiktoken = require("tiktoken").get_encoding(encoding)
    return (text) => tiktoken.encode_ordinary(text).length
  },
  "gpt-tokenizer": async (encoding) => require(`gpt-tokenizer/encoding/${encoding}`).countTokens,
  "ai-tokenizer": async (encoding) => {
    const tokenizer = new Tokenizer(require(`ai-tokenizer/encoding/${encoding}`))
    return (text) => tokenizer.count(text)
  }
}

export const median = (values: ReadonlyArray<number>): number => [...values].sort((a, b) => a - b)[values.length >> 1]
