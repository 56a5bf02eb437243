/**
 * JSON text and values.
 */
import * as Either from "effect/Either"

/** @internal */
export type JsonRecord = { readonly [key: string]: unknown }

/** @internal */
export const isRecord = (value: unknown): value is JsonRecord =>
  typeof value === "object" && value !== null && !Array.isArray(value)

/** @internal */
export const isString = (value: unknown): value is string => typeof value === "string"

/**
 * Levels of nesting that are read. Messages hold values of up to 500 levels, which stand at least 3 levels deep in
 * every format.
 */
const maxDepth = 503

const tooDeep = (value: unknown, levels: number): boolean => {
  if (typeof value !== "object" || value === null) return false
  if (levels === 0) return true
  for (const item of Object.values(value)) {
    if (tooDeep(item, levels - 1)) return true
  }
  return false
}

/**
 * The value of a JSON text, or why there is none.
 *
 * @internal
 */
export const parse = (text: string, levels: number = maxDepth): Either.Either<unknown, string> =>
  Either.try({ try: (): unknown => JSON.parse(text), catch: () => "is not valid JSON" }).pipe(
    Either.filterOrLeft((value) => !tooDeep(value, levels), () => `is nested deeper than ${levels} levels`)
  )

/**
 * The value of a JSON text inside a message, such as a call's arguments.
 *
 * @internal
 */
export const parseInner = (text: string): Either.Either<unknown, string> => parse(text, 500)

/**
 * The JSON text of a value, or why there is none.
 *
 * @internal
 */
export const stringify = (value: unknown): Either.Either<string, string> =>
  Either.try({
    try: () => JSON.stringify(value) ?? "null",
    catch: () => "is circular or nested too deep for JSON"
  })

/**
 * Whether two values are written as the same JSON.
 *
 * @internal
 */
export const same = (left: unknown, right: unknown): boolean => {
  const a = stringify(left)
  const b = stringify(right)
  return Either.isRight(a) && Either.isRight(b) && a.right === b.right
}

/**
 * The fields of a record that are not among `known`.
 *
 * @internal
 */
export const rest = (record: object, known: ReadonlyArray<string>): JsonRecord =>
  Object.fromEntries(Object.entries(record).filter(([key, value]) => value !== undefined && !known.includes(key)))

/**
 * Drops fields that are `undefined`.
 *
 * @internal
 */
export const compact = (record: JsonRecord): JsonRecord =>
  Object.fromEntries(Object.entries(record).filter(([, value]) => value !== undefined))

/** @internal */
export const unlessEmpty = (record: JsonRecord): JsonRecord | undefined =>
  Object.keys(record).length === 0 ? undefined : record

/**
 * The value where it is a record, else an empty one.
 *
 * @internal
 */
export const record = (value: unknown): JsonRecord => isRecord(value) ? value : {}
