import { assert, describe, it } from "@effect/vitest"
import { Effect, FastCheck as fc } from "effect"
import { Message, Transcript } from "effect-memory"
import * as gen from "./generators.js"
import { encode, normal, one } from "./utilities.js"

const format = "openai-responses"

const body = (...input: ReadonlyArray<unknown>) => ({ model: "gpt-5", input })

const reasoning = {
  type: "reasoning",
  id: "rs_1",
  summary: [{ type: "summary_text", text: "Two steps." }],
  encrypted_content: "gAAAA+/="
}

const call = {
  type: "function_call",
  id: "fc_1",
  call_id: "call_1",
  name: "weather",
  arguments: "{ \"city\":\"Oslo\"}"
}

const answer = { type: "function_call_output", call_id: "call_1", output: "rain" }

const inputPart = fc.oneof(
  fc.record({ type: fc.constant("input_text"), text: gen.text }),
  fc.constantFrom(
    { type: "input_image", image_url: "data:image/png;base64,AAAA", detail: "low" },
    { type: "input_image", image_url: "https://example.org" },
    { type: "input_image", file_id: "file_1", detail: "auto" },
    { type: "input_file", filename: "a.pdf", file_data: "data:application/pdf;base64,AAAA" },
    { type: "input_file", file_url: "https://example.org/a.pdf" },
    { type: "input_audio", data: "AAAA" }
  )
)

const outputPart = fc.oneof(
  fc.record({ type: fc.constant("output_text"), text: gen.text, annotations: fc.constant([]) }),
  fc.record({ type: fc.constant("output_text"), text: gen.text }),
  fc.record({ type: fc.constant("refusal"), refusal: gen.text })
)

const item = fc.oneof(
  fc.record({
    type: gen.maybe(fc.constant("message")).map((type) => type ?? undefined),
    role: fc.constantFrom("user", "system", "developer"),
    content: fc.oneof(gen.text, fc.array(inputPart, { maxLength: 3 }))
  }),
  fc.record({
    role: fc.constant("assistant"),
    content: fc.oneof(gen.text, fc.array(outputPart, { maxLength: 3 })),
    id: gen.maybe(fc.constant("msg_1")),
    phase: gen.maybe(fc.constant("commentary"))
  }),
  fc.constantFrom<unknown>(
    reasoning,
    { type: "compaction", id: "cmp_1", encrypted_content: "gAAAA" },
    { type: "item_reference", id: "rs_9" },
    { type: "web_search_call", id: "ws_1", status: "completed", action: { type: "search", query: "x" } },
    { type: "mcp_list_tools", id: "m_1", server_label: "s", tools: [] },
    { type: "mcp_call", id: "m_2", server_label: "s", name: "x", arguments: "{}", output: "y", error: null },
    { type: "tool_search_call", call_id: "ts_1", execution: "client", arguments: {}, status: "completed" },
    { type: "tool_search_output", call_id: "ts_1", execution: "client", tools: [], status: "completed" },
    { type: "tool_search_call", call_id: null, id: "ts_2", execution: "server", arguments: {} },
    { type: "local_shell_call", call_id: "sh_1", id: "x", action: { command: ["ls"] } },
    { type: "additional_tools", role: "developer", tools: [{ name: "x" }] }
  ),
  fc.record({
    type: fc.constant("function_call"),
    call_id: gen.id,
    name: fc.constant("weather"),
    arguments: fc.constantFrom("", "{", "{ }", "{\"a\":1}"),
    id: gen.maybe(fc.constant("fc_1"))
  }),
  fc.record({
    type: fc.constant("function_call_output"),
    call_id: gen.id,
    output: fc.oneof(gen.text, fc.array(inputPart, { maxLength: 2 }))
  }),
  fc.record({ type: fc.constant("custom_tool_call"), call_id: gen.id, name: fc.constant("sql"), input: gen.text }),
  fc.record({ type: fc.constant("custom_tool_call_output"), call_id: gen.id, output: gen.text })
)

