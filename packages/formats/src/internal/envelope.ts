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
 * Takes the messages out of a record, or a list that is nothing but messages.
 *
 * @internal
 */
export const open = (
  value: unknown,
  at: ReadonlyArray<string>
): Either.Either<Envelope & { readonly list: ReadonlyArray<unknown> }, Issue> => {
  if (Array.isArray(value)) return Either.right({ at: "", fields: {}, list: value })
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
 * Usage as a provider reports it: by itself, or in the answer that it stands in.
 *
 * @internal
 */
export const usage = (
  value: unknown,
  names: {
    /** Figures that add up to the prompt; the first must be there. */
    readonly input: ReadonlyArray<string>
    /** Figures that add up to the reply; the first must be there. */
    readonly output: ReadonlyArray<string>
    /** Field of an answer that holds them. */
    readonly at: string
  }
): Omit<Usage, "messages"> | undefined => {
  if (!json.isRecord(value)) return undefined
  const inner = value[names.at]
  const figures = json.isRecord(inner) ? inner : value
  const sum = ([first, ...others]: ReadonlyArray<string>): number | undefined => {
    const start = tokens(figures[first])
    return start === undefined ? undefined : others.reduce((total, name) => total + (tokens(figures[name]) ?? 0), start)
  }
  const inputTokens = sum(names.input)
  if (inputTokens === undefined) return undefined
  const outputTokens = sum(names.output)
  return { inputTokens, ...(outputTokens === undefined ? {} : { outputTokens }) }
}

/**
 * The usage of a lone answer: the messages of its prompt are not there.
 *
 * @internal
 */
export const answerUsage = (found: Omit<Usage, "messages"> | undefined): ReadonlyArray<Usage> =>
  found === undefined ? [] : [{ messages: 0, ...found }]
