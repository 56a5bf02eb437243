import { assert, describe, it } from "@effect/vitest"
import { Conversation, Format } from "@effect-memory/formats"
import { Effect, FastCheck as fc } from "effect"
import { Message } from "effect-memory"
import * as gen from "./generators.js"
import { encode, normal, one } from "./utilities.js"

const format = "openai-chat"

const body = (...messages: ReadonlyArray<unknown>) => ({ model: "gpt-4o", messages })

const call = (id: string, args: string) => ({ id, type: "function", function: { name: "weather", arguments: args } })

const part = fc.oneof(
  fc.record({ type: fc.constant("text"), text: gen.text }),
  fc.constant({ type: "image_url", image_url: { url: "data:image/png;base64,AAAA", detail: "low" } }),
  fc.constant({ type: "image_url", image_url: { url: "https://example.org/a b.png" } }),
  fc.constant({ type: "image_url", image_url: { url: "no link" } }),
  fc.constant({ type: "input_audio", input_audio: { data: "AAAA", format: "wav" } }),
  fc.constant({ type: "file", file: { filename: "a.pdf", file_data: "data:application/pdf;base64,AAAA" } }),
  fc.constant({ type: "file", file: { file_id: "file_1" } }),
  fc.constant({ type: "video_url", video_url: { url: "https://example.org" } })
)

const args = fc.oneof(
  fc.constantFrom("", "{", "{\"a\": 1}", "{\"a\":1,\"a\":2}", "12345678901234567890"),
  gen.value.map((v) => JSON.stringify(v))
)

const wireCall = fc.oneof(
  fc.tuple(gen.id, args).map(([id, made]) => call(id, made)),
  fc.record({
    id: gen.id,
    type: fc.constant("custom"),
    custom: fc.record({ name: fc.constant("sql"), input: gen.text })
  })
)

const wire = fc.oneof(
  fc.record({
    role: fc.constantFrom("system", "developer"),
    content: fc.oneof(gen.text, fc.array(part, { maxLength: 3 }))
  }),
  fc.record({
    role: fc.constant("user"),
    content: fc.oneof(gen.text, fc.array(part, { maxLength: 3 })),
    name: gen.maybe(gen.text)
  }),
  fc.record({
    role: fc.constant("assistant"),
    content: gen.maybe(
      fc.oneof(gen.text, fc.array(fc.record({ type: fc.constant("text"), text: gen.text }), { maxLength: 2 }))
    ),
    refusal: gen.maybe(gen.text),
    reasoning_content: gen.maybe(gen.text),
    tool_calls: gen.maybe(fc.array(wireCall, { maxLength: 3 })),
    function_call: fc.constantFrom(null, undefined, { name: "old", arguments: "{}" })
  }),
  fc.record({
    role: fc.constant("tool"),
    tool_call_id: gen.id,
    content: gen.maybe(gen.text),
    name: gen.maybe(gen.text)
  }),
  fc.record({ role: fc.constant("function"), name: fc.constant("old"), content: gen.text })
)

