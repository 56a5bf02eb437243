import { assert, describe, it } from "@effect/vitest"
import { Conversation, Format } from "@effect-memory/formats"
import { Effect, FastCheck as fc } from "effect"
import { Message } from "effect-memory"
import * as gen from "./generators.js"
import { conversations, encode, errors, lines, normal, one } from "./utilities.js"

const said = (from: string, value: string) => ({ from, value })

const sharegpt = (...conversation: ReadonlyArray<unknown>) => ({ conversations: conversation, tools: "[]" })

const callText = fc.constantFrom(
  "{\"name\": \"find\", \"arguments\": {\"a\": 1}}",
  "{\"name\":\"find\",\"arguments\":\"x\"}",
  "[{\"name\":\"a\",\"arguments\":{}},{\"name\":\"b\",\"arguments\":{}}]",
  "<function=run>ls</function>",
  ""
)

const turn = fc.oneof(
  fc.tuple(fc.constantFrom("human", "user", "gpt", "assistant", "system"), gen.text).map(([from, value]) =>
    said(from, value)
  ),
  callText.map((value) => said("function_call", value)),
  fc.constantFrom("rain", "[1, 2]", "[1,2]").map((value) => said("observation", value))
)

const part = fc.oneof(
  fc.record({ type: fc.constant("text"), value: gen.text }),
  fc.record({ type: fc.constant("reasoning"), value: gen.text }),
  callText.map((value) => ({ type: "tool_call", value })),
  fc.constant({ type: "image", value: "a.png" })
)

const row = fc.oneof(
  fc.record({
    role: fc.constantFrom("user", "system"),
    content: fc.oneof(gen.text, fc.array(fc.record({ type: fc.constant("text"), value: gen.text }), { maxLength: 3 }))
  }),
  fc.record({ role: fc.constant("assistant"), content: fc.array(part, { maxLength: 4 }) }),
  fc.record({
    role: fc.constant("tool"),
    content: fc.array(fc.record({ type: fc.constant("text"), value: fc.constantFrom("rain", "[1, 2]") }), {
      maxLength: 2
    })
  })
)

describe("ShareGpt", () => {
  it.effect("matches observations with the calls before them", () =>
    Effect.gen(function*() {
      const value = sharegpt(
        said("human", "Both?"),
        said("function_call", "[{\"name\": \"a\", \"arguments\": {}}, {\"name\": \"b\", \"arguments\": {}}]"),
        said("observation", "[\"one\", {\"two\": 2}]"),
        said("gpt", "Done.")
      )
      const conversation = yield* one(value)
      assert.strictEqual(conversation.format, "sharegpt")
      const calls = Message.toolCalls(conversation.messages[1])
      const results = Message.toolResults(conversation.messages[2])
      assert.deepStrictEqual(results.map((result) => result.id), calls.map((call) => call.id))
      assert.deepStrictEqual(results.map((result) => [result.name, result.result]), [["a", "one"], ["b", { two: 2 }]])
      assert.deepStrictEqual(yield* encode(conversation), [value])
    }))

  it.effect("reads calls that are plain text as text", () =>
    Effect.gen(function*() {
      const value = sharegpt(said("function_call", "<run>ls</run>"), said("observation", "a.txt"))
      const conversation = yield* one(value)
      assert.deepStrictEqual(conversation.messages.map((message) => message.role), ["assistant", "user"])
      assert.deepStrictEqual(yield* encode(conversation), [value])
    }))

  it.effect("reads the system prompt beside the conversation", () =>
    Effect.gen(function*() {
      const value = { id: "1", conversations: [said("human", "hi")], system: "Be brief." }
      const conversation = yield* one(value)
      assert.strictEqual(conversation.messages[0].role, "system")
      assert.deepStrictEqual(yield* encode(conversation), [value])
    }))

  it.effect("names a role that it does not know", () =>
    Effect.gen(function*() {
      const error = yield* Effect.flip(one(sharegpt(said("narrator", "secret")), "sharegpt"))
      assert.match(
        String(error?.message),
        /^line 1: conversations.0.from is a string of 8 characters: expected one of system, human/
      )
    }))

  it.effect.prop(
    "gives back any conversation",
    { turns: fc.array(turn, { maxLength: 7 }) },
    ({ turns }) =>
      Effect.gen(function*() {
        const value = sharegpt(...turns)
        const conversation = yield* one(value, "sharegpt")
        assert.deepStrictEqual(yield* encode(conversation), [value])
      })
  )

  it.effect.prop(
    "gives back any list of parts",
    { messages: fc.array(row, { maxLength: 6 }) },
    ({ messages }) =>
      Effect.gen(function*() {
        const value = { messages, tools: "[]" }
        const conversation = yield* one(value, "sharegpt")
        assert.deepStrictEqual((yield* encode(conversation)).map(normal), [normal(value)])
      })
  )
})

