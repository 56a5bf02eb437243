/**
 * Reads transcript files.
 */
import type { PlatformError } from "@effect/platform/Error"
import * as FileSystem from "@effect/platform/FileSystem"
import type { Codec } from "@effect-memory/formats/Codec"
import * as Conversation from "@effect-memory/formats/Conversation"
import * as Format from "@effect-memory/formats/Format"
import type { FormatError, UnknownFormat } from "@effect-memory/formats/FormatError"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import { FileError, NoSuchConversation, Several, UnreadableRecords } from "../CliError.js"
import { Stdin } from "../Stdin.js"
import * as destination from "./destination.js"
import { count } from "./numbers.js"
import * as Progress from "./progress.js"

const reasonOf = (error: PlatformError): string => {
  switch (error._tag === "SystemError" ? error.reason : "Unknown") {
    case "NotFound":
      return "there is no such file: check the path"
    case "PermissionDenied":
      return "the file may not be read: check its permissions"
    case "BadResource":
      return "this is not a file: give a transcript, not a folder"
    default:
      return "the file cannot be read: check that it is whole and that its disk is there"
  }
}

/** How files begin that are no text to read, and what to do. */
const encodings: ReadonlyArray<readonly [start: ReadonlyArray<number>, reason: string]> = [
  [[0x1f, 0x8b], "this is compressed: unpack it first"],
  [[0x50, 0x4b, 0x03, 0x04], "this is an archive: unpack it first"],
  [[0x28, 0xb5, 0x2f, 0xfd], "this is compressed: unpack it first"],
  [[0xff, 0xfe], "this is UTF-16: save it as UTF-8"],
  [[0xfe, 0xff], "this is UTF-16: save it as UTF-8"]
]

const encodingFault = (bytes: Uint8Array): string | undefined =>
  encodings.find(([start]) => start.every((byte, i) => byte === bytes[i]))?.[1]

/** What to read. @internal */
export interface Source {
  /** A path, or `-` for standard input. */
  readonly file: string
  /** Default: found by content. */
  readonly format: Option.Option<string>
  /** This one only, from 1. */
  readonly conversation: Option.Option<number>
  /** Whether the first bad record ends it. */
  readonly strict: boolean
  /** Whether to read on after the conversation that is wanted. Default: no. */
  readonly whole?: boolean | undefined
  /** Told how many bytes were read. Default: nobody is. */
  readonly onRead?: ((bytes: number) => Effect.Effect<void>) | undefined
}

/** The file as people know it. @internal */
export const nameOf = (file: string): string => file === "-" ? "standard input" : file

const bytes = (file: string): Stream.Stream<Uint8Array, FileError, FileSystem.FileSystem | Stdin> =>
  Stream.unwrap(
    Effect.gen(function*() {
      if (file === "-") return (yield* Stdin).bytes
      const fs = yield* FileSystem.FileSystem
      const info = yield* fs.stat(file)
      // A pipe has no positions, so it cannot be read in pieces.
      return info.type === "File" ? fs.stream(file) : Stream.fromEffect(fs.readFile(file))
    })
  ).pipe(
    Stream.mapError((cause) => new FileError({ file: nameOf(file), reason: reasonOf(cause), cause })),
    Stream.mapAccumEffect(true, (first, chunk) => {
      const reason = first ? encodingFault(chunk) : undefined
      return reason === undefined ? Effect.succeed([false, chunk]) : new FileError({ file: nameOf(file), reason })
    })
  )

/**
 * Progress of what takes as long as reading.
 *
 * @internal
 */
export const reading = (what: string, file: string, printing: boolean) =>
  Progress.make({
    label: `${what} ${nameOf(file)}`,
    show: (bytes) => `${count(Math.ceil(bytes / 1e6))} MB`,
    printing
  })

/** The format that an option names, where it does. @internal */
export const optionalFormat = (given: Option.Option<string>): Effect.Effect<Codec | undefined, UnknownFormat> =>
  Effect.map(Effect.transposeMapOption(given, Format.find), Option.getOrUndefined)

/** What a file has shown so far. @internal */
export interface Seen {
  readonly conversations: number
  /** Those that were asked for. */
  readonly wanted: number
  readonly unreadable: number
  /** The first of those that cannot be read. */
  readonly errors: ReadonlyArray<FormatError>
}

const nothing: Seen = { conversations: 0, wanted: 0, unreadable: 0, errors: [] }

/** So many faults of a file are told one by one. @internal */
export const mostErrors = 20

const unknown =
  "the content is of no known format: name it with --format, one of those that effect-memory formats lists"

