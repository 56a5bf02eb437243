/**
 * What a message keeps of its wire form: provider-owned fields under the provider's name, and, under the name of the
 * format, how the wire value was shaped where that differs from what would be written.
 */
import type * as Message from "effect-memory/Message"
import * as json from "./json.js"

type Fields = { readonly [key: string]: unknown } | undefined

/**
 * Options without empty entries.
 *
 * @internal
 */
export const make = (entries: { readonly [name: string]: Fields }): Message.ProviderOptions => {
  const options: Record<string, { readonly [key: string]: unknown }> = {}
  for (const [name, fields] of Object.entries(entries)) {
    const kept = fields === undefined ? {} : json.compact(fields)
    if (Object.keys(kept).length > 0) options[name] = kept
  }
  return options
}

/** @internal */
export const get = (of: { readonly options: Message.ProviderOptions }, name: string): json.JsonRecord => {
  const fields: unknown = of.options[name]
  return json.isRecord(fields) ? fields : {}
}

const pick = (record: json.JsonRecord, known: ReadonlyArray<string>): json.JsonRecord =>
  Object.fromEntries(Object.entries(record).filter(([key]) => known.includes(key)))

/**
 * Fields as options hold them: those with a meaning under their names, the others together under `fields`.
 *
 * @internal
 */
export const keep = (record: json.JsonRecord, known: ReadonlyArray<string>): json.JsonRecord => {
  const others = json.rest(record, known)
  return { ...pick(record, known), fields: Object.keys(others).length === 0 ? undefined : others }
}

/**
 * The fields that {@link keep} kept. Options that something else left there are no part of them.
 *
 * @internal
 */
export const kept = (record: json.JsonRecord, known: ReadonlyArray<string>): json.JsonRecord => ({
  ...pick(record, known),
  ...(json.isRecord(record.fields) ? record.fields : {})
})

/**
 * How content can stand on the wire.
 *
 * @internal
 */
export type Form = "absent" | "null" | "string" | "list"

/** @internal */
export const formOf = (content: unknown): Form =>
  content === undefined ? "absent" : content === null ? "null" : json.isString(content) ? "string" : "list"

/**
 * The text of items that are nothing but one block of text.
 *
 * @internal
 */
export const plainText = (items: ReadonlyArray<json.JsonRecord>, type = "text"): string | undefined =>
  items.length === 1 && items[0].type === type && json.isString(items[0].text) && Object.keys(items[0]).length === 2
    ? items[0].text
    : undefined

/**
 * How items are written where nothing else is asked for: text as a string, none as `empty`, all else as a list.
 */
const defaultForm = (items: number, text: string | undefined, empty: Form): Form =>
  items === 0 ? empty : text === undefined ? "list" : "string"

/**
 * The form to remember, or `undefined` where it is the one that would be written.
 *
 * @internal
 */
export const unusualForm = (form: Form, items: number, text: string | undefined, empty: Form): Form | undefined =>
  form === defaultForm(items, text, empty) ? undefined : form

/**
 * Items in the wanted form, where they fit into it.
 *
 * @internal
 */
export const shape = (
  items: ReadonlyArray<unknown>,
  text: string | undefined,
  wanted: unknown,
  empty: Form
): unknown => {
  const fits = wanted === "list" ||
    (wanted === "string" && (text !== undefined || items.length === 0)) ||
    ((wanted === "null" || wanted === "absent") && items.length === 0)
  switch (fits ? wanted : defaultForm(items.length, text, empty)) {
    case "absent":
      return undefined
    case "null":
      return null
    case "string":
      return text ?? ""
    default:
      return items
  }
}

/**
 * Counts what could not be carried.
 *
 * @internal
 */
export interface Ledger {
  readonly add: (what: string, count?: number) => void
  readonly notes: () => ReadonlyArray<
    { readonly kind: "skipped" | "lost"; readonly what: string; readonly count: number }
  >
}

/** @internal */
export const ledger = (kind: "skipped" | "lost"): Ledger => {
  const counts = new Map<string, number>()
  return {
    add: (what, count = 1) => {
      if (count > 0) counts.set(what, (counts.get(what) ?? 0) + count)
    },
    notes: () => Array.from(counts, ([what, count]) => ({ kind, what, count }))
  }
}
