/**
 * Calls, results and their names.
 */
import * as Either from "effect/Either"
import type * as Message from "effect-memory/Message"

import * as json from "./json.js"

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

/**
 * A result as text: strings and lists of text as they stand, anything else as compact JSON.
 *
 * @internal
 */
export const resultText = (result: unknown): string =>
  json.isString(result)
    ? result
    : isTextList(result)
    ? result.map((item) => item.text).join("\n")
    : Either.getOrElse(json.stringify(result), () => "")

/** @internal */
export const isOwed = (part: Message.Part): boolean =>
  (part.type === "tool-call" || part.type === "tool-result") && !part.providerExecuted
