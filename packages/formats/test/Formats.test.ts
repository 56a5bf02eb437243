import { assert, describe, it } from "@effect/vitest"
import { Conversation, Format } from "@effect-memory/formats"
import { Effect } from "effect"
import { Message } from "effect-memory"
import * as gen from "./generators.js"
import { assertStable } from "./utilities.js"

describe("every format", () => {
  it("has a name of its own", () => {
    assert.strictEqual(new Set(Format.all.map(({ id }) => id)).size, Format.all.length)
  })

  /** Nothing tells them from chat messages but what only their agents know. */
  const like: { readonly [id: string]: string } = { openhands: "openai-chat", "mini-swe-agent": "openai-chat" }

  for (const { id } of Format.all) {
    it.effect(`${id} is found by content where it was written from another one`, () =>
      Effect.gen(function*() {
        const talk = [
          Message.user("Where is the zoo?"),
          Message.assistant([
            Message.text("I look."),
            Message.toolCall({ id: "a", name: "find", params: { q: "zoo" } })
          ]),
          Message.tool([Message.toolResult({ id: "a", name: "find", result: "north" })]),
          Message.assistant("In the north."),
          Message.user("Thanks.")
        ]
        const { text } = yield* Format.encode({ ...Conversation.make(talk), format: "another" }, { format: id })
        assert.strictEqual((yield* Format.detect(text)).id, like[id] ?? id)
      }))

    it.effect.prop(
      `${id} gives back messages that went through it`,
      { messages: gen.messages },
      ({ messages }) => Effect.asVoid(assertStable(messages, id)),
      { fastCheck: { numRuns: 25 } }
    )
  }
})