/**
 * The conversations that are wanted, one after another. A record that cannot be read is remembered, or the failure where
 * the source is strict.
 *
 * @internal
 */
export const fold = Effect.fnUntraced(function*<A, E, R>(
  source: Source,
  zero: A,
  f: (value: A, conversation: Conversation.Conversation) => Effect.Effect<A, E, R>
): Effect.fn.Return<
  readonly [value: A, seen: Seen],
  E | FileError | FormatError | UnknownFormat,
  R | FileSystem.FileSystem | Stdin
> {
  const { conversation, file, onRead = () => Effect.void, strict, whole = false } = source
  const isWanted = (index: number) =>
    Option.match(conversation, { onNone: () => true, onSome: (wanted) => index + 1 === wanted })
  const options = { file: nameOf(file), format: yield* optionalFormat(source.format), strict }
  const input = Stream.tap(bytes(file), ({ length }) => onRead(length))
  return yield* Format.read(input, options).pipe(
    Stream.mapError((error) =>
      error._tag === "UnknownFormat" ? new FileError({ file: nameOf(file), reason: unknown }) : error
    ),
    Stream.takeUntil((item) =>
      !whole && Conversation.isConversation(item) && Option.isSome(conversation) && isWanted(item.index)
    ),
    Stream.runFoldEffect(
      [zero, nothing] as const,
      ([value, seen], item): Effect.Effect<readonly [value: A, seen: Seen], E, R> => {
        if (!Conversation.isConversation(item)) {
          const errors = seen.errors.length < mostErrors ? [...seen.errors, item] : seen.errors
          return Effect.succeed([value, { ...seen, unreadable: seen.unreadable + 1, errors }])
        }
        const next = { ...seen, conversations: seen.conversations + 1 }
        return isWanted(item.index)
          ? Effect.map(f(value, item), (value) => [value, { ...next, wanted: seen.wanted + 1 }])
          : Effect.succeed([value, next])
      }
    )
  )
})

/**
 * What is wrong with a file after all of it was seen.
 *
 * @internal
 */
export const faults = (
  source: Source,
  { conversations, errors, unreadable, wanted }: Seen
): ReadonlyArray<FileError | NoSuchConversation | UnreadableRecords> => {
  const file = nameOf(source.file)
  if (Option.isSome(source.conversation)) {
    if (wanted > 0) return []
    if (conversations > 0) return [new NoSuchConversation({ file, given: source.conversation.value, conversations })]
  }
  // Where nothing can be read, one reason is as good as twenty.
  const first = conversations > 0 ? errors : errors.slice(0, 1)
  if (unreadable > 0) return [new UnreadableRecords({ first, more: unreadable - first.length })]
  return conversations > 0 ? [] : [new FileError({ file, reason: "there is no conversation in it: give a transcript" })]
}

/**
 * Fails with all that is wrong, if anything is.
 *
 * @internal
 */
export const complain = <E extends Error>(faults: ReadonlyArray<E>): Effect.Effect<void, E | Several> =>
  faults.length === 0
    ? Effect.void
    : Effect.fail(
      faults.length === 1 ? faults[0] : new Several({ sentences: faults.map(({ message }) => message) })
    )

/** What a file would lose that is written anew. */
const loss = ({ conversations, unreadable, wanted }: Seen): string | undefined => {
  if (wanted < conversations) return `its other conversations (${count(conversations - wanted)}) would be lost`
  return unreadable === 0 ? undefined : `its records that cannot be read (${count(unreadable)}) would be lost`
}

/**
 * As `fold`, for what is written meanwhile. Fails where that would take the place of the file and hold less of it.
 *
 * @internal
 */
export const foldInto = Effect.fnUntraced(function*<A, E, R>(
  output: string,
  source: Source,
  zero: A,
  f: (value: A, conversation: Conversation.Conversation) => Effect.Effect<A, E, R>
): Effect.fn.Return<
  readonly [value: A, seen: Seen],
  E | FileError | FormatError | NoSuchConversation | Several | UnknownFormat | UnreadableRecords,
  R | FileSystem.FileSystem | Stdin
> {
  const whole = yield* destination.replaces(output, source.file)
  const folded = yield* fold({ ...source, whole }, zero, f)
  const [, seen] = folded
  if (whole && seen.wanted === 0) yield* complain(faults(source, seen))
  const lost = whole ? loss(seen) : undefined
  if (lost === undefined) return folded
  const reason = `nothing is written, because ${lost}: name another FILE with --output`
  return yield* new FileError({ file: nameOf(source.file), reason })
})
