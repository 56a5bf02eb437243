/**
 * Turns records into conversations: finds the format, takes lists and recorded exchanges apart, numbers what it finds.
 */
import * as Either from "effect/Either"
import type { Codec, Decoded, DocumentCodec, Issue, Likeness, Session } from "../Codec.js"
import type { Conversation } from "../Conversation.js"
import { FormatError, UnknownFormat } from "../FormatError.js"
import type { Frame } from "./frames.js"
import * as json from "./json.js"

/** @internal */
export type Output = Conversation | FormatError | UnknownFormat

/** @internal */
export interface Reader {
  readonly push: (frame: Frame) => ReadonlyArray<Output>
  readonly end: () => ReadonlyArray<Output>
}

/** Records that are looked at before the format is decided by the best of them. */
const lookahead = 50

interface Exchange extends json.JsonRecord {
  readonly request: json.JsonRecord
}

const isExchange = (value: unknown): value is Exchange => json.isRecord(value) && json.isRecord(value.request)

/** Conversations by name: an object whose values are all records. */
const isNamed = (value: unknown): value is Readonly<Record<string, json.JsonRecord>> => {
  if (!json.isRecord(value)) return false
  const items = Object.values(value)
  return items.length > 0 && items.every(json.isRecord)
}

/** How much a record looks like a format, lists and exchanges taken apart. */
const likeness = (codec: Codec, value: unknown): Likeness => {
  const own = codec.match(value)
  if (own > 0) return own
  if (isExchange(value)) return codec.layout === "document" ? codec.match(value.request) : 0
  const items = Array.isArray(value) ? value : isNamed(value) && codec.layout === "document" ? Object.values(value) : []
  return items.slice(0, lookahead).reduce<Likeness>((best, item) => {
    const found = isExchange(item) && codec.layout === "document" ? codec.match(item.request) : codec.match(item)
    return found > best ? found : best
  }, 0)
}

/**
 * The format that some records look like most; the first one in the list where several do.
 *
 * @internal
 */
export const detect = (codecs: ReadonlyArray<Codec>, values: ReadonlyArray<unknown>): Codec | undefined => {
  let best: { readonly codec: Codec; readonly score: Likeness } | undefined
  for (const codec of codecs) {
    const score = values.reduce<Likeness>((most, value) => {
      const found = likeness(codec, value)
      return found > most ? found : most
    }, 0)
    if (score > (best?.score ?? 0)) best = { codec, score }
  }
  return best?.codec
}

const typical = (codecs: ReadonlyArray<Codec>, value: unknown): boolean =>
  codecs.some((codec) => likeness(codec, value) === 3)

/** @internal */
export const make = (options: {
  readonly codecs: ReadonlyArray<Codec>
  readonly codec: Codec | undefined
  readonly file: string | undefined
}): Reader => {
  const { codecs, file } = options
  let codec = options.codec
  let session: Session | undefined
  let waiting: Array<Frame> = []
  let index = 0
  let faults = 0

  const fault = (line: number, issue: Issue): FormatError => {
    faults++
    return new FormatError({ file, format: codec?.id, line, ...issue })
  }

  const conversation = (format: Codec, line: number, decoded: Decoded, extra: Partial<Conversation> = {}) => ({
    _tag: "Conversation" as const,
    format: format.id,
    index: index++,
    line,
    messages: decoded.messages,
    response: [],
    usage: decoded.usage ?? [],
    notes: decoded.notes ?? [],
    envelope: decoded.envelope ?? { at: "", fields: {} },
    ...extra
  })

  const exchange = (format: DocumentCodec, line: number, value: Exchange): Output =>
    Either.match(format.decode(value.request), {
      onLeft: (issue) => fault(line, { ...issue, field: `request.${issue.field}` }),
      onRight: (decoded) => {
        const response = Either.getOrUndefined(format.decode(value.response))
        const billed = format.usage?.(value.usage) ??
          format.usage?.(value.response)
        return conversation(format, line, decoded, {
          response: response?.messages ?? [],
          usage: billed === undefined ? [] : [{ messages: decoded.messages.length, ...billed }]
        })
      }
    })

  const document = (format: DocumentCodec, line: number, value: unknown, path: string): ReadonlyArray<Output> => {
    if (format.match(value) > 0 || !(Array.isArray(value) || isNamed(value) || isExchange(value))) {
      return [Either.match(format.decode(value), {
        onLeft: (issue) => fault(line, { ...issue, field: [path, issue.field].filter(Boolean).join(".") }),
        onRight: (decoded) => conversation(format, line, decoded)
      })]
    }
    if (isExchange(value)) return [exchange(format, line, value)]
    return Object.entries(value).flatMap(([key, item]) =>
      document(format, line, item, path === "" ? key : `${path}.${key}`)
    )
  }

  const read = (format: Codec, frame: Frame): ReadonlyArray<Output> => {
    if (frame._tag === "Bad") return [fault(frame.line, { field: "", reason: frame.reason, hint: frame.hint })]
    if (format.layout === "document") return document(format, frame.line, frame.value, "")
    const open = session ??= format.open()
    const records = Array.isArray(frame.value) ? frame.value : [frame.value]
    return records.flatMap((record) => {
      const issue = open.push(record, frame.line)
      const complete = open.take?.() ?? []
      return [
        ...(issue === undefined ? [] : [fault(frame.line, issue)]),
        ...complete.map((decoded) => conversation(format, frame.line, decoded))
      ]
    })
  }

  /** Decides the format by the records seen so far, and reads them. */
  const decide = (): ReadonlyArray<Output> => {
    const frames = waiting
    waiting = []
    const values = frames.flatMap((frame) => frame._tag === "Value" ? [frame.value] : [])
    const found = detect(codecs, values)
    if (found === undefined && values.length > 0) {
      return [new UnknownFormat({ file, known: codecs.map(({ id }) => id) })]
    }
    codec = found
    return frames.flatMap((frame) =>
      found === undefined
        ? frame._tag === "Bad" ? [fault(frame.line, { field: "", reason: frame.reason, hint: frame.hint })] : []
        : read(found, frame)
    )
  }

  return {
    push: (frame) => {
      if (codec !== undefined) return read(codec, frame)
      waiting.push(frame)
      const decided = waiting.length >= lookahead || (frame._tag === "Value" && typical(codecs, frame.value))
      return decided ? decide() : []
    },
    end: () => {
      const decided = codec === undefined ? decide() : []
      const format = codec
      if (format === undefined || session === undefined) return decided
      // Records that are all bad are no conversation of nothing.
      const left = session.end().filter(({ messages }) => messages.length > 0 || faults === 0)
      return [...decided, ...left.map((decoded) => conversation(format, 1, decoded))]
    }
  }
}
