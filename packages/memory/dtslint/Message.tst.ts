import { Prompt } from "@effect/ai"
import type { Effect, Schema } from "effect"
import { type MemoryError, Message, Transcript } from "effect-memory"
import { describe, expect, it } from "tstyche"

declare const messages: Array<Message.Message>

describe("Message and @effect/ai", () => {
  it("a message is one that a prompt is made of", () => {
    expect<Message.Message>().type.toBeAssignableTo<Prompt.MessageEncoded>()
    expect<Message.SystemMessage>().type.toBeAssignableTo<Prompt.SystemMessageEncoded>()
    expect<Message.UserMessage>().type.toBeAssignableTo<Prompt.UserMessageEncoded>()
    expect<Message.AssistantMessage>().type.toBeAssignableTo<Prompt.AssistantMessageEncoded>()
    expect<Message.ToolMessage>().type.toBeAssignableTo<Prompt.ToolMessageEncoded>()
    expect(Prompt.make).type.toBeCallableWith(messages)
  })

  it("a message of a prompt is a message", () => {
    expect<Prompt.Message>().type.toBeAssignableTo<Message.Message>()
    expect<Prompt.SystemMessage>().type.toBeAssignableTo<Message.SystemMessage>()
    expect<Prompt.UserMessage>().type.toBeAssignableTo<Message.UserMessage>()
    expect<Prompt.AssistantMessage>().type.toBeAssignableTo<Message.AssistantMessage>()
    expect<Prompt.ToolMessage>().type.toBeAssignableTo<Message.ToolMessage>()
  })

  it("an encoded message of a prompt can be decoded", () => {
    expect<Prompt.MessageEncoded>().type.toBeAssignableTo<Message.MessageEncoded>()
  })
})

describe("Message", () => {
  it("the schema needs nothing, and names its encoded side", () => {
    expect(Message.Message).type.toBe<Schema.Schema<Message.Message, Message.MessageEncoded>>()
    expect(Message.fromUnknown(1)).type.toBe<Effect.Effect<Message.Message, MemoryError.InvalidMessage>>()
  })

  it("a message is an encoded message", () => {
    expect<Message.Message>().type.toBeAssignableTo<Message.MessageEncoded>()
  })

  it("constructors answer the message of their role", () => {
    expect(Message.system("s")).type.toBe<Message.SystemMessage>()
    expect(Message.user("u")).type.toBe<Message.UserMessage>()
    expect(Message.assistant("a")).type.toBe<Message.AssistantMessage>()
    expect(Message.tool([])).type.toBe<Message.ToolMessage>()
  })

  it("a message holds the parts of its role only", () => {
    const call = Message.toolCall({ id: "c", name: "n", params: {} })
    const result = Message.toolResult({ id: "c", name: "n", result: 1 })
    const file = Message.file({ mediaType: "image/png", data: new URL("https://example.com/a.png") })
    expect(Message.assistant).type.toBeCallableWith([Message.reasoning("r"), Message.text("t"), call, result, file])
    expect(Message.user).type.toBeCallableWith([Message.text("t"), file])
    expect(Message.user).type.not.toBeCallableWith([call])
    expect(Message.tool).type.toBeCallableWith([result])
    expect(Message.tool).type.not.toBeCallableWith([Message.text("t")])
    expect(Message.system).type.not.toBeCallableWith([Message.text("t")])
  })

  it("guards narrow", () => {
    const part = Message.parts(messages[0])[0]
    if (Message.isToolCall(part)) expect(part).type.toBe<Message.ToolCallPart>()
    if (Message.isToolResult(part)) expect(part).type.toBe<Message.ToolResultPart>()
    const value: unknown = messages[0]
    if (Message.isMessage(value)) expect(value).type.toBe<Message.Message>()
  })
})

describe("Transcript", () => {
  it("repair has both forms", () => {
    expect(Transcript.repair(messages, "pairing")).type.toBe<ReadonlyArray<Message.Message>>()
    expect(Transcript.repair("strict")(messages)).type.toBe<ReadonlyArray<Message.Message>>()
    expect(Transcript.repair).type.not.toBeCallableWith(messages, "none")
  })
})
