import type { Encoding } from "@effect-memory/tiktoken"
import { get_encoding } from "tiktoken"

export type Reference = (text: string) => number

type Tables = Exclude<Encoding.Encoding, "o200k_harmony">

const references = new Map<Tables, Reference>()

/** OpenAI's tiktoken, which text of lone surrogates reaches as U+FFFD. */
export const reference = (encoding: Tables): Reference => {
  const known = references.get(encoding)
  if (known !== undefined) return known
  const tiktoken = get_encoding(encoding)
  const count = (text: string): number => tiktoken.encode_ordinary(text).length
  references.set(encoding, count)
  return count
}
