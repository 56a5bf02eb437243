import { assert, describe, it } from "@effect/vitest"
import { Conversation, Format, Native } from "@effect-memory/formats"
import { Effect } from "effect"
import { Message } from "effect-memory"
import * as gen from "./generators.js"
import { conversations, errors, lines } from "./utilities.js"

const format = "native"

describe("Native", () => {
  it.effect("reads plain lines", () =>
    Effect.gen(function*() {
      const [conversation] = yield* conversations(lines([
        { role: "system", content: "Be brief." },
        { role: "user", content: "hi", id: 7 }
      ]))
      assert.strictEqual(conversation.format, format)
      assert.deepStrictEqual(conversation.messages, [Message.system("Be brief."), Message.user("hi")])
      assert.deepStrictEqual(conversation.notes, [{ kind: "skipped", what: "field \"id\"", count: 1 }])
    }))

  it.effect("keeps the mark of protected messages", () =>
    Effect.gen(function*() {
      const pinned = Message.user("Always in Latin.", { "effect-memory": { protected: true } })
      const { text } = yield* Format.encode(Conversation.make([pinned, Message.user("hi")]))
      const [conversation] = yield* conversations(text)
      assert.deepStrictEqual(conversation.messages.map(Native.isProtected), [true, false])
    }))

  it.effect("names line and field of a bad message", () =>
    Effect.gen(function*() {
      const [error] = yield* errors(
        lines([{ role: "user", content: "hi" }, { role: "user", content: [{ type: "text" }] }])
      )
      assert.deepStrictEqual([error.line, error.field], [2, "content.0.text"])
    }))

  it.effect("refuses values that JSON cannot say", () =>
    Effect.gen(function*() {
      const loop: { self?: unknown } = {}
      loop.self = loop
      const message = Message.assistant([Message.toolCall({ id: "a", name: "b", params: loop })])
      const error = yield* Effect.flip(Format.encode(Conversation.make([message])))
      assert.strictEqual(error._tag, "FormatError")
    }))

  it.effect.prop("gives back any messages", { messages: gen.messages }, ({ messages }) =>
    Effect.gen(function*() {
      const { notes, text } = yield* Format.encode(Conversation.make(messages), { format })
      const [conversation] = yield* conversations(text, { format })
      assert.deepStrictEqual(conversation?.messages ?? [], messages)
      assert.deepStrictEqual(notes, [])
    }))
})
