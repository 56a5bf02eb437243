/** What the tests of all formats need. */
import * as fs from "node:fs"
import { fileURLToPath } from "node:url"
import { assert } from "@effect/vitest"
import { type Codec, Conversation, Format } from "@effect-memory/formats"
import { Chunk, Effect, Stream } from "effect"
import type { Message } from "effect-memory"

/** Recorded transcripts, which stand beside the repository where they are there at all. */
export const dataFolder = fileURLToPath(new URL("../../../../shared/data/", import.meta.url))

export const hasData = fs.existsSync(dataFolder)

export const readAll = (text: string | Uint8Array, options?: Format.ReadOptions) =>
  Effect.map(Stream.runCollect(Format.read(Stream.make(text), options)), Chunk.toReadonlyArray)

export const conversations = (text: string | Uint8Array, options?: Format.ReadOptions) =>
  Effect.map(readAll(text, options), (found) => found.filter(Conversation.isConversation))

export const errors = (text: string | Uint8Array, options?: Format.ReadOptions) =>
  Effect.map(readAll(text, options), (found) => found.filter((one) => one._tag === "FormatError"))

export const one = (value: unknown, format?: string | Codec.Codec) =>
  Effect.flatMap(readAll(JSON.stringify(value), { format }), ([first]) => {
    if (first !== undefined && Conversation.isConversation(first)) return Effect.succeed(first)
    return Effect.fail(first)
  })

export { lines } from "./corpus.js"

/** The JSON value of every line. */
const parsed = (text: string): ReadonlyArray<unknown> =>
  text.split("\n").filter((line) => line !== "").map((line): unknown => JSON.parse(line))

export const encode = (conversation: Conversation.Conversation, format?: string | Codec.Codec) =>
  Effect.map(Format.encode(conversation, { format }), (written) => parsed(written.text))

const isDefault = (key: string, value: unknown) =>
  value === undefined || value === null || (key === "is_error" && value === false)

/** A wire value without what is the default anyway: `null` and `is_error: false`. */
export const normal = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(normal)
  if (typeof value !== "object" || value === null) return value
  return Object.fromEntries(
    Object.entries(value).filter(([key, item]) => !isDefault(key, item)).map(([key, item]) => [key, normal(item)])
  )
}

/** Writing and reading again changes neither messages nor wire value, once they are in the format. */
export const assertStable = (messages: ReadonlyArray<Message.Message>, format: string) =>
  Effect.gen(function*() {
    const written = yield* Format.encode(Conversation.make(messages), { format })
    const [first] = yield* conversations(written.text, { format })
    if (written.text === "") return assert.isUndefined(first)
    const again = yield* Format.encode(first, { format })
    const [second] = yield* conversations(again.text, { format })
    assert.deepStrictEqual(parsed(again.text), parsed(written.text))
    assert.deepStrictEqual(second?.messages ?? [], first.messages)
  })
