import * as fs from "node:fs"

import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"

import { conversations, dataFolder, encode, errors, hasData, normal } from "./utilities.js"

/** Every recorded file, with the format it is found to be of, its conversations and their messages. */
const files: ReadonlyArray<readonly [file: string, format: string, conversations: number, messages: number]> = [
  ["anthropic-messages/compaction-block-long-text.json", "anthropic-messages", 1, 4],
  ["anthropic-messages/images-in-tool-result.json", "anthropic-messages", 1, 3],
  ["anthropic-messages/recorded-requests-with-usage.jsonl", "anthropic-messages", 65, 290],
  ["anthropic-messages/response-anthropic-code-execution-20250825.2.json", "anthropic-messages", 1, 1],
  ["claude-code-jsonl/cc-compact-summary-synthetic.jsonl", "claude-code", 1, 29],
  ["claude-code-jsonl/cc-interrupted-unpaired-tool-use.jsonl", "claude-code", 1, 43],
  ["claude-code-jsonl/cc-small-thinking.jsonl", "claude-code", 1, 8],
  ["claude-code-jsonl/cc-two-records-on-one-line.jsonl", "claude-code", 1, 89],
  ["mini-swe-agent/github_issue.traj.json", "openai-chat", 1, 22],
  ["openai-chat/images-after-tool.json", "openai-chat", 1, 4],
  ["openai-chat/recorded-requests-with-usage.jsonl", "openai-chat", 52, 119],
  ["openai-chat/tau-airline-gpt4o.json", "openai-chat", 12, 414],
  ["openhands/swegym-openhands-openai-chat.json", "openai-chat", 3, 128]
]

const read = (file: string) => fs.readFileSync(dataFolder + file, "utf8")

/** The bodies of a file of documents, exchanges and lists taken apart. */
const bodies = (value: unknown): ReadonlyArray<unknown> => {
  if (Array.isArray(value)) return "role" in Object(value[0]) ? [value] : value.flatMap(bodies)
  return [Object(value).request ?? value]
}

const documents = (text: string): ReadonlyArray<unknown> => {
  const values = text.trimStart().startsWith("[") || !text.includes("\n{") ? [text] : text.split("\n")
  return values.filter((one) => one.trim() !== "").flatMap((one) => bodies(JSON.parse(one)))
}

describe.skipIf(!hasData)("recorded transcripts", () => {
  for (const [file, format, count, total] of files) {
    it.effect(`reads ${file}`, () =>
      Effect.gen(function*() {
        const text = read(file)
        const found = yield* conversations(text)
        assert.deepStrictEqual(yield* errors(text), [])
        assert.strictEqual(found[0].format, format)
        assert.strictEqual(found.length, count)
        assert.strictEqual(found.reduce((sum, { messages }) => sum + messages.length, 0), total)
      }))
  }

  const session = (format: string) => format === "claude-code"

  for (const [file, format] of files.filter(([, format]) => !session(format))) {
    it.effect(`gives back ${file}`, () =>
      Effect.gen(function*() {
        const text = read(file)
        const written: Array<unknown> = []
        for (const conversation of yield* conversations(text)) written.push(...(yield* encode(conversation)))
        assert.deepStrictEqual(written.map(normal), documents(text).map(normal))
        assert.isAbove(written.length, 0, format)
      }))
  }

  for (const [file] of files.filter(([, format]) => session(format))) {
    it.effect(`gives back ${file}`, () =>
      Effect.gen(function*() {
        const text = read(file)
        const [conversation] = yield* conversations(text)
        const written = (yield* encode(conversation)) as ReadonlyArray<{ readonly uuid: string }>
        const lines = text.split(/\n|(?<=\})(?=\{"type":"summary")/).filter((line) => line !== "").map((line) =>
          JSON.parse(line)
        )
        // A line that is repeated further down is read where it stands first.
        const kept = new Map(
          lines.toReversed().filter(({ type }) => type === "user" || type === "assistant").map((
            line
          ) => [line.uuid, line])
        )
        assert.strictEqual(written.length, kept.size)
        for (const line of written) {
          const { toolUseResult: _, ...wire } = kept.get(line.uuid)
          assert.deepStrictEqual(normal(line), normal(wire))
        }
      }))
  }
})
