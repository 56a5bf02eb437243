/**
 * Calls, results and their names.
 */
import * as Either from "effect/Either"
import * as json from "./json.js"
import type { Ledger } from "./options.js"

/**
 * Names of calls by id: most formats do not repeat the name in the result.
 *
 * @internal
 */
export interface Names {
  readonly set: (id: string, name: string) => void
  readonly get: (id: string) => string
}

/** @internal */
export const names = (): Names => {
  const known = new Map<string, string>()
  return { set: (id, name) => void known.set(id, name), get: (id) => known.get(id) ?? "unknown" }
}

/**
 * Arguments that a format holds as JSON text: the value, and the text where it cannot be written again from the value.
 *
 * @internal
 */
export const readArguments = (text: string): { readonly params: unknown; readonly text: string | undefined } =>
  Either.match(json.parseInner(text), {
    onLeft: () => ({ params: text, text }),
    onRight: (params) => ({ params, text: JSON.stringify(params) === text ? undefined : text })
  })

/**
 * The JSON text of arguments: the one that was read, as long as it still means the same.
 *
 * @internal
 */
export const writeArguments = (params: unknown, read: unknown): string => {
  if (json.isString(read)) {
    const parsed = json.parseInner(read)
    if (Either.isLeft(parsed) ? params === read : json.same(parsed.right, params)) return read
  }
  return Either.getOrElse(json.stringify(params), () => "{}")
}

/** @internal */
export const isTextList = (value: unknown): value is ReadonlyArray<{ readonly type: "text"; readonly text: string }> =>
  Array.isArray(value) && value.length > 0 &&
  value.every((item) => json.isRecord(item) && item.type === "text" && json.isString(item.text))

const textTypes = ["text", "input_text", "output_text"]

/** The text of a content block; `undefined` for media. */
const blockText = (block: unknown): string | undefined =>
  json.isRecord(block) && textTypes.includes(String(block.type)) && json.isString(block.text) ? block.text : undefined

const isMedia = (block: unknown): boolean =>
  json.isRecord(block) && /image|document|file|media|audio|video/.test(String(block.type))

/**
 * A result as text: strings as they stand, blocks of text joined with media named only, anything else as compact JSON.
 *
 * @internal
 */
export const resultText = (result: unknown, lost: Ledger): string => {
  if (json.isString(result)) return result
  if (
    !Array.isArray(result) || result.length === 0 || result.some((one) => blockText(one) === undefined && !isMedia(one))
  ) {
    return Either.getOrElse(json.stringify(result), () => "")
  }
  lost.add("file in a result", result.filter(isMedia).length)
  return result.map((one) => blockText(one) ?? "[file]").join("\n")
}
