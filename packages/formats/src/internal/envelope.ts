/**
 * The records around messages.
 */
import * as Either from "effect/Either"

import type { Issue, Likeness } from "../Codec.js"
import type { Conversation, Envelope, Usage } from "../Conversation.js"
import * as json from "./json.js"
import type { Ledger } from "./options.js"

/** Items of a list that are looked at. */
const looked = 50

/**
 * How much a list looks like something: as its best item, and not at all where one item does not.
 *
 * @internal
 */
export const all = (items: ReadonlyArray<unknown>, match: (item: unknown) => Likeness): Likeness => {
  let best: Likeness = 0
  for (const item of items.slice(0, looked)) {
    const found = match(item)
    if (found === 0) return 0
    if (found > best) best = found
  }
  return best
}

/**
 * Takes the messages out of a record.
 *
 * @internal
 */
export const open = (
  value: unknown,
  at: ReadonlyArray<string>,
  bare: boolean
): Either.Either<Envelope & { readonly list: ReadonlyArray<unknown> }, Issue> => {
  if (bare && Array.isArray(value)) return Either.right({ at: "", fields: {}, list: value })
  if (json.isRecord(value)) {
    for (const name of at) {
      const list = value[name]
      if (Array.isArray(list)) return Either.right({ at: name, fields: json.rest(value, [name]), list })
    }
  }
  return Either.left({
    field: at[0],
    reason: "is no list",
    hint: `expected a list of messages in ${at.map((name) => `"${name}"`).join(" or ")}`
  })
}

/**
 * The record to write around messages: the one that was read, where it is of the same format.
 *
 * @internal
 */
export const own = (conversation: Conversation, id: string, at: string, lost: Ledger): Envelope => {
  if (conversation.format === id) return conversation.envelope
  for (const field of Object.keys(conversation.envelope.fields)) lost.add(`field "${field}" of the record`)
  return { at, fields: {} }
}

/** @internal */
export const wrap = (at: string, fields: json.JsonRecord, list: ReadonlyArray<unknown>): unknown =>
  at === "" ? list : { ...fields, [at]: list }

const tokens = (value: unknown): number | undefined =>
  typeof value === "number" && Number.isFinite(value) && value >= 0 ? value : undefined

/**
 * Usage under two names.
 *
 * @internal
 */
export const usage = (
  value: unknown,
  input: string,
  output: string,
  added: ReadonlyArray<string> = []
): Omit<Usage, "messages"> | undefined => {
  if (!json.isRecord(value)) return undefined
  const prompt = tokens(value[input])
  if (prompt === undefined) return undefined
  const extra = added.reduce((sum, name) => sum + (tokens(value[name]) ?? 0), 0)
  const reply = tokens(value[output])
  return { inputTokens: prompt + extra, ...(reply === undefined ? {} : { outputTokens: reply }) }
}
