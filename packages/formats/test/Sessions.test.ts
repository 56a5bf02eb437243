import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { Message } from "effect-memory"
import { conversations, encode, errors, lines, one } from "./utilities.js"

const usage = { input: 3, output: 7, cacheRead: 20, cacheWrite: 100 }

const header = { type: "session", id: "s", cwd: "/", timestamp: "t" }

const entry = (message: unknown) => ({ type: "message", timestamp: "t", message })

const pi = [
  header,
  { type: "thinking_level_change", thinkingLevel: "high" },
  entry({ role: "assistant", content: [], stopReason: "aborted", usage: { input: 0, output: 0 } }),
  entry({ role: "user", content: [{ type: "text", text: "Read both." }], timestamp: 1 }),
  entry({
    role: "assistant",
    content: [
      { type: "thinking", thinking: "Two.", thinkingSignature: "c2ln" },
      { type: "toolCall", id: "a", name: "read", arguments: { path: "a" }, partialJson: "{" },
      { type: "toolCall", id: "b", name: "read", arguments: { path: "b" } }
    ],
    usage,
    stopReason: "toolUse"
  }),
  entry({
    role: "toolResult",
    toolCallId: "a",
    toolName: "read",
    content: [{ type: "text", text: "x" }],
    isError: false
  }),
  entry({
    role: "toolResult",
    toolCallId: "b",
    toolName: "read",
    content: [{ type: "image", data: "AAAA", mimeType: "image/png" }],
    isError: true
  }),
  { type: "compaction", timestamp: "t", summary: "Both were read.", firstKeptEntryIndex: 4, tokensBefore: 175_000 },
  entry({ role: "bashExecution", command: "ls" })
]

describe("Pi", () => {
  it.effect("reads messages, compactions and usage", () =>
    Effect.gen(function*() {
      const [conversation] = yield* conversations(lines(pi))
      assert.strictEqual(conversation.format, "pi")
      assert.deepStrictEqual(conversation.messages.map((message) => message.role), [
        "assistant",
        "user",
        "assistant",
        "tool",
        "tool",
        "user"
      ])
      assert.isTrue(conversation.messages[5].options.pi?.compactSummary)
      assert.deepStrictEqual(conversation.usage, [{ messages: 2, inputTokens: 123, outputTokens: 7 }])
      assert.deepStrictEqual(conversation.notes, [
        { kind: "skipped", what: "entry \"thinking_level_change\"", count: 1 },
        { kind: "skipped", what: "message of role \"bashExecution\"", count: 1 }
      ])
    }))

  it.effect("writes the entries that it read", () =>
    Effect.gen(function*() {
      const [conversation] = yield* conversations(lines(pi))
      assert.deepStrictEqual(yield* encode(conversation), pi.filter((_, i) => i !== 1 && i !== 8))
    }))

  it.effect("names line and field of a bad entry", () =>
    Effect.gen(function*() {
      const [error] = yield* errors(lines([header, entry({ role: "user", content: 5 })]))
      assert.strictEqual(error.message, "line 2: message.content is 5: expected text or a list")
    }))
})

const gemini = {
  sessionId: "s",
  projectHash: "h",
  messages: [
    { id: "1", type: "user", content: "Write it." },
    {
      id: "2",
      type: "gemini",
      content: "",
      thoughts: [{ subject: "Writing", description: "Now.", timestamp: "t" }],
      tokens: { input: 12, output: 3, cached: 5, thoughts: 4, tool: 0, total: 19 },
      toolCalls: [
        {
          id: "w",
          name: "write_file",
          args: { path: "a" },
          status: "success",
          result: [{ functionResponse: { id: "w", name: "write_file", response: { output: "done" } } }],
          displayName: "WriteFile"
        },
        { id: "x", name: "shell", args: {}, status: "cancelled" },
        { id: "y", name: "shell", args: {}, status: "error", result: [{ text: "odd" }, { text: "form" }] }
      ]
    }
  ]
}

describe("GeminiCli", () => {
  it.effect("takes calls and results apart and puts them back", () =>
    Effect.gen(function*() {
      const conversation = yield* one(gemini)
      assert.strictEqual(conversation.format, "gemini-cli")
      assert.deepStrictEqual(conversation.messages.map((message) => Message.parts(message).map((part) => part.type)), [
        ["text"],
        ["reasoning", "tool-call", "tool-call", "tool-call"],
        ["tool-result", "tool-result"]
      ])
      assert.deepStrictEqual(conversation.usage, [{ messages: 1, inputTokens: 12, outputTokens: 7 }])
      assert.deepStrictEqual(yield* encode(conversation), [gemini])
    }))

  it.effect("skips and counts what is no part of the conversation", () =>
    Effect.gen(function*() {
      const info = { id: "0", type: "info", content: "Update available." }
      const conversation = yield* one({ ...gemini, messages: [info, ...gemini.messages] })
      assert.deepStrictEqual(conversation.notes, [{ kind: "skipped", what: "message \"info\"", count: 1 }])
      assert.strictEqual(conversation.messages.length, 3)
    }))
})
