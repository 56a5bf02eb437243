import { Conversation, Format } from "@effect-memory/formats"
import { assert, describe, it } from "@effect/vitest"
import { Chunk, Effect, Stream } from "effect"

const body = { model: "gpt-4o", messages: [{ role: "user", content: "hi" }] }

describe("Format", () => {
  it.effect("reads a body and writes it back", () =>
    Effect.gen(function*() {
      const found = yield* Stream.runCollect(Format.read(Stream.make(JSON.stringify(body))))
      const [conversation] = Chunk.toReadonlyArray(found).filter(Conversation.isConversation)
      assert.strictEqual(conversation.format, "openai-chat")
      const written = yield* Format.encode(conversation)
      assert.deepStrictEqual(JSON.parse(written.text), body)
    }))
})