describe("OpenAiChat", () => {
  it.effect("keeps the text of arguments, also where it is not valid JSON", () =>
    Effect.gen(function*() {
      const value = body({
        role: "assistant",
        content: null,
        tool_calls: [call("a", "{ \"city\" : \"Oslo\" }"), call("b", "{\"city\":")]
      })
      const conversation = yield* one(value)
      assert.deepStrictEqual(Message.toolCalls(conversation.messages[0]).map((one) => one.params), [
        { city: "Oslo" },
        "{\"city\":"
      ])
      assert.deepStrictEqual(yield* encode(conversation), [value])
    }))

  it.effect("writes new arguments where the call was changed", () =>
    Effect.gen(function*() {
      const conversation = yield* one(body({ role: "assistant", tool_calls: [call("a", "{ \"city\" : \"Oslo\" }")] }))
      const [read] = Message.toolCalls(conversation.messages[0])
      const messages = [Message.assistant([{ ...read, params: { city: "Rome" } }])]
      const [written] = yield* encode({ ...conversation, messages })
      assert.deepStrictEqual(
        written,
        body({ role: "assistant", content: null, tool_calls: [call("a", "{\"city\":\"Rome\"}")] })
      )
    }))

  it.effect("tells null, empty and absent content apart", () =>
    Effect.gen(function*() {
      const calls = [call("a", "{}")]
      const value = body(
        { role: "assistant", content: null, tool_calls: calls },
        { role: "assistant", content: "", tool_calls: calls, function_call: null },
        { role: "assistant", tool_calls: calls },
        { role: "assistant", content: [], tool_calls: calls },
        { role: "user", content: "" },
        { role: "user", content: [{ type: "text", text: "hi" }] }
      )
      const conversation = yield* one(value)
      assert.deepStrictEqual(conversation.messages.slice(0, 4).map((message) => message.content.length), [1, 1, 1, 1])
      const [written] = yield* encode(conversation)
      const { function_call: _, ...second } = value.messages[1] as { function_call: null }
      assert.deepStrictEqual(written, { ...value, messages: value.messages.with(1, second) })
    }))

  it.effect("names results after their calls", () =>
    Effect.gen(function*() {
      const conversation = yield* one(body(
        { role: "assistant", content: null, tool_calls: [call("a", "{}")] },
        { role: "tool", tool_call_id: "a", content: "rain" }
      ))
      assert.deepStrictEqual(
        conversation.messages[1],
        Message.tool([
          Message.toolResult({ id: "a", name: "weather", result: "rain" })
        ])
      )
    }))

  it.effect("reads images, links and developer messages", () =>
    Effect.gen(function*() {
      const conversation = yield* one(body({ role: "developer", content: "Be brief." }, {
        role: "user",
        content: [
          { type: "image_url", image_url: { url: "data:image/png;base64,AAAA", detail: "high" } },
          { type: "image_url", image_url: { url: "https://example.org/a.png" } }
        ]
      }))
      assert.deepStrictEqual(conversation.messages, [
        Message.system("Be brief.", { openai: { role: "developer" } }),
        Message.user([
          Message.file({ mediaType: "image/png", data: "AAAA", options: { openai: { detail: "high" } } }),
          Message.file({ mediaType: "image/*", data: new URL("https://example.org/a.png") })
        ])
      ])
    }))

  it.effect("reads a response as one assistant message", () =>
    Effect.gen(function*() {
      const response = {
        id: "r",
        object: "chat.completion",
        choices: [{ index: 0, finish_reason: "stop", message: { role: "assistant", content: "Rain." } }],
        usage: { prompt_tokens: 9, completion_tokens: 2 }
      }
      const conversation = yield* one(response)
      assert.deepStrictEqual(conversation.messages, [Message.assistant("Rain.")])
      assert.deepStrictEqual(yield* encode(conversation), [response])
    }))

  it.effect("reads the trajectories of agents", () =>
    Effect.gen(function*() {
      const value = { task_id: 1, reward: 0, traj: [{ role: "user", content: "hi" }] }
      const conversation = yield* one(value, format)
      assert.deepStrictEqual(conversation.messages, [Message.user("hi")])
      assert.deepStrictEqual(yield* encode(conversation), [value])
    }))

  it.effect("says what it cannot carry", () =>
    Effect.gen(function*() {
      const messages = [
        Message.assistant([
          Message.reasoning("hm"),
          Message.toolCall({ id: "s", name: "web", params: {}, providerExecuted: true })
        ]),
        Message.tool([Message.toolResult({ id: "a", name: "weather", result: "no", isFailure: true })])
      ]
      const { notes } = yield* Format.encode(Conversation.make(messages), { format })
      assert.deepStrictEqual(notes, [
        { kind: "lost", what: "reasoning", count: 1 },
        { kind: "lost", what: "call that the provider ran itself", count: 1 },
        { kind: "lost", what: "whether a tool failed", count: 1 }
      ])
    }))

  it.effect("names the field at fault and quotes nothing", () =>
    Effect.gen(function*() {
      const error = yield* Effect.flip(
        one(body({ role: "user", content: [{ type: "text", text: { secret: 1 } }] }), format)
      )
      assert.strictEqual(
        error?.message,
        "line 1: messages.0.content.0.text is an object: expected text"
      )
    }))

  it.effect.prop(
    "gives back any wire value",
    { messages: fc.array(wire, { maxLength: 6 }) },
    ({ messages }) =>
      Effect.gen(function*() {
        const value = JSON.parse(JSON.stringify(body(...messages)))
        const conversation = yield* one(value, format)
        const [written] = yield* encode(conversation)
        assert.deepStrictEqual(normal(written), normal(value))
        assert.deepStrictEqual((yield* one(written, format)).messages, conversation.messages)
      })
  )
})
