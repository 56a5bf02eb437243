/**
 * Reads transcript files.
 */
import type { PlatformError } from "@effect/platform/Error"
import * as FileSystem from "@effect/platform/FileSystem"
import type { Conversation } from "@effect-memory/formats/Conversation"
import * as Format from "@effect-memory/formats/Format"
import type { FormatError, UnknownFormat } from "@effect-memory/formats/FormatError"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { FileError } from "../CliError.js"

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

const bytes = (file: string): Stream.Stream<Uint8Array, FileError, FileSystem.FileSystem> =>
  Stream.unwrap(
    Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const info = yield* fs.stat(file)
      // A pipe has no positions, so it cannot be read in pieces.
      return info.type === "File" ? fs.stream(file) : Stream.fromEffect(fs.readFile(file))
    })
  ).pipe(
    Stream.mapError((cause) => new FileError({ file, reason: reasonOf(cause), cause }))
  )

/**
 * The conversations of a file, with an error in the place of each record that cannot be read.
 *
 * @internal
 */
export const conversations = (
  file: string,
  format: string | undefined
): Stream.Stream<Conversation | FormatError, FileError | FormatError | UnknownFormat, FileSystem.FileSystem> =>
  Format.read(bytes(file), { file, format })