const node = (message_id: string, parent_id: string | null, role: string, rank?: number) => ({
  message_id,
  parent_id,
  role,
  rank: rank ?? null,
  text: message_id
})

const textOf = (message: Message.Message) => Message.parts(message).map((one) => "text" in one && one.text).join()

describe("Oasst", () => {
  const nodes = [
    node("root", null, "prompter"),
    node("worse", "root", "assistant", 1),
    node("better", "root", "assistant", 0),
    node("first", "better", "prompter"),
    node("second", "better", "prompter"),
    node("below", "worse", "prompter"),
    node("other", null, "prompter")
  ]

  it.effect("follows the best rank, else the first reply, in lists and lines", () =>
    Effect.gen(function*() {
      for (const text of [JSON.stringify(nodes), lines(nodes.toReversed())]) {
        const found = (yield* conversations(text)).toSorted((a, b) => b.messages.length - a.messages.length)
        assert.strictEqual(found.length, 2)
        const last = text.startsWith("[") ? "first" : "second"
        assert.deepStrictEqual(found[0].messages.map(textOf), ["root", "better", last])
        assert.deepStrictEqual(found[0].notes, [{ kind: "skipped", what: "reply of another branch", count: 3 }])
      }
    }))

  it.effect("gives out whole trees as soon as they are read", () =>
    Effect.gen(function*() {
      const tree = { message_tree_id: "t", prompt: { ...nodes[0], replies: [{ ...nodes[2], replies: [] }] } }
      const found = yield* conversations(lines([tree, tree]))
      assert.deepStrictEqual(found.map(({ line, messages }) => [line, messages.length]), [[1, 2], [2, 2]])
      assert.deepStrictEqual(yield* encode(found[0]), [tree])
    }))

  it.effect("names the node at fault", () =>
    Effect.gen(function*() {
      const tree = { prompt: { ...nodes[0], replies: [{ role: "assistant" }] } }
      const [error] = yield* errors(JSON.stringify(tree), { format: "oasst" })
      assert.strictEqual(error.message, "line 1: prompt.replies.0.text is missing: expected text")
    }))

  it.effect("ends where nodes are their own ancestors", () =>
    Effect.gen(function*() {
      const loop = [
        node("root", null, "prompter"),
        node("a", "b", "assistant"),
        node("b", "a", "prompter"),
        node("c", "c", "prompter")
      ]
      const found = yield* conversations(lines(loop))
      assert.deepStrictEqual(found.map(({ messages }) => messages.length), [1])
    }))
})

describe("MtBench", () => {
  it.effect("pairs questions and answers", () =>
    Effect.gen(function*() {
      const value = {
        question: { question_id: 1, category: "math", turns: ["a", "b"] },
        reference_answer: { model_id: "x", choices: [{ index: 0, turns: ["1", "2"] }] }
      }
      const conversation = yield* one(value)
      assert.deepStrictEqual(conversation.messages.map(textOf), ["a", "1", "b", "2"])
      assert.deepStrictEqual(yield* encode(conversation), [value])
      const bare = yield* one(value.question)
      assert.deepStrictEqual(bare.messages.map(textOf), ["a", "b"])
      assert.deepStrictEqual(yield* encode(bare), [value.question])
    }))
})

const lc = (name: string, kwargs: object) => ({
  lc: 1,
  type: "constructor",
  id: ["langchain_core", "messages", name],
  kwargs
})

