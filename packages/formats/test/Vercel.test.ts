import { assert, describe, it } from "@effect/vitest"
import { Conversation, Format } from "@effect-memory/formats"
import { Effect, FastCheck as fc } from "effect"
import { Message } from "effect-memory"
import * as gen from "./generators.js"
import { assertStable, encode, normal, one } from "./utilities.js"

const signed = { providerMetadata: { anthropic: { signature: "EqQB" } } }

const tool = (state: string, more: object = {}) => ({
  type: "tool-weather",
  toolCallId: "a",
  state,
  input: { city: "Oslo" },
  ...more
})

const uiPart = fc.oneof(
  fc.record({ type: fc.constant("text"), text: gen.text, state: fc.constantFrom("done", undefined) }),
  fc.constantFrom<unknown>(
    { type: "step-start" },
    { type: "reasoning", text: "hm", ...signed },
    { type: "file", mediaType: "image/png", url: "data:image/png;base64,AAAA" },
    { type: "file", mediaType: "image/png", url: "https://example.org" },
    { type: "source-url", sourceId: "s", url: "https://example.org" },
    { type: "data-chart", data: { a: 1 } },
    tool("input-streaming"),
    tool("input-available"),
    tool("output-available", { output: { sky: "grey" } }),
    tool("output-error", { errorText: "no" }),
    tool("output-available", { output: "x", providerExecuted: true }),
    { ...tool("approval-requested"), approval: { id: "p" } },
    { type: "dynamic-tool", toolName: "mcp.find", toolCallId: "d", state: "output-available", input: null, output: 1 }
  )
)

const ui = fc.record({
  id: fc.constantFrom("", "m1"),
  role: fc.constantFrom("user", "assistant", "assistant"),
  parts: fc.array(uiPart, { maxLength: 5 }),
  metadata: gen.maybe(fc.constant({ at: 1 }))
})

/** Results have one place for each call id, so ids are made different. */
const distinct = (messages: ReadonlyArray<{ readonly role: string; readonly parts: ReadonlyArray<unknown> }>) => {
  let count = 0
  return messages.map((message) => ({
    ...message,
    parts: message.parts.map((part) =>
      "toolCallId" in Object(part) ? { ...Object(part), toolCallId: `c${count++}` } : part
    )
  }))
}

const output = fc.constantFrom<unknown>(
  { type: "text", value: "a" },
  { type: "json", value: { a: 1 } },
  { type: "json", value: "a" },
  { type: "error-text", value: "a" },
  { type: "error-json", value: { a: 1 } },
  { type: "content", value: [{ type: "text", text: "a" }] },
  { type: "execution-denied", reason: "no" }
)

const result = fc.record({
  type: fc.constant("tool-result"),
  toolCallId: gen.id,
  toolName: fc.constant("weather"),
  output
})

const modelPart = fc.oneof(
  fc.record({ type: fc.constant("text"), text: gen.text }),
  fc.constantFrom<unknown>(
    { type: "reasoning", text: "hm", providerOptions: { anthropic: { signature: "EqQB" } } },
    { type: "file", mediaType: "application/pdf", data: "AAAA", filename: "a.pdf" },
    { type: "file", mediaType: "image/png", data: "data:image/png;base64,AAAA" },
    { type: "file", mediaType: "image/png", data: "https://example.org" },
    { type: "image", image: "AAAA" },
    { type: "tool-approval-request", approvalId: "p", toolCallId: "a" },
    { type: "tool-call", toolCallId: "s", toolName: "web", input: {}, providerExecuted: true }
  ),
  fc.record({ type: fc.constant("tool-call"), toolCallId: gen.id, toolName: fc.constant("weather"), input: gen.value }),
  result
)

const model = fc.oneof(
  fc.record({ role: fc.constant("system"), content: gen.text }),
  fc.record({
    role: fc.constantFrom("user", "assistant"),
    content: fc.oneof(gen.text, fc.array(modelPart, { maxLength: 3 })),
    providerOptions: gen.maybe(fc.constant({ anthropic: { cacheControl: { type: "ephemeral" } } })).map((one) =>
      one ?? undefined
    )
  }),
  fc.record({ role: fc.constant("tool"), content: fc.array(result, { maxLength: 2 }) })
)

const clean = (value: unknown) => JSON.parse(JSON.stringify(value))

