import { assert, describe, it } from "@effect/vitest"
import { Effect, FastCheck as fc } from "effect"
import { Message } from "effect-memory"
import * as gen from "./generators.js"
import { encode, normal, one } from "./utilities.js"

const format = "gemini"

const call = (id: string | undefined, name = "weather") => ({
  functionCall: { id, name, args: { city: "Oslo" } },
  thoughtSignature: "CpYE+/="
})

const response = (id: string | undefined, name = "weather", value: unknown = { output: "rain" }) => ({
  functionResponse: { id, name, response: value }
})

const user = (...parts: ReadonlyArray<unknown>) => ({ role: "user", parts })

const model = (...parts: ReadonlyArray<unknown>) => ({ role: "model", parts })

const clean = (value: unknown): unknown => JSON.parse(JSON.stringify(value))

const media = fc.constantFrom<unknown>(
  { inlineData: { mimeType: "image/png", data: "AAAA" } },
  { inlineData: { data: "AAAA", displayName: "a" } },
  { fileData: { mimeType: "application/pdf", fileUri: "https://example.org" } },
  { fileData: { fileUri: "files/abc" } },
  { inline_data: { mime_type: "image/png", data: "AAAA" } },
  { videoMetadata: {} }
)

const textPart = fc.record({ text: gen.text, thoughtSignature: gen.maybe(fc.constant("sig")) })

const object = fc.dictionary(fc.constantFrom("output", "error", "a"), gen.value, { maxKeys: 2 })

const functionId = gen.maybe(gen.id).map((id) => id ?? undefined)

const userPart = fc.oneof(
  textPart,
  media,
  fc.tuple(functionId, object).map(([id, made]) => response(id, "weather", made))
)

const modelPart = fc.oneof(
  textPart,
  media,
  functionId.map((id) => call(id)),
  fc.record({ text: gen.text, thought: fc.constant(true) }),
  fc.constantFrom<unknown>(
    { executableCode: { language: "PYTHON", code: "1" }, thoughtSignature: "s" },
    { codeExecutionResult: { outcome: "OUTCOME_OK", output: "1" } },
    { toolCall: { id: "t", toolType: "GOOGLE_SEARCH" } },
    { toolResponse: { id: "t", toolType: "GOOGLE_SEARCH", response: {} } }
  )
)

const content = fc.oneof(
  fc.record({ role: fc.constantFrom("user", "function"), parts: fc.array(userPart, { maxLength: 3 }) }),
  fc.record({ parts: fc.array(userPart, { maxLength: 2 }) }),
  fc.record({ role: fc.constant("model"), parts: fc.array(modelPart, { maxLength: 4 }) }),
  fc.constant({ role: "model" })
)

describe("Gemini", () => {
  it.effect("gives calls without an id one, and the response of the same name the same", () =>
    Effect.gen(function*() {
      const value = {
        contents: [
          user({ text: "Compare." }),
          model(call(undefined), call(undefined), call(undefined, "time")),
          user(response(undefined, "time"), response(undefined), response(undefined))
        ]
      }
      const conversation = yield* one(clean(value))
      const calls = Message.toolCalls(conversation.messages[1]).map((part) => part.id)
      const results = Message.toolResults(conversation.messages[2]).map((part) => part.id)
      assert.deepStrictEqual(results, [calls[2], calls[0], calls[1]])
      assert.deepStrictEqual(yield* encode(conversation), [clean(value)])
    }))

  it.effect("keeps signatures byte-identical", () =>
    Effect.gen(function*() {
      const value = { contents: [model({ text: "hm", thought: true }, call("a"))] }
      const conversation = yield* one(value)
      assert.deepStrictEqual(Message.parts(conversation.messages[0])[1].options, {
        google: { thoughtSignature: "CpYE+/=" }
      })
      assert.deepStrictEqual(yield* encode(conversation), [value])
    }))

  it.effect("takes plain results and errors out of their objects", () =>
    Effect.gen(function*() {
      const results = user(response("a"), response("b", "x", { error: "no" }), response("c", "x", { rows: 1 }))
      const conversation = yield* one({ contents: [results] })
      const found = Message.toolResults(conversation.messages[0])
      assert.deepStrictEqual(found.map((part) => [part.result, part.isFailure]), [
        ["rain", false],
        ["no", true],
        [{ rows: 1 }, false]
      ])
      assert.deepStrictEqual(yield* encode(conversation), [{ contents: [results] }])
    }))

  it.effect("writes all system messages into the instruction", () =>
    Effect.gen(function*() {
      const value = {
        contents: [user({ text: "hi" })],
        systemInstruction: { role: "user", parts: [{ text: "A" }, { text: "B" }] }
      }
      const conversation = yield* one(value)
      assert.deepStrictEqual(conversation.messages.map((message) => message.role), ["system", "system", "user"])
      assert.deepStrictEqual(yield* encode(conversation), [value])
    }))

  it.effect("counts thoughts as output", () =>
    Effect.gen(function*() {
      const conversation = yield* one({
        candidates: [{ content: model({ text: "Rain." }), finishReason: "STOP" }],
        usageMetadata: { promptTokenCount: 12, candidatesTokenCount: 3, thoughtsTokenCount: 30 }
      })
      assert.deepStrictEqual(conversation.usage, [{ messages: 0, inputTokens: 12, outputTokens: 33 }])
    }))

  it.effect.prop(
    "gives back any wire value",
    { contents: fc.array(content, { maxLength: 6 }) },
    ({ contents }) =>
      Effect.gen(function*() {
        const value = clean({ contents, generationConfig: {} })
        const conversation = yield* one(value, format)
        const [written] = yield* encode(conversation)
        assert.deepStrictEqual(normal(written), normal(value))
        assert.deepStrictEqual((yield* one(written, format)).messages, conversation.messages)
      })
  )
})
