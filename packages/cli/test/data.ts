/**
 * Transcripts beside the checkout, where they are there.
 */
import * as fs from "node:fs"
import * as path from "node:path"
import { fileURLToPath } from "node:url"
import { Conversation, Format } from "@effect-memory/formats"
import { Chunk, Effect, Stream } from "effect"

const folder = fileURLToPath(new URL("../../../../shared/data", import.meta.url))

/** Paths within the folder: one level of folders, named after formats. */
export const transcripts: ReadonlyArray<string> = fs.existsSync(folder)
  ? fs.readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .flatMap(({ name }) => fs.readdirSync(path.join(folder, name)).map((file) => `${name}/${file}`))
  : []

/** The conversations of a transcript. */
export const conversationsOf = (file: string) =>
  Stream.sync(() => fs.readFileSync(path.resolve(folder, file))).pipe(
    Format.read({ file }),
    Stream.filter(Conversation.isConversation),
    Stream.runCollect,
    Effect.map(Chunk.toReadonlyArray)
  )

/** So many of a list at most, from all over it; the first and the last among them. */
export const some = <A>(all: ReadonlyArray<A>, most: number): ReadonlyArray<A> =>
  all.length <= most
    ? all
    : Array.from({ length: most }, (_, i) => all[Math.round(i * (all.length - 1) / (most - 1))])

export const pathOf = (file: string): string => path.join(folder, file)
