/**
 * What a function of Gemini answers: always an object, where a plain text stands under `output` or `error`.
 */
import * as json from "./json.js"

/** @internal */
export const read = (response: unknown): { readonly result: unknown; readonly isFailure: boolean } => {
  if (!json.isRecord(response)) return { result: response ?? {}, isFailure: false }
  const isFailure = "error" in response
  const [key, ...more] = Object.keys(response)
  const value = response[key]
  const plain = more.length === 0 && (key === "output" || key === "error") && !json.isRecord(value)
  return { result: plain ? value : response, isFailure }
}

/** @internal */
export const write = (result: unknown, isFailure: boolean): unknown => {
  if (json.isRecord(result) && isFailure === ("error" in result)) return result
  return isFailure ? { error: result } : { output: result }
}
