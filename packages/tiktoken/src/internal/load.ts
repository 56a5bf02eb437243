/**
 * Loads rank tables when they are asked for, once in a process.
 *
 * @internal
 */
import * as Effect from "effect/Effect"
import { globalValue } from "effect/GlobalValue"
import { TokenCountError } from "effect-memory/MemoryError"
import type { Encoding } from "../Encoding.js"
import { type Encoder, makeEncoder } from "./encoder.js"
import { hasEveryByte, parseRanks, type RankTable } from "./ranks.js"
import { type Split, splitCl100k, splitGpt2, splitO200k } from "./split.js"

/** A rank table as a module. */
export type ImportRanks = () => Promise<{ readonly default: RankTable }>

interface Source {
  readonly table: string
  readonly import: ImportRanks
}

const o200k: Source = { table: "o200k_base", import: () => import("js-tiktoken/ranks/o200k_base") }
const cl100k: Source = { table: "cl100k_base", import: () => import("js-tiktoken/ranks/cl100k_base") }
const p50k: Source = { table: "p50k_base", import: () => import("js-tiktoken/ranks/p50k_base") }
const r50k: Source = { table: "r50k_base", import: () => import("js-tiktoken/ranks/r50k_base") }

/** Encodings that differ in their special tokens only share a table. */
const sources: Record<Encoding, Source> = {
  o200k_base: o200k,
  o200k_harmony: o200k,
  cl100k_base: cl100k,
  p50k_base: p50k,
  p50k_edit: p50k,
  r50k_base: r50k,
  gpt2: r50k
}

const contraction = "'s|'S|'t|'T|'re|'rE|'Re|'RE|'ve|'vE|'Ve|'VE|'m|'M|'ll|'lL|'Ll|'LL|'d|'D"
const word = "[^\\r\\n\\p{L}\\p{N}]?"
const upper = "[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}]"
const lower = "[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}]"
const whiteSpace = "\\s+(?!\\S)|\\s+"

/** The patterns of the tables, and what splits as they do. */
const splits: Record<string, Split> = {
  [
    `${word}${upper}*${lower}+(${contraction})?|${word}${upper}+${lower}*(${contraction})?|\\p{N}{1,3}|` +
    ` ?[^\\s\\p{L}\\p{N}]+[\\r\\n/]*|\\s*[\\r\\n]+|${whiteSpace}`
  ]: splitO200k,
  [
    `(${contraction})|${word}\\p{L}+|\\p{N}{1,3}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|${whiteSpace}`
  ]: splitCl100k,
  [`'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|${whiteSpace}`]: splitGpt2
}

const failure = (encoding: Encoding, reason: string, cause?: unknown): TokenCountError =>
  new TokenCountError({ counter: encoding, reason, ...(cause === undefined ? {} : { cause }) })

/** Loads an encoder from a module with a rank table. */
export const loadFrom = (encoding: Encoding, importRanks: ImportRanks): Effect.Effect<Encoder, TokenCountError> =>
  Effect.tryPromise({
    try: importRanks,
    catch: (cause) => failure(encoding, "its rank table could not be loaded: install js-tiktoken 1.0.21", cause)
  }).pipe(
    Effect.flatMap(({ default: table }) => {
      const split = splits[table.pat_str]
      const tokens = parseRanks(table.bpe_ranks)
      return split === undefined || !hasEveryByte(tokens)
        ? Effect.fail(failure(encoding, "its rank table is not the one that is known: install js-tiktoken 1.0.21"))
        : Effect.succeed(makeEncoder(tokens, split))
    })
  )

const encoders = globalValue(Symbol.for("@effect-memory/tiktoken/encoders"), () => new Map<string, Encoder>())

// One at a time, so that a table that two ask for is built once.
const lock = globalValue(Symbol.for("@effect-memory/tiktoken/lock"), () => Effect.unsafeMakeSemaphore(1))

/** The encoder of this process. */
export const load = (encoding: Encoding): Effect.Effect<Encoder, TokenCountError> => {
  const source = Object.hasOwn(sources, encoding) ? sources[encoding] : undefined
  if (source === undefined) {
    return Effect.fail(failure(encoding, `there is no such encoding: give one of ${Object.keys(sources).join(", ")}`))
  }
  return lock.withPermits(1)(Effect.suspend(() => {
    const known = encoders.get(source.table)
    return known !== undefined
      ? Effect.succeed(known)
      : Effect.tap(
        loadFrom(encoding, source.import),
        (encoder) => Effect.sync(() => encoders.set(source.table, encoder))
      )
  }))
}
