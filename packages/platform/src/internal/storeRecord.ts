/**
 * Records as text: version, length, checksum and body on a line each, so that what was written in part is told from what
 * was written. A body is JSON: it holds no NUL and no line feed.
 */

/** What this version writes, and the newest that it reads. */
const version = 1

const header = /(\d{1,9}) (\d{1,15}) ([0-9a-f]{8}) /y

/** What a header can look like while it is cut. */
const cutHeader = /^(\d{1,9}( (\d{1,15}( [0-9a-f]{0,8})?)?)?)?$/

/** FNV-1a over UTF-16 code units: a single changed unit always changes it. @internal */
export const checksum = (text: string): string => {
  let hash = 0x811c9dc5
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193)
  return (hash >>> 0).toString(16).padStart(8, "0")
}

/** @internal */
export const encode = (body: string): string => `${version} ${body.length} ${checksum(body)} ${body}\n`

/**
 * `Torn`: the text ends too early, as after a write that did not come to its end. `Bad`: no write of ours leaves this.
 *
 * @internal
 */
export type Parsed =
  | { readonly _tag: "Whole"; readonly bodies: ReadonlyArray<string> }
  | { readonly _tag: "Torn" }
  | { readonly _tag: "Bad"; readonly why: string }

const torn: Parsed = { _tag: "Torn" }

const bad = (why: string): Parsed => ({ _tag: "Bad", why })

/** A crash can leave the length of a file, and zeros for what was not written yet. */
const withoutZeros = (text: string): string => {
  let end = text.length
  while (end > 0 && text.charCodeAt(end - 1) === 0) end--
  return text.slice(0, end)
}

/** Reads a value that should hold this many records. @internal */
export const parse = (value: string, count: number): Parsed => {
  const text = withoutZeros(value)
  const bodies: Array<string> = []
  let at = 0
  while (bodies.length < count) {
    header.lastIndex = at
    const found = header.exec(text)
    if (found === null) {
      return cutHeader.test(text.slice(at, at + 40)) ? torn : bad("it does not look like a record of this store")
    }
    if (Number(found[1]) !== version) {
      return bad(
        `it holds version ${found[1]}, and version ${version} is the newest that is known here: update this package`
      )
    }
    const start = header.lastIndex
    const end = start + Number(found[2])
    if (end >= text.length) return torn
    const body = text.slice(start, end)
    if (text.charAt(end) !== "\n" || checksum(body) !== found[3]) return bad("its checksum does not fit what it holds")
    bodies.push(body)
    at = end + 1
  }
  return at === text.length ? { _tag: "Whole", bodies } : bad(`it holds more than ${count} records`)
}
