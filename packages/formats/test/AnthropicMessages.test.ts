import { assert, describe, it } from "@effect/vitest"
import { Conversation, Format } from "@effect-memory/formats"
import { Effect, FastCheck as fc } from "effect"
import { Message } from "effect-memory"
import * as gen from "./generators.js"
import { encode, normal, one } from "./utilities.js"

const format = "anthropic-messages"

const body = (...messages: ReadonlyArray<unknown>) => ({ model: "claude-x", max_tokens: 9, messages })

const use = (id: string) => ({ type: "tool_use", id, name: "weather", input: { city: "Oslo" } })

const result = (id: string, content: unknown = "rain") => ({ type: "tool_result", tool_use_id: id, content })

const cache = { cache_control: { type: "ephemeral" } }

const textBlock = fc.record({
  type: fc.constant("text"),
  text: gen.text,
  cache_control: gen.maybe(fc.constant({ type: "ephemeral" }))
})

const userBlock = fc.oneof(
  textBlock,
  fc.constantFrom(
    { type: "image", source: { type: "base64", media_type: "image/png", data: "AAAA" } },
    { type: "image", source: { type: "url", url: "https://example.org" }, ...cache },
    { type: "image", source: { type: "file", file_id: "f" } },
    {
      type: "document",
      source: { type: "base64", media_type: "application/pdf", data: "AAAA" },
      title: "T",
      context: "C"
    },
    { type: "document", source: { type: "text", media_type: "text/plain", data: "héllo" } },
    { type: "document", source: { type: "content", content: "x" } },
    { type: "container_upload", file_id: "f" },
    { type: "search_result", source: "s", title: "t", content: [] }
  ),
  fc.record({
    type: fc.constant("tool_result"),
    tool_use_id: gen.id,
    content: gen.maybe(fc.oneof(gen.text, fc.array(textBlock, { maxLength: 2 }))),
    is_error: gen.maybe(fc.boolean())
  })
)

const assistantBlock = fc.oneof(
  textBlock,
  fc.record({ type: fc.constant("thinking"), thinking: gen.text, signature: gen.maybe(gen.text) }),
  fc.record({ type: fc.constant("redacted_thinking"), data: gen.text }),
  fc.record({
    type: fc.constantFrom("tool_use", "server_tool_use"),
    id: gen.id,
    name: fc.constant("weather"),
    input: gen.value
  }),
  fc.record({
    type: fc.constant("mcp_tool_use"),
    id: gen.id,
    name: fc.constant("m"),
    server_name: fc.constant("s"),
    input: gen.value
  }),
  fc.record({
    type: fc.constantFrom("web_search_tool_result", "mcp_tool_result"),
    tool_use_id: gen.id,
    content: gen.value
  }),
  fc.record({ type: fc.constant("compaction"), content: fc.oneof(gen.text, fc.constant(null)) }),
  fc.record({ type: fc.constant("tool_result"), tool_use_id: gen.id, content: gen.text }),
  fc.constant({ type: "new_block", data: [1] })
)

const wire = fc.oneof(
  fc.record({ role: fc.constant("user"), content: fc.oneof(gen.text, fc.array(userBlock, { maxLength: 4 })) }),
  fc.record({
    role: fc.constant("assistant"),
    content: fc.oneof(gen.text, fc.array(assistantBlock, { maxLength: 4 }))
  }),
  fc.record({
    role: fc.constant("system"),
    content: fc.oneof(gen.text, fc.array(textBlock, { maxLength: 2 })),
    name: gen.maybe(gen.text)
  })
)

const system = gen.maybe(fc.oneof(gen.text, fc.array(textBlock, { maxLength: 3 })))

