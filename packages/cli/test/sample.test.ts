import * as fs from "node:fs"
import { assert, describe, it } from "@effect/vitest"
import { Conversation, Format } from "@effect-memory/formats"
import { Chunk, Effect, Stream } from "effect"
import { Message, Transcript } from "effect-memory"

const text = fs.readFileSync(new URL("../examples/session.jsonl", import.meta.url), "utf8")

describe("the sample session", () => {
  it.effect("is one conversation with everything that makes trimming hard", () =>
    Effect.gen(function*() {
      const found = Chunk.toReadonlyArray(yield* Stream.runCollect(Format.read(Stream.make(text), { strict: true })))
      assert.lengthOf(found, 1)
      const [conversation] = found.filter(Conversation.isConversation)
      const { messages } = conversation
      assert.strictEqual(conversation.format, "native")
      assert.isAtLeast(messages.length, 90)

      const roles = messages.map(({ role }) => role)
      assert.strictEqual(roles.indexOf("system"), 0)
      assert.isAtLeast(roles.filter((role) => role === "user").length, 15)

      const calls = messages.map((message) => Message.toolCalls(message).length)
      assert.strictEqual(Math.max(...calls), 4)

      const rounds = Transcript.rounds(messages)
      assert.isAtLeast(Math.max(...rounds.map(({ groups }) => groups.length)), 12)

      const results = messages.flatMap(Message.toolResults)
      assert.isTrue(results.some(({ isFailure }) => isFailure))
      assert.isTrue(results.some(({ result }) => JSON.stringify(result).length > 3000))

      const pinned = messages.filter(({ options }) => options["effect-memory"]?.protected === true)
      assert.deepStrictEqual(pinned.map(({ role }) => role), ["user"])

      // The interjected question; nothing else is out of order.
      const findings = Transcript.diagnose(messages, "pairing")
      assert.deepStrictEqual(findings.map(({ _tag }) => _tag), ["ResultOutOfPlace"])
    }))
})