describe("VercelUi", () => {
  it.effect("takes the results out of the parts, step by step", () =>
    Effect.gen(function*() {
      const messages = [
        { id: "u", role: "user", parts: [{ type: "text", text: "Weather?" }] },
        {
          id: "a",
          role: "assistant",
          parts: [
            { type: "step-start" },
            tool("output-available", { output: "rain" }),
            { ...tool("output-error", { errorText: "no" }), toolCallId: "b" },
            { type: "step-start" },
            { type: "text", text: "Rain.", state: "done" },
            { ...tool("input-available"), toolCallId: "c" }
          ]
        }
      ]
      const conversation = yield* one(messages)
      assert.strictEqual(conversation.format, "vercel-ui")
      assert.deepStrictEqual(conversation.messages.map((message) => message.role), [
        "user",
        "assistant",
        "tool",
        "assistant"
      ])
      assert.deepStrictEqual(
        Message.toolResults(conversation.messages[2]).map((part) => [part.id, part.result, part.isFailure]),
        [["a", "rain", false], ["b", "no", true]]
      )
      assert.deepStrictEqual(yield* encode(conversation), [messages])
    }))

  it.effect("leaves results of the provider's tools in the assistant message", () =>
    Effect.gen(function*() {
      const parts = [tool("output-available", { output: { a: 1 }, providerExecuted: true })]
      const conversation = yield* one([{ id: "a", role: "assistant", parts }])
      assert.deepStrictEqual(Message.parts(conversation.messages[0]).map((part) => part.type), [
        "tool-call",
        "tool-result"
      ])
    }))

  it.effect("hands signatures on to other formats", () =>
    Effect.gen(function*() {
      const conversation = yield* one([{
        id: "a",
        role: "assistant",
        parts: [{ type: "reasoning", text: "hm", ...signed }]
      }])
      const [written] = yield* encode(conversation, "anthropic-messages")
      assert.deepStrictEqual(written, {
        messages: [{ role: "assistant", content: [{ type: "thinking", thinking: "hm", signature: "EqQB" }] }]
      })
    }))

  it.effect("counts results whose call is missing", () =>
    Effect.gen(function*() {
      const lone = Conversation.make([Message.tool([Message.toolResult({ id: "x", name: "y", result: 1 })])])
      const { notes } = yield* Format.encode(lone, { format: "vercel-ui" })
      assert.deepStrictEqual(notes, [{ kind: "lost", what: "result that answers no call before it", count: 1 }])
    }))

  it.effect("tells results of the client from those of the provider where ids repeat", () => {
    const call = Message.toolCall({ id: "x", name: "y", params: {} })
    const result = Message.toolResult({ id: "x", name: "y", result: 1 })
    const messages = [
      Message.assistant([result, { ...result, result: 2 }]),
      Message.assistant([call, { ...call, providerExecuted: true }])
    ]
    return Effect.asVoid(assertStable(messages, "vercel-ui"))
  })

  it.effect.prop(
    "gives back any wire value",
    { messages: fc.array(ui, { maxLength: 4 }) },
    ({ messages }) =>
      Effect.gen(function*() {
        const value = clean(distinct(messages))
        const conversation = yield* one({ messages: value }, "vercel-ui")
        const [written] = yield* encode(conversation)
        assert.deepStrictEqual(normal(written), normal({ messages: value }))
      })
  )
})

describe("VercelModel", () => {
  it.effect("reads results by the kind of their output", () =>
    Effect.gen(function*() {
      const content = [
        { type: "tool-result", toolCallId: "a", toolName: "x", output: { type: "text", value: "rain" } },
        { type: "tool-result", toolCallId: "b", toolName: "x", output: { type: "error-json", value: { code: 1 } } }
      ]
      const value = [{ role: "tool", content }]
      const conversation = yield* one(value)
      assert.strictEqual(conversation.format, "vercel-model")
      assert.deepStrictEqual(conversation.messages, [Message.tool([
        Message.toolResult({ id: "a", name: "x", result: "rain" }),
        Message.toolResult({ id: "b", name: "x", result: { code: 1 }, isFailure: true })
      ])])
      assert.deepStrictEqual(yield* encode(conversation), [value])
    }))

  it.effect("keeps approvals beside results", () =>
    Effect.gen(function*() {
      const content = [
        { type: "tool-approval-response", approvalId: "p", approved: true },
        { type: "tool-result", toolCallId: "a", toolName: "x", output: { type: "text", value: "rain" } }
      ]
      const conversation = yield* one([{ role: "tool", content }])
      assert.strictEqual(conversation.messages[0].content.length, 1)
      assert.deepStrictEqual(yield* encode(conversation), [[{ role: "tool", content }]])
    }))

  it.effect.prop(
    "gives back any wire value",
    { messages: fc.array(model, { maxLength: 5 }) },
    ({ messages }) =>
      Effect.gen(function*() {
        const value = clean({ messages })
        const conversation = yield* one(value, "vercel-model")
        const [written] = yield* encode(conversation)
        assert.deepStrictEqual(normal(written), normal(value))
        assert.deepStrictEqual((yield* one(written, "vercel-model")).messages, conversation.messages)
      })
  )
})
