import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { Message } from "effect-memory"
import { conversations, encode, errors, lines } from "./utilities.js"

const format = "claude-code"

let count = 0
const user = (content: unknown, more: object = {}) => ({
  parentUuid: null,
  uuid: `u${count++}`,
  sessionId: "s",
  type: "user",
  message: { role: "user", content },
  ...more
})

const assistant = (id: string, block: unknown, output: number, more: object = {}) => ({
  uuid: `a${count++}`,
  sessionId: "s",
  type: "assistant",
  message: {
    id,
    type: "message",
    role: "assistant",
    model: "claude-x",
    content: [block],
    usage: { input_tokens: 2, cache_creation_input_tokens: 30, cache_read_input_tokens: 400, output_tokens: output },
    ...more
  }
})

const use = (id: string) => ({ type: "tool_use", id, name: "Read", input: { path: "/a" } })

const result = (id: string) => ({ type: "tool_result", tool_use_id: id, content: "text" })

const session = [
  { type: "file-history-snapshot", messageId: "m", snapshot: {} },
  user("Look at both files."),
  assistant("m1", { type: "thinking", thinking: "Two.", signature: "c2ln" }, 1),
  assistant("m1", use("a"), 1),
  user([result("a")], { toolUseResult: { big: true } }),
  { type: "progress", uuid: "p", sessionId: "s" },
  assistant("m1", use("b"), 25),
  user([result("b")]),
  assistant("m2", { type: "text", text: "Both are empty." }, 9)
]

describe("ClaudeCode", () => {
  it.effect("brings the lines of a message together, also where others stand between them", () =>
    Effect.gen(function*() {
      const [conversation] = yield* conversations(lines(session))
      assert.strictEqual(conversation.format, format)
      assert.deepStrictEqual(conversation.messages.map((message) => message.role), [
        "user",
        "assistant",
        "tool",
        "tool",
        "assistant"
      ])
      assert.deepStrictEqual(Message.toolCalls(conversation.messages[1]).map((call) => call.id), ["a", "b"])
    }))

  it.effect("takes usage from the last line of a message", () =>
    Effect.gen(function*() {
      const [conversation] = yield* conversations(lines(session))
      assert.deepStrictEqual(conversation.usage, [
        { messages: 1, inputTokens: 432, outputTokens: 25 },
        { messages: 4, inputTokens: 432, outputTokens: 9 }
      ])
    }))

  it.effect("counts what it skips", () =>
    Effect.gen(function*() {
      const side = user("of a sub-agent", { isSidechain: true })
      const [conversation] = yield* conversations(lines([...session, session[1], side]))
      assert.deepStrictEqual(conversation.notes, [
        { kind: "skipped", what: "record \"file-history-snapshot\"", count: 1 },
        { kind: "skipped", what: "field \"toolUseResult\"", count: 1 },
        { kind: "skipped", what: "record \"progress\"", count: 1 },
        { kind: "skipped", what: "repeated record", count: 1 },
        { kind: "skipped", what: "record of a side conversation", count: 1 }
      ])
    }))

  it.effect("reads a file that is a side conversation", () =>
    Effect.gen(function*() {
      const [conversation] = yield* conversations(lines([user("Search.", { isSidechain: true })]))
      assert.strictEqual(conversation.messages.length, 1)
      assert.deepStrictEqual(conversation.notes, [])
    }))

  it.effect("reads two records on one line", () =>
    Effect.gen(function*() {
      const text = lines(session.slice(1, 3)).trim() + JSON.stringify({ type: "summary", summary: "}{", leafUuid: "l" })
      const [conversation] = yield* conversations(text)
      assert.strictEqual(conversation.messages.length, 2)
      assert.deepStrictEqual(yield* errors(text), [])
    }))

  it.effect("marks what the client wrote, and summaries", () =>
    Effect.gen(function*() {
      const [conversation] = yield* conversations(lines([
        { type: "system", subtype: "compact_boundary", sessionId: "s" },
        user("This session continues another one.", { isCompactSummary: true }),
        assistant("m1", { type: "text", text: "API error" }, 0, {
          model: "<synthetic>",
          usage: { input_tokens: 0, output_tokens: 0 }
        })
      ]))
      const marks = conversation.messages.map((message) => message.options[format])
      assert.isTrue(marks[0]?.compactSummary)
      assert.isTrue(marks[1]?.synthetic)
      assert.deepStrictEqual(conversation.usage, [])
    }))

  it.effect("keeps calls that nobody answered and results that nobody asked for", () =>
    Effect.gen(function*() {
      const [conversation] = yield* conversations(lines([
        user([result("lost")]),
        assistant("m1", use("open"), 1),
        user([{ type: "text", text: "[Request interrupted by user]" }])
      ]))
      assert.deepStrictEqual(conversation.messages.map((message) => message.role), ["tool", "assistant", "user"])
      assert.strictEqual(Message.toolResults(conversation.messages[0])[0].name, "unknown")
    }))

  it.effect("writes the lines that it read", () =>
    Effect.gen(function*() {
      const [conversation] = yield* conversations(lines(session))
      const kept = session.filter((record) => record.type === "user" || record.type === "assistant")
        .map((record) => ({ ...record, toolUseResult: undefined }))
      // The third line of m1 is written beside the others.
      const ordered = [kept[0], kept[1], kept[2], kept[4], kept[3], kept[5], kept[6]]
      assert.deepStrictEqual(yield* encode(conversation), JSON.parse(JSON.stringify(ordered)))
    }))

  it.effect("names line and field of a bad record, and reads the others", () =>
    Effect.gen(function*() {
      const text = lines([session[1], { ...user("x"), message: { role: "user", content: 5 } }, session[2]])
      const [error] = yield* errors(text, { file: "a.jsonl" })
      assert.strictEqual(
        error.message,
        "a.jsonl, line 2: message.content is 5: expected text or a list"
      )
      assert.strictEqual((yield* conversations(text))[0].messages.length, 2)
    }))
})
