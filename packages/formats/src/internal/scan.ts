/**
 * Finds JSON values in text without parsing it.
 */

/** @internal */
export interface Span {
  readonly start: number
  readonly end: number
}

const quote = 0x22
const backslash = 0x5c

/**
 * Where the objects and lists that stand at nesting `level` begin and end, what is not closed at the end left out.
 * `open` says whether something is not closed.
 *
 * @internal
 */
export const values = (
  text: string,
  level: number
): { readonly spans: ReadonlyArray<Span>; readonly open: boolean } => {
  const spans: Array<Span> = []
  let depth = 0
  let start = -1
  let inString = false
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i)
    if (inString) {
      if (code === backslash) i++
      else if (code === quote) inString = false
    } else if (code === quote) {
      inString = true
    } else if (code === 0x7b || code === 0x5b) {
      if (depth === level) start = i
      depth++
    } else if (code === 0x7d || code === 0x5d) {
      depth--
      if (depth < 0) return { spans, open: false }
      if (depth === level && start >= 0) {
        spans.push({ start, end: i + 1 })
        start = -1
      }
    }
  }
  return { spans, open: depth > 0 || inString }
}

/**
 * The number of line breaks between two positions.
 *
 * @internal
 */
export const linesBetween = (text: string, from: number, to: number): number => {
  let lines = 0
  for (let at = text.indexOf("\n", from); at >= 0 && at < to; at = text.indexOf("\n", at + 1)) lines++
  return lines
}
