/**
 * The records of a text that may be cut off anywhere.
 */
import * as Either from "effect/Either"
import * as frames from "./frames.js"
import * as json from "./json.js"

/** Characters of a sample that are looked at. */
const maxSample = 2 ** 20

/** Levels of nesting that are closed. */
const maxOpen = 100

interface Cut {
  /** Where the text is cut. */
  readonly end: number
  /** What closes it there. */
  readonly close: string
}

/**
 * Places where a JSON text can be cut so that closing what is open gives a value: inside the last string, after the last
 * whole item, after the last object or list.
 */
const cuts = (text: string): ReadonlyArray<Cut> => {
  const stack: Array<string> = []
  let inString = false
  let item: Cut = { end: 0, close: "" }
  let closed = item
  const here = (end: number): Cut => ({ end, close: stack.toReversed().join("") })
  for (let i = 0; i < text.length && stack.length < maxOpen; i++) {
    const char = text[i]
    if (inString) {
      if (char === "\\") i++
      else if (char === "\"") inString = false
    } else if (char === "\"") {
      inString = true
    } else if (char === "{" || char === "[") {
      stack.push(char === "{" ? "}" : "]")
      item = here(i + 1)
    } else if (char === "}" || char === "]") {
      stack.pop()
      item = here(i + 1)
      closed = item
    } else if (char === ",") {
      item = here(i)
    }
  }
  const end = text.endsWith("\\") ? text.length - 1 : text.length
  const string = inString ? [{ end, close: `"${here(end).close}` }] : []
  return [...string, item, closed]
}

/** @internal */
export const values = (text: string): ReadonlyArray<unknown> => {
  const framer = frames.make()
  const sample = text.slice(0, maxSample).trim()
  const found = [...framer.push(sample), ...framer.end()].flatMap((frame) =>
    frame._tag === "Value" ? [frame.value] : []
  )
  return found.length > 0
    ? found
    : cuts(sample).flatMap(({ close, end }) =>
      Either.match(json.parse(sample.slice(0, end) + close), { onLeft: () => [], onRight: (value) => [value] })
    )
}