describe("OpenAiResponses", () => {
  it.effect("makes one assistant message of what the model produced in a row", () =>
    Effect.gen(function*() {
      const value = body(
        { role: "user", content: "Weather?" },
        reasoning,
        call,
        answer,
        {
          type: "message",
          id: "msg_1",
          role: "assistant",
          content: [{ type: "output_text", text: "Rain.", annotations: [] }]
        }
      )
      const conversation = yield* one(value)
      assert.deepStrictEqual(conversation.messages.map((message) => Message.parts(message).map((part) => part.type)), [
        ["text"],
        ["reasoning", "tool-call"],
        ["tool-result"],
        ["text"]
      ])
      assert.deepInclude(Message.parts(conversation.messages[1])[0], { text: "Two steps." })
      assert.deepStrictEqual(yield* encode(conversation), [value])
    }))

  it.effect("reads instructions and a plain text", () =>
    Effect.gen(function*() {
      const value = { model: "gpt-5", instructions: "Be brief.", input: "hi" }
      const conversation = yield* one(value)
      assert.deepStrictEqual(conversation.messages.map((message) => message.role), ["system", "user"])
      assert.deepStrictEqual(yield* encode(conversation), [value])
    }))

  it.effect("reads a response with its usage", () =>
    Effect.gen(function*() {
      const value = {
        id: "resp_1",
        object: "response",
        output: [reasoning, { type: "message", id: "m", role: "assistant", content: [] }],
        usage: { input_tokens: 7, output_tokens: 3 }
      }
      const conversation = yield* one(value)
      assert.deepStrictEqual(conversation.usage, [{ messages: 0, inputTokens: 7, outputTokens: 3 }])
      assert.deepStrictEqual(yield* encode(conversation), [value])
    }))

  it.effect("tells tools that the provider ran from those that the client runs", () =>
    Effect.gen(function*() {
      const conversation = yield* one(body(
        { type: "mcp_call", id: "m", server_label: "s", name: "find", arguments: "{}", output: "found" },
        { type: "tool_search_call", call_id: "t", execution: "client", arguments: {} },
        { type: "tool_search_output", call_id: "t", execution: "client", tools: [] }
      ))
      assert.deepStrictEqual(conversation.messages.map((message) => message.role), ["assistant", "tool"])
      assert.deepStrictEqual(Message.toolCalls(conversation.messages[0]).map((part) => part.id), ["t"])
    }))

  it.effect("keeps items of unknown types where a context is repaired by any rules", () =>
    Effect.gen(function*() {
      const items = [
        { type: "item_reference", id: "rs_9" },
        { type: "item_reference", id: "rs_9" },
        { type: "mcp_approval_response", approval_request_id: "a", approve: true }
      ]
      const conversation = yield* one(body({ role: "user", content: "Go on." }, ...items))
      for (const rules of ["openai", "strict"] as const) {
        assert.deepStrictEqual(Transcript.diagnose(conversation.messages, rules), [])
        const messages = Transcript.repair(conversation.messages, rules)
        const [written] = yield* encode({ ...conversation, messages })
        assert.deepStrictEqual(written, body({ role: "user", content: "Go on." }, ...items))
      }
    }))

  it.effect("names the field at fault", () =>
    Effect.gen(function*() {
      const error = yield* Effect.flip(one(body({ type: "function_call", call_id: "a", name: "b" }), format))
      assert.strictEqual(error?.message, "line 1: input.0.arguments is missing: expected text")
    }))

  it.effect.prop(
    "gives back any wire value",
    { input: fc.array(item, { maxLength: 6 }) },
    ({ input }) =>
      Effect.gen(function*() {
        const value = JSON.parse(JSON.stringify(body(...input)))
        const conversation = yield* one(value, format)
        const [written] = yield* encode(conversation)
        assert.deepStrictEqual(normal(written), normal(value))
        assert.deepStrictEqual((yield* one(written, format)).messages, conversation.messages)
      })
  )
})
