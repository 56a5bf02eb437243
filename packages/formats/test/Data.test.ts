import * as fs from "node:fs"
import { assert, describe, it } from "@effect/vitest"
import { Conversation, Format } from "@effect-memory/formats"
import { Effect } from "effect"
import { assertStable, conversations, dataFolder, encode, errors, hasData, normal } from "./utilities.js"

/** Every recorded file: the format it is found to be of, its conversations and their messages. */
const files: ReadonlyArray<readonly [file: string, format: string, conversations: number, messages: number]> = [
  ["anthropic-messages/compaction-block-long-text.json", "anthropic-messages", 1, 4],
  ["anthropic-messages/images-in-tool-result.json", "anthropic-messages", 1, 3],
  ["anthropic-messages/recorded-requests-with-usage.jsonl", "anthropic-messages", 65, 290],
  ["anthropic-messages/response-anthropic-code-execution-20250825.2.json", "anthropic-messages", 1, 1],
  ["claude-code-jsonl/cc-compact-summary-synthetic.jsonl", "claude-code", 1, 29],
  ["claude-code-jsonl/cc-interrupted-unpaired-tool-use.jsonl", "claude-code", 1, 43],
  ["claude-code-jsonl/cc-small-thinking.jsonl", "claude-code", 1, 8],
  ["claude-code-jsonl/cc-two-records-on-one-line.jsonl", "claude-code", 1, 89],
  ["gemini-cli-session/gemini-cli-1.json", "gemini-cli", 1, 21],
  ["gemini-contents/recorded-requests-with-usage.jsonl", "gemini", 51, 198],
  ["langchain/langgraph_response_2.values.json", "langchain", 5, 15],
  ["mini-swe-agent/github_issue.traj.json", "mini-swe-agent", 1, 22],
  ["mt-bench/mt-bench-en.jsonl", "mt-bench", 40, 110],
  ["multilingual/ar-fa-mixed.json", "sharegpt", 3, 6],
  ["multilingual/mt-bench-ja.jsonl", "mt-bench", 40, 160],
  ["oasst/oasst-seed-trees-excerpt.json", "oasst", 2, 10],
  ["openai-chat/images-after-tool.json", "openai-chat", 1, 4],
  ["openai-chat/recorded-requests-with-usage.jsonl", "openai-chat", 52, 119],
  ["openai-chat/tau-airline-gpt4o.json", "tau-bench", 12, 414],
  ["openai-responses/recorded-requests-with-usage.jsonl", "openai-responses", 49, 245],
  ["openai-responses/response-openai-mcp-tool.1.json", "openai-responses", 1, 1],
  ["openhands/openhands-feedback-sharegpt.json", "sharegpt", 1, 63],
  ["openhands/swegym-openhands-openai-chat.json", "openhands", 3, 128],
  ["pi-session-jsonl/pi-multi-provider-session.jsonl", "pi", 1, 914],
  ["sharegpt/glaive-toolcall-en.json", "sharegpt", 50, 336],
  ["sharegpt/glaive-toolcall-zh.json", "sharegpt", 50, 318],
  ["sharegpt/reason-tool-use.jsonl", "sharegpt", 20, 130],
  ["swe-agent/ctf-web-i_got_id.traj", "swe-agent", 1, 43],
  ["swe-agent/marshmallow-1867-function-calling.traj", "swe-agent", 1, 24],
  ["swe-agent/pydicom-1458-gpt4.traj", "swe-agent", 1, 26],
  ["swe-agent/swesmith-xml-tools.json", "swe-agent", 2, 78],
  ["vercel-ai/ui-and-model-messages.json", "vercel-ui", 5, 10]
]

const read = (file: string) => fs.readFileSync(dataFolder + file, "utf8")

type Json = { readonly [key: string]: unknown }

