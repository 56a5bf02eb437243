/**
 * Cuts text into JSON records: one a line, or the whole text.
 */
import * as Either from "effect/Either"
import * as json from "./json.js"
import * as scan from "./scan.js"

/** @internal */
export type Frame =
  | { readonly _tag: "Value"; readonly line: number; readonly value: unknown }
  | { readonly _tag: "Bad"; readonly line: number; readonly reason: string; readonly hint: string }

/** @internal */
export interface Framer {
  /** Takes more text; answers the records that are complete. */
  readonly push: (text: string) => ReadonlyArray<Frame>
  /** The records that only the end of the text completes. */
  readonly end: () => ReadonlyArray<Frame>
}

/** Characters that one record may have, below what a string can hold. */
const maxRecord = 2 ** 28

const bad = (line: number, reason: string, hint = "mend or remove it"): Frame => ({ _tag: "Bad", line, reason, hint })

const value = (line: number, value: unknown): Frame => ({ _tag: "Value", line, value })

const parsed = (line: number, text: string): Frame =>
  Either.match(json.parse(text), { onLeft: (reason) => bad(line, reason), onRight: (found) => value(line, found) })

/** The records of one physical line: usually one, several where the line breaks between them are missing. */
const framesOfLine = (line: number, text: string): ReadonlyArray<Frame> => {
  const frame = parsed(line, text)
  if (frame._tag === "Value") return [frame]
  const { spans } = scan.values(text, 0)
  const covered = spans.length > 1 && text.slice(spans[spans.length - 1].end).trim() === "" &&
    spans.every(({ start }, i) => text.slice(i === 0 ? 0 : spans[i - 1].end, start).trim() === "")
  return covered ? spans.map(({ end, start }) => parsed(line, text.slice(start, end))) : [frame]
}

/** The items of a list that was cut off, and an error for the rest. */
const framesOfCutList = (line: number, text: string): ReadonlyArray<Frame> => {
  const frames: Array<Frame> = []
  let at = line
  let from = 0
  for (const { end, start } of scan.values(text, 1).spans) {
    at += scan.linesBetween(text, from, start)
    from = start
    frames.push(parsed(at, text.slice(start, end)))
  }
  frames.push(bad(line, "is a list that is not valid JSON to its end", "the records before the damage were read"))
  return frames
}

const framesOfDocument = (line: number, text: string): ReadonlyArray<Frame> => {
  const frame = parsed(line, text)
  if (frame._tag === "Value") return [frame]
  if (text.startsWith("[")) return framesOfCutList(line, text)
  const lines = text.split("\n").flatMap((one, i) => one.trim() === "" ? [] : framesOfLine(line + i, one))
  const good = lines.filter((found) => found._tag === "Value").length
  return good * 2 >= lines.length ? lines : [frame]
}

/**
 * What a first line that is no record by itself may be: the beginning of a document, a record that was cut short or
 * such a beginning (the next line tells), or garbage.
 */
const beginning = (text: string): "document" | "unclear" | "garbage" =>
  !/^[[{]/.test(text) || !scan.values(text, 0).open ? "garbage" : /[[\]{},:]$/.test(text) ? "document" : "unclear"

/**
 * Line-oriented text is given out line by line; a document is kept until its end.
 *
 * @internal
 */
export const make = (): Framer => {
  let mode: "start" | "unclear" | "lines" | "document" | "refused" = "start"
  /** The lines of a document so far, or of what may become one. */
  let document: Array<string> = []
  let documentLine = 1
  /** The pieces of the line that is not complete yet. */
  let pieces: Array<string> = []
  let length = 0
  let line = 0

  const take = (piece: string): void => {
    length += piece.length
    if (length <= maxRecord) pieces.push(piece)
    else pieces = []
  }

  const begin = (text: string, frames: ReadonlyArray<Frame>): ReadonlyArray<Frame> => {
    const kind = frames.every((frame) => frame._tag === "Value") ? "lines" : beginning(text)
    documentLine = line
    if (kind === "document" || kind === "unclear") {
      mode = kind
      document = [text]
      return []
    }
    mode = "lines"
    return frames
  }

  const resolve = (raw: string, frames: ReadonlyArray<Frame>): ReadonlyArray<Frame> => {
    const [frame] = frames
    if (frame._tag === "Value" && json.isRecord(frame.value)) {
      const first = framesOfLine(documentLine, document[0])
      mode = "lines"
      document = []
      return [...first, ...frames]
    }
    mode = "document"
    document.push(raw)
    return []
  }

  const finishLine = (): ReadonlyArray<Frame> => {
    const raw = pieces.length === 1 ? pieces[0] : pieces.join("")
    const oversized = length > maxRecord
    line++
    pieces = []
    if (mode !== "document") length = 0
    if (mode === "refused") return []
    if (oversized) {
      mode = mode === "document" ? "refused" : mode
      document = mode === "refused" ? [] : document
      return [bad(line, `is longer than ${maxRecord} characters`, "cut the file into smaller records")]
    }
    const text = raw.trim()
    if (mode === "document" || (mode === "unclear" && text === "")) {
      document.push(raw)
      return []
    }
    if (text === "") return []
    const frames = framesOfLine(line, text)
    return mode === "lines" ? frames : mode === "start" ? begin(text, frames) : resolve(raw, frames)
  }

  return {
    push: (text) => {
      const out: Array<Frame> = []
      let from = 0
      for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", from)) {
        take(text.slice(from, at))
        from = at + 1
        for (const frame of finishLine()) out.push(frame)
      }
      if (from < text.length) take(text.slice(from))
      return out
    },
    end: () => {
      const last = finishLine()
      return document.length === 0 ? last : [...last, ...framesOfDocument(documentLine, document.join("\n").trim())]
    }
  }
}
