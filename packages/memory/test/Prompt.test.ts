import { Prompt } from "@effect/ai"
import { assert, describe, it } from "@effect/vitest"
import { Effect, FastCheck as fc } from "effect"
import { Message } from "effect-memory"
import { conversation, hostile, message, sendable } from "./generators.js"
import { makeMemory, runs } from "./utilities.js"

/** A value without the keys by which the prompt knows its messages and parts. */
const plain = (value: object): object =>
  Object.fromEntries(
    Object.entries(value).filter(([key]) => key !== Prompt.MessageTypeId && key !== Prompt.PartTypeId)
  )

const plainMessage = (message: Prompt.Message): object => ({
  ...plain(message),
  content: typeof message.content === "string" ? message.content : message.content.map(plain)
})

/** Assigning to the type of what the prompt takes is half of the proof. */
const promptOf = (context: ReadonlyArray<Message.Message>): Prompt.Prompt => {
  const input: Prompt.RawInput = context
  return Prompt.make(input)
}

const assertUnchanged = (context: ReadonlyArray<Message.Message>) => {
  const { content } = promptOf(context)
  assert.deepStrictEqual(content.map(plainMessage), context.map((message) => ({ ...message })))
}

describe("a context is what Prompt.make of @effect/ai takes", () => {
  it.effect.prop("any message", { message }, ({ message }) => Effect.sync(() => assertUnchanged([message])), runs(200))

  it.effect.prop("the contexts of conversations", {
    messages: fc.oneof(sendable, conversation, hostile),
    maxTokens: fc.option(fc.nat(200), { nil: undefined }),
    rules: fc.constantFrom("pairing" as const, "strict" as const, "none" as const)
  }, ({ maxTokens, messages, rules }) =>
    Effect.gen(function*() {
      const memory = yield* makeMemory({ maxTokens, rules })
      yield* memory.recordAll(messages)
      assertUnchanged(yield* memory.context)
    }).pipe(Effect.scoped), runs(100))

  it("bytes, URLs, options and all kinds of parts", () => {
    const options = { anthropic: { cacheControl: { type: "ephemeral" } } }
    const context = [
      Message.system("You look at pictures.", options),
      Message.user([
        Message.text("What is this?", options),
        Message.file({ mediaType: "image/png", data: Uint8Array.of(1, 2, 3), fileName: "a.png" }),
        Message.file({ mediaType: "image/png", data: new URL("https://example.com/a.png") }),
        Message.file({ mediaType: "image/png", data: "QUJD" })
      ]),
      Message.assistant([
        Message.reasoning("Hm.", { anthropic: { signature: "c2ln" } }),
        Message.toolCall({ id: "c1", name: "look", params: { at: ["a", null, 1.5] } }),
        Message.toolCall({ id: "c2", name: "web", params: {}, providerExecuted: true }),
        Message.toolResult({ id: "c2", name: "web", result: [], providerExecuted: true })
      ], options),
      Message.tool([Message.toolResult({ id: "c1", name: "look", result: null, isFailure: true, options })])
    ]
    assertUnchanged(context)
    const [, bytes] = promptOf(context).content[1].content as ReadonlyArray<Prompt.UserMessagePart>
    const [, given] = Message.parts(context[1])
    assert.strictEqual(Reflect.get(bytes, "data"), Reflect.get(given, "data"), "the same bytes, not a copy")
  })
})
