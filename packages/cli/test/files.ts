/**
 * Files for tests, in a folder of their own.
 */
import * as fs from "node:fs"
import * as os from "node:os"
import * as path from "node:path"
import { fileURLToPath } from "node:url"
import * as zlib from "node:zlib"

export const root = fileURLToPath(new URL("../../..", import.meta.url))

/** As a user at the root of the repository names it. */
export const sample = "packages/cli/examples/session.jsonl"

export const samplePath = path.join(root, sample)

const folder = fs.mkdtempSync(path.join(os.tmpdir(), "effect-memory-cli-"))

/** Where a file of this name would be. */
export const at = (name: string): string => path.join(folder, name)

export const write = (name: string, text: string | Uint8Array): string => {
  fs.writeFileSync(at(name), text)
  return at(name)
}

export const read = (file: string): string => fs.readFileSync(file, "utf8")

export const names = (): ReadonlyArray<string> => fs.readdirSync(folder)

const message = `{"role":"user","content":"a secret"}`

const call = { id: "c1", type: "function", function: { name: "look", arguments: "{}" } }

/** A conversation whose call nobody has answered before the user went on. */
export const unanswered = write(
  "unanswered.json",
  JSON.stringify({
    model: "m",
    messages: [
      { role: "user", content: "Look." },
      { role: "assistant", content: null, tool_calls: [call] },
      { role: "user", content: "Never mind." }
    ]
  })
)

/** Three conversations. */
export const many = write(
  "many.jsonl",
  ["one", "two", "three"]
    .map((text) => `${JSON.stringify({ model: "m", messages: [{ role: "user", content: text }] })}\n`)
    .join("")
)

/** Two good records, and two that cannot be read. */
export const mixed = write(
  "mixed.jsonl",
  `{"messages":[${message}]}\n{"messages":[{"role\n{"messages":[${message}]}\n{"mess\n`
)

export const text = write("notes.txt", "These are notes.\nNo transcript at all.\n")

export const empty = write("empty.jsonl", "")

export const cut = write("cut.jsonl", message.slice(0, -8))

export const compressed = write("compressed.jsonl.gz", zlib.gzipSync(message))

export const archive = write("archive.zip", Buffer.from("PK\u0003\u0004"))

export const utf16 = write("utf16.json", Buffer.from(`\ufeff[${message}]`, "utf16le"))

export const other = write("other.json", `{"name":"no transcript"}`)
