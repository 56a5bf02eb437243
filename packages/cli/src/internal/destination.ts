/**
 * Where transcripts are written to, and where what is told about them goes.
 */
import type { PlatformError } from "@effect/platform/Error"
import * as FileSystem from "@effect/platform/FileSystem"
import * as Path from "@effect/platform/Path"
import type * as Terminal from "@effect/platform/Terminal"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Random from "effect/Random"
import * as Ref from "effect/Ref"
import { FileError, type OutputError } from "../CliError.js"
import { Stderr } from "../Stderr.js"
import { coloursWanted, printLines, printText, stdoutStyle, textOf } from "./output.js"
import { coloured, plain, type Style } from "./style.js"

/** Whether it is standard output. */
const isStandard = (file: string): boolean => file === "-"

const reasonOf = (error: PlatformError): string => {
  switch (error._tag === "SystemError" ? error.reason : "Unknown") {
    case "NotFound":
      return "there is no such folder: make it first"
    case "PermissionDenied":
      return "the file may not be written: check the permissions of its folder"
    case "BadResource":
      return "this is a folder: name a file"
    default:
      return "the file cannot be written: make room, or write elsewhere"
  }
}

/** Takes a text. @internal */
export type Write = (text: string) => Effect.Effect<void, FileError | OutputError, Terminal.Terminal>

/** A file beside another, to take its place. */
const beside = Effect.fnUntraced(function*(file: string) {
  const path = yield* Path.Path
  const n = yield* Random.nextIntBetween(0, 0xffffff)
  return path.join(path.dirname(file), `.${path.basename(file)}.${n.toString(16)}.tmp`)
})

interface Target {
  readonly path: string
  /** Permissions, where it is there already. */
  readonly mode: number | undefined
  /** A device or a pipe has no place that could be taken. */
  readonly replaceable: boolean
}

const targetOf = Effect.fnUntraced(function*(file: string) {
  const fs = yield* FileSystem.FileSystem
  const there = yield* Effect.option(Effect.all([fs.realPath(file), fs.stat(file)]))
  return Option.match(there, {
    onNone: (): Target => ({ path: file, mode: undefined, replaceable: true }),
    onSome: ([path, { mode, type }]): Target => ({ path, mode: mode & 0o777, replaceable: type === "File" })
  })
})

/** Whether to write the one is to replace the other, also by links. @internal */
export const replaces = Effect.fnUntraced(function*(output: string, input: string) {
  if (isStandard(output) || isStandard(input)) return false
  const fs = yield* FileSystem.FileSystem
  const paths = yield* Effect.option(Effect.all([fs.realPath(output), fs.realPath(input)]))
  return Option.exists(paths, ([output, input]) => output === input)
})

/**
 * Writes a file, or to standard output where it is `-`. A new file takes the place of the old one when all went well, so
 * that nobody finds half of one, and the file may be the one that is read meanwhile. Where nothing is written, no file is
 * made.
 *
 * @internal
 */
export const writing = <A, E, R>(
  file: string,
  use: (write: Write) => Effect.Effect<A, E, R>
): Effect.Effect<A, E | FileError, R | FileSystem.FileSystem | Path.Path> => {
  if (isStandard(file)) return use(printText)
  const typed = Effect.mapError((cause: PlatformError) => new FileError({ file, reason: reasonOf(cause), cause }))
  return Effect.gen(function*() {
    const fs = yield* FileSystem.FileSystem
    const written = yield* Ref.make(false)
    const into = (path: string) =>
      Effect.scoped(Effect.gen(function*() {
        const opened = yield* typed(fs.open(path, { flag: "w" }))
        const encoder = new TextEncoder()
        const write = (text: string) =>
          Effect.zipRight(
            Ref.set(written, true),
            // To write nothing is an error of the platform's.
            text === "" ? Effect.void : typed(opened.writeAll(encoder.encode(text)))
          )
        return yield* use(write)
      }))
    const { mode, path, replaceable } = yield* targetOf(file)
    if (!replaceable) return yield* into(path)
    const temporary = yield* beside(path)
    const place = mode === undefined
      ? typed(fs.rename(temporary, path))
      : Effect.zipRight(typed(fs.chmod(temporary, mode)), typed(fs.rename(temporary, path)))
    return yield* into(temporary).pipe(
      Effect.zipLeft(
        Effect.if(Ref.get(written), { onTrue: () => place, onFalse: () => Effect.ignore(fs.remove(temporary)) })
      ),
      Effect.onError(() => Effect.ignore(fs.remove(temporary)))
    )
  })
}

/** Tells about what is written. @internal */
export interface Teller {
  readonly style: Style
  readonly tell: (lines: ReadonlyArray<string>) => Effect.Effect<void, OutputError, Terminal.Terminal>
}

/** A file is written to its end, also where nobody reads the report any more. */
const tellAnyone = (lines: ReadonlyArray<string>): Effect.Effect<void, OutputError, Terminal.Terminal> =>
  Effect.catchIf(printLines(lines), ({ isClosedPipe }) => isClosedPipe, () => Effect.void)

/**
 * Tells on standard output, unless that is where a transcript goes.
 *
 * @internal
 */
export const teller = Effect.fnUntraced(function*(file: string | undefined): Effect.fn.Return<
  Teller,
  never,
  Stderr | Terminal.Terminal
> {
  if (file === undefined) return { style: yield* stdoutStyle, tell: printLines }
  if (!isStandard(file)) return { style: yield* stdoutStyle, tell: tellAnyone }
  const stderr = yield* Stderr
  const style = (yield* coloursWanted(stderr.isTerminal)) ? coloured : plain
  return { style, tell: (lines) => stderr.write(textOf(lines)) }
})
