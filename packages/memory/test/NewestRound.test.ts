import { assert, describe, it } from "@effect/vitest"
import { FastCheck as fc } from "effect"
import { Message } from "effect-memory"
import { NewestRound } from "../src/internal/newestRound.js"
import { Pairing } from "../src/internal/pairing.js"
import { repairRound } from "../src/internal/repairRound.js"
import { conversation, hostile, sendable } from "./generators.js"
import { assertMessages, runs } from "./utilities.js"

const weightOf = (message: Message.Message): number => message.content.length

const open = (counts: WeakMap<Message.Message, number>, repair = true, used: ReadonlyArray<string> = []) =>
  new NewestRound({
    repair,
    usedIds: new Set(used),
    forms: new WeakMap(),
    isCounted: (message) => counts.has(message),
    charge: (message) => counts.get(message) ?? 0
  })

/** The repaired form of all messages together. */
const madeAnew = (messages: ReadonlyArray<Message.Message>, repair: boolean, used: ReadonlyArray<string>) => {
  const pairing = new Pairing()
  for (const message of messages) pairing.push(message)
  return repair
    ? repairRound(messages, pairing, { start: 0, end: messages.length }, false, new Set(used))
    : messages.map((message, source) => ({ message, source }))
}

const call = (...ids: ReadonlyArray<string>) =>
  Message.assistant(ids.map((id) => Message.toolCall({ id, name: "look", params: {} })))

const result = (...ids: ReadonlyArray<string>) =>
  Message.tool(ids.map((id) => Message.toolResult({ id, name: "look", result: "seen" })))

describe("the newest round", () => {
  it.prop(
    "grows to what it would be made to, whenever it is looked at",
    [fc.oneof(sendable, conversation, hostile), fc.boolean(), fc.infiniteStream(fc.boolean())],
    ([messages, repair, looks]) => {
      const counts = new WeakMap<Message.Message, number>()
      const used = ["c1", "call-1"]
      const growing = open(counts, repair, used)
      messages.forEach((message, i) => {
        growing.push(message, message)
        if (looks.next().value !== true && i < messages.length - 1) return
        const anew = madeAnew(messages.slice(0, i + 1), repair, used)
        assert.deepStrictEqual(growing.repaired.map(({ source }) => source), anew.map(({ source }) => source))
        assertMessages(growing.repaired.map(({ message }) => message), anew.map(({ message }) => message))
        const kept = new Set(anew.map(({ source }) => source)).size
        const rewritten = anew.filter(({ message, source }) => message !== messages[source]).length
        assert.strictEqual(growing.repairs(), rewritten + i + 1 - kept)
        for (const { message } of growing.uncounted()) if (looks.next().value) counts.set(message, weightOf(message))
        const counted = growing.repaired.filter(({ message }) => counts.has(message))
        assert.strictEqual(growing.tokens, counted.reduce((sum, { message }) => sum + weightOf(message), 0))
        assert.strictEqual(growing.uncounted().length, growing.repaired.length - counted.length)
      })
    },
    runs(500)
  )

  it("is not made anew for what only adds to it", () => {
    const round = open(new WeakMap())
    round.push(Message.user("q"), Message.user("q"))
    const form = round.repaired
    const added = [call("a", "b"), result("b"), result("a"), Message.assistant("text"), call("c"), result("c")]
    for (const message of added) {
      round.push(message, message)
      assert.strictEqual(round.repaired, form)
    }
    assert.strictEqual(form.length, 7)
  })

  it("looks at each id a few times, however many there are in a message or a round", () => {
    let looks = 0
    const counting = <P extends Message.Part>(part: P, id: string): P =>
      Object.defineProperty({ ...part }, "id", {
        enumerable: true,
        get: () => {
          looks++
          return id
        }
      })
    const ids = Array.from({ length: 2_000 }, (_, i) => `c${i}`)
    const calls = ids.map((id) => counting(Message.toolCall({ id, name: "look", params: {} }), id))
    const results = ids.map((id) => counting(Message.toolResult({ id, name: "look", result: "" }), id))
    const round = open(new WeakMap())
    for (const message of [Message.user("q"), { ...Message.assistant([]), content: calls }]) {
      round.push(message, message)
    }
    assert.strictEqual(round.repaired.length, 2)
    for (const result of results) {
      const message = { ...Message.tool([]), content: [result] }
      round.push(message, message)
      assert.strictEqual(round.uncounted().length, round.messages.length)
    }
    assert.isBelow(looks, 20 * ids.length)
  })

  for (
    const [what, messages] of [
      ["an id that was used", [call("a"), result("a"), call("a")]],
      ["an id that is used twice in one message", [call("a", "a")]],
      ["an assistant message beside an open call", [call("a"), Message.assistant("b")]],
      ["a system message beside an open call", [call("a"), Message.system("s"), result("a")]],
      ["a result without a call", [result("a")]],
      ["a result and one without a call", [call("a"), result("a", "b")]],
      ["a message with nothing in it", [Message.assistant(" ")]]
    ] as const
  ) {
    it(`is made anew for ${what}`, () => {
      const round = open(new WeakMap())
      let form = round.repaired
      for (const message of messages) {
        form = round.repaired
        round.push(message, message)
      }
      assert.notStrictEqual(round.repaired, form)
    })
  }
})