/** The records of a text: whole, or one a line, where several may stand on one line. */
const records = (text: string): ReadonlyArray<Json> => {
  try {
    return [JSON.parse(text)]
  } catch {
    return text.split(/\n|(?<=\})(?=\{"type":")/).filter((line) => line.trim() !== "").map((line) => JSON.parse(line))
  }
}

/** The bodies of documents, exchanges, lists and named conversations taken apart. */
const bodies = (value: Json): ReadonlyArray<unknown> => {
  if (Array.isArray(value)) return Object(value[0]).role === undefined ? value.flatMap(bodies) : [value]
  if (value.request !== undefined) return [value.request]
  const items = Object.values(value)
  const named = items.every((item) => "messages" in Object(item) || "conversations" in Object(item))
  return named ? items : [value]
}

const writeAll = (file: string, format?: string) =>
  Effect.gen(function*() {
    const written: Array<unknown> = []
    for (const conversation of yield* conversations(read(file), { format })) {
      written.push(...(yield* encode(conversation)))
    }
    return written as ReadonlyArray<Json>
  })

/** Files of which records are skipped: what is left of them is compared by itself. */
const partial = ["claude-code", "gemini-cli", "pi", "oasst"]

describe.skipIf(!hasData)("recorded transcripts", () => {
  it("lists every file", () => {
    const found = fs.readdirSync(dataFolder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && entry.name !== "manifest.json").length
    assert.strictEqual(files.length, found)
    const manifest: { readonly files: ReadonlyArray<{ readonly file: string }> } = JSON.parse(read("manifest.json"))
    assert.deepStrictEqual(files.map(([file]) => file).sort(), manifest.files.map(({ file }) => file).sort())
  })

  for (const [file, format, count, total] of files) {
    it.effect(`reads ${file}`, () =>
      Effect.gen(function*() {
        const text = read(file)
        const found = yield* conversations(text)
        assert.deepStrictEqual(yield* errors(text), [])
        assert.strictEqual(found[0].format, format)
        assert.strictEqual(found.length, count)
        assert.strictEqual(found.reduce((sum, { messages }) => sum + messages.length, 0), total)
        assert.strictEqual((yield* Format.detect(text)).id, format)
      }))
  }

  for (const [file] of files.filter(([, format]) => !partial.includes(format))) {
    it.effect(`gives back ${file}`, () =>
      Effect.gen(function*() {
        const written = yield* writeAll(file)
        assert.deepStrictEqual(written.map(normal), records(read(file)).flatMap(bodies).map(normal))
      }))
  }

  it.effect("gives back the model messages of the Vercel AI SDK", () =>
    Effect.gen(function*() {
      const file = "vercel-ai/ui-and-model-messages.json"
      const written = yield* writeAll(file, "vercel-model")
      assert.deepStrictEqual(written.map(normal), records(read(file)).flatMap(bodies).map(normal))
    }))

  for (const [file] of files.filter(([, format]) => format === "claude-code")) {
    it.effect(`gives back ${file}`, () =>
      Effect.gen(function*() {
        const written = yield* writeAll(file)
        // A line that is repeated further down is read where it stands first.
        const kept = new Map(
          records(read(file)).toReversed().filter(({ type }) => type === "user" || type === "assistant")
            .map((line) => [line.uuid, { ...line, toolUseResult: null }])
        )
        assert.strictEqual(written.length, kept.size)
        for (const line of written) assert.deepStrictEqual(normal(line), normal(kept.get(line.uuid)))
      }))
  }

  it.effect("gives back the entries of pi that are its conversation", () =>
    Effect.gen(function*() {
      const file = "pi-session-jsonl/pi-multi-provider-session.jsonl"
      const kept = records(read(file)).filter(({ type }) => type === "session" || type === "message")
      assert.deepStrictEqual((yield* writeAll(file)).map(normal), kept.map(normal))
    }))

  it.effect("gives back the messages of the Gemini CLI that are its conversation", () =>
    Effect.gen(function*() {
      const file = "gemini-cli-session/gemini-cli-1.json"
      const [session] = records(read(file))
      const messages = (session.messages as ReadonlyArray<Json>).filter(({ type }) => type !== "info")
      assert.deepStrictEqual((yield* writeAll(file)).map(normal), [normal({ ...session, messages })])
    }))

  it.effect("gives back the nodes of OpenAssistant that are followed", () =>
    Effect.gen(function*() {
      const file = "oasst/oasst-seed-trees-excerpt.json"
      const nodes = records(read(file))[0] as unknown as ReadonlyArray<Json>
      const written = yield* writeAll(file)
      const kept = nodes.filter((node) => written.some((one) => one.user_message_id === node.user_message_id))
      assert.deepStrictEqual(written.map(normal), kept.map(normal))
    }))

  for (const { id } of Format.all) {
    it.effect(`writes every file as ${id} so that it can be read again`, () =>
      Effect.gen(function*() {
        for (const [file] of files) {
          const [conversation] = yield* conversations(read(file))
          const messages = conversation.messages.slice(0, 60)
          yield* assertStable(messages, id)
          if (id !== "native") continue
          const { text } = yield* Format.encode(Conversation.make(messages))
          assert.deepStrictEqual((yield* conversations(text))[0].messages, messages)
        }
      }), 60_000)
  }
})
