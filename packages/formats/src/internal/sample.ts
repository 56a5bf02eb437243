/**
 * The records of a text that may be cut off anywhere.
 */
import * as Either from "effect/Either"
import * as Option from "effect/Option"

import * as frames from "./frames.js"
import * as json from "./json.js"

/** Characters of a sample that are looked at. */
const maxSample = 2 ** 20

const opening = /[{[]/

/** Closes what is open at the end of a JSON text, back to the last place where that gives a value. */
const complete = (text: string): Option.Option<unknown> => {
  const stack: Array<string> = []
  let inString = false
  // The last place after a whole item, and what is open there.
  let end = 0
  let open = ""
  const mark = (at: number): void => {
    end = at
    open = stack.toReversed().join("")
  }
  for (let i = 0; i < text.length && stack.length < 100; i++) {
    const char = text[i]
    if (inString) {
      if (char === "\\") i++
      else if (char === "\"") inString = false
    } else if (char === "\"") {
      inString = true
    } else if (opening.test(char)) {
      stack.push(char === "{" ? "}" : "]")
      mark(i + 1)
    } else if (char === "}" || char === "]") {
      stack.pop()
      mark(i + 1)
    } else if (char === ",") {
      mark(i)
    }
  }
  // A string that was cut inside is of use: the shape is what counts.
  const closed = inString
    ? json.parse(
      `${text.slice(0, text.lastIndexOf("\\") === text.length - 1 ? -1 : undefined)}"${stack.toReversed().join("")}`
    )
    : Either.left("")
  return Either.getRight(Either.orElse(closed, () => json.parse(text.slice(0, end) + open)))
}

/** @internal */
export const values = (text: string): ReadonlyArray<unknown> => {
  const framer = frames.make()
  const sample = text.slice(0, maxSample)
  const found = [...framer.push(sample), ...framer.end()].flatMap((frame) =>
    frame._tag === "Value" ? [frame.value] : []
  )
  return found.length > 0
    ? found
    : Option.match(complete(sample.trim()), { onNone: () => [], onSome: (value) => [value] })
}