describe("AnthropicMessages", () => {
  it.effect("takes results out of user messages and puts them back", () =>
    Effect.gen(function*() {
      const value = body(
        { role: "assistant", content: [use("a"), use("b")] },
        { role: "user", content: [result("a"), result("b"), { type: "text", text: "and now?" }] }
      )
      const conversation = yield* one(value)
      assert.deepStrictEqual(conversation.messages.map((message) => message.role), ["assistant", "tool", "user"])
      assert.deepStrictEqual(conversation.messages.map((message) => message.options), [{}, {}, {}])
      assert.deepStrictEqual(yield* encode(conversation), [value])
    }))

  it.effect("keeps apart what stood apart, and joins results of other formats", () =>
    Effect.gen(function*() {
      const value = body(
        { role: "user", content: [result("a")] },
        { role: "user", content: [result("b")] },
        { role: "user", content: "go on" }
      )
      assert.deepStrictEqual(yield* encode(yield* one(value)), [value])
      const tool = (id: string) => Message.tool([Message.toolResult({ id, name: "weather", result: "rain" })])
      const foreign = Conversation.make([tool("a"), tool("b"), Message.user("go on")])
      assert.deepStrictEqual(yield* encode(foreign, format), [{
        messages: [{ role: "user", content: [result("a"), result("b"), { type: "text", text: "go on" }] }]
      }])
    }))

  it.effect("keeps signatures and redacted reasoning byte-identical", () =>
    Effect.gen(function*() {
      const value = body({
        role: "assistant",
        content: [
          { type: "thinking", thinking: "", signature: "EqQB+/=\u0000 " },
          { type: "redacted_thinking", data: "ErUB" },
          { type: "text", text: "Rain." }
        ]
      })
      const conversation = yield* one(value)
      assert.deepStrictEqual(
        conversation.messages,
        [Message.assistant([
          Message.reasoning("", { anthropic: { signature: "EqQB+/=\u0000 " } }),
          Message.reasoning("", { anthropic: { data: "ErUB" }, [format]: { type: "redacted_thinking" } }),
          Message.text("Rain.")
        ], {})].map((message) => ({ ...message }))
      )
      assert.deepStrictEqual(yield* encode(conversation), [value])
    }))

  it.effect("reads the system prompt, as text and as blocks, and system messages in between", () =>
    Effect.gen(function*() {
      const value = {
        ...body({ role: "user", content: "hi" }, { role: "system", content: "Be brief." }),
        system: [{ type: "text", text: "One." }, { type: "text", text: "Two.", ...cache }]
      }
      const conversation = yield* one(value)
      assert.deepStrictEqual(conversation.messages.map((message) => message.role), [
        "system",
        "system",
        "user",
        "system"
      ])
      assert.deepStrictEqual(conversation.messages[1].options.anthropic, cache)
      assert.deepStrictEqual(yield* encode(conversation), [value])
      const text = { ...body({ role: "user", content: "hi" }), system: "One." }
      assert.deepStrictEqual(yield* encode(yield* one(text)), [text])
    }))

  it.effect("reads lists with images in results as they stand", () =>
    Effect.gen(function*() {
      const content = [{ type: "image", source: { type: "base64", media_type: "image/png", data: "AAAA" } }]
      const value = body({ role: "user", content: [result("a", content)] })
      const conversation = yield* one(value)
      assert.deepStrictEqual(Message.toolResults(conversation.messages[0])[0].result, content)
      assert.deepStrictEqual(yield* encode(conversation), [value])
    }))

  it.effect("reads the server's tools as calls that it ran itself, and compaction as text", () =>
    Effect.gen(function*() {
      const value = body({
        role: "assistant",
        content: [
          { type: "compaction", content: "Earlier: rain." },
          { type: "server_tool_use", id: "s", name: "web_search", input: { query: "x" } },
          {
            type: "web_search_tool_result",
            tool_use_id: "s",
            content: { type: "web_search_tool_result_error", error_code: "e" }
          }
        ]
      })
      const conversation = yield* one(value)
      const [summary, search, found] = Message.parts(conversation.messages[0])
      assert.deepInclude(summary, { type: "text", text: "Earlier: rain." })
      assert.deepInclude(search, { type: "tool-call", providerExecuted: true })
      assert.deepInclude(found, { type: "tool-result", name: "web_search", providerExecuted: true, isFailure: true })
      assert.deepStrictEqual(yield* encode(conversation), [value])
    }))

  it.effect("adds up what was billed for a prompt", () =>
    Effect.gen(function*() {
      const conversation = yield* one({
        request: body({ role: "user", content: "hi" }),
        usage: { input_tokens: 3, cache_creation_input_tokens: null, cache_read_input_tokens: 1111, output_tokens: 7 },
        response: { type: "message", role: "assistant", content: [{ type: "text", text: "Hello." }] }
      })
      assert.deepStrictEqual(conversation.usage, [{ messages: 1, inputTokens: 1114, outputTokens: 7 }])
      assert.deepStrictEqual(conversation.messages, [Message.user("hi")])
      assert.deepStrictEqual(Message.parts(conversation.response[0]), [Message.text("Hello.")])
    }))

  it.effect("says what it cannot carry", () =>
    Effect.gen(function*() {
      const messages = [
        Message.user([Message.file({ mediaType: "video/mp4", data: "AAAA" })]),
        Message.assistant([Message.reasoning("hm")])
      ]
      const { notes } = yield* Format.encode(Conversation.make(messages), { format })
      assert.deepStrictEqual(notes, [
        { kind: "lost", what: "file of a type that is no image, PDF or text", count: 1 },
        { kind: "lost", what: "reasoning without a signature", count: 1 }
      ])
    }))

  it.effect("names the field at fault", () =>
    Effect.gen(function*() {
      const error = yield* Effect.flip(
        one(body({ role: "user", content: [{ type: "tool_result", content: "x" }] }), format)
      )
      assert.strictEqual(error?.message, "line 1: messages.0.content.0.tool_use_id is missing: expected text")
    }))

  it.effect.prop(
    "gives back any wire value",
    { messages: fc.array(wire, { maxLength: 6 }), system },
    ({ messages, system }) =>
      Effect.gen(function*() {
        const value = JSON.parse(JSON.stringify({ ...body(...messages), system }))
        const conversation = yield* one(value, format)
        const [written] = yield* encode(conversation)
        assert.deepStrictEqual(normal(written), normal(value))
        assert.deepStrictEqual((yield* one(written, format)).messages, conversation.messages)
      })
  )
})