describe("LangChain", () => {
  const messages = [
    lc("SystemMessage", { content: "Be brief." }),
    lc("HumanMessage", { content: [{ type: "text", text: "Weather?" }], additional_kwargs: {} }),
    lc("AIMessageChunk", {
      content: [
        { type: "thinking", thinking: "hm", signature: "c2ln" },
        { type: "tool_use", id: "a", name: "weather", input: { city: "Oslo" } }
      ],
      tool_calls: [{ id: "a", name: "weather", args: { city: "Oslo" }, type: "tool_call" }],
      usage_metadata: { input_tokens: 12, output_tokens: 3, total_tokens: 15 }
    }),
    lc("ToolMessage", { content: "down", tool_call_id: "a", status: "error" })
  ]

  it.effect("reads states, each a conversation of its own", () =>
    Effect.gen(function*() {
      const states = [{ messages: messages.slice(0, 2) }, { messages }]
      const found = yield* conversations(JSON.stringify(states))
      assert.deepStrictEqual(found.map((one) => [one.format, one.messages.length]), [["langchain", 2], [
        "langchain",
        4
      ]])
      assert.deepStrictEqual(Message.parts(found[1].messages[2]).map((part) => part.type), ["reasoning", "tool-call"])
      assert.deepInclude(Message.toolResults(found[1].messages[3])[0], { name: "weather", isFailure: true })
      assert.deepStrictEqual(found[1].usage, [{ messages: 2, inputTokens: 12, outputTokens: 3 }])
      assert.deepStrictEqual(yield* encode(found[1]), [states[1]])
    }))

  it.effect("skips and counts messages that are no part of the conversation", () =>
    Effect.gen(function*() {
      const conversation = yield* one([...messages, lc("RemoveMessage", { id: "x" })])
      assert.deepStrictEqual(conversation.notes, [{
        kind: "skipped",
        what: "message of class \"RemoveMessage\"",
        count: 1
      }])
    }))
})

describe("agents", () => {
  const chat = [{ role: "system", content: "s" }, { role: "user", content: "u" }]

  it.effect("are told apart by what stands beside their messages", () =>
    Effect.gen(function*() {
      const observation = { role: "user", content: "<returncode>0</returncode>" }
      const values: ReadonlyArray<readonly [string, unknown]> = [
        ["tau-bench", { task_id: 1, reward: 0, traj: chat }],
        ["openhands", { instance_id: "i", run_id: "r", messages: chat }],
        ["swe-agent", { history: chat, trajectory: [], info: {} }],
        ["swe-agent", { history: chat }],
        ["swe-agent", { instance_id: "i", traj_id: "t", messages: chat }],
        ["mini-swe-agent", [...chat, observation]],
        ["openai-chat", chat]
      ]
      for (const [format, value] of values) {
        const conversation = yield* one(value)
        assert.strictEqual(conversation.format, format)
        assert.deepStrictEqual(yield* encode(conversation), [value])
      }
    }))

  it.effect("name the call of a result in a list of one", () =>
    Effect.gen(function*() {
      const call = { id: "a", type: "function", function: { name: "edit", arguments: "{}" } }
      const history = [
        { role: "assistant", content: "I edit.", thought: "t", action: "edit", tool_calls: [call] },
        { role: "tool", content: "done", tool_call_ids: ["a"] }
      ]
      const conversation = yield* one({ history, trajectory: [] })
      assert.deepInclude(Message.toolResults(conversation.messages[1])[0], { id: "a", name: "edit" })
      assert.deepStrictEqual(yield* encode(conversation), [{ trajectory: [], history }])
    }))

  it.effect("leave media in results out of formats of text", () =>
    Effect.gen(function*() {
      const image = { type: "image", source: { type: "base64", media_type: "image/png", data: "AAAA" } }
      const result = Message.toolResult({ id: "a", name: "shot", result: [{ type: "text", text: "See" }, image] })
      const written = yield* Format.encode(Conversation.make([Message.tool([result])]), { format: "openai-chat" })
      assert.deepStrictEqual(JSON.parse(written.text).messages, [{
        role: "tool",
        content: "See\n[file]",
        tool_call_id: "a"
      }])
      assert.deepStrictEqual(written.notes, [{ kind: "lost", what: "file in a result", count: 1 }])
    }))
})
