import { assert, describe, it } from "@effect/vitest"
import { Message } from "effect-memory"
import * as laws from "./laws.js"

const call = Message.assistant([Message.toolCall({ id: "c1", name: "f", params: {} })])

const result = Message.tool([Message.toolResult({ id: "c1", name: "f", result: "r" })])

const [system, u1, a1, u2, a2] = [
  Message.system("s"),
  Message.user("u1"),
  Message.assistant("a1"),
  Message.user("u2"),
  Message.assistant("a2")
]

const log = [system, u1, call, result, a1, u2, a2]

const check = (context: ReadonlyArray<Message.Message>, maxTokens = 100, recorded = log) => () =>
  laws.check(context, recorded, maxTokens, context.length)

describe("the laws that contexts of transcripts are held to", () => {
  it("let good contexts pass", () => {
    assert.doesNotThrow(check(log))
    assert.doesNotThrow(check([system, u2, a2]))
    assert.doesNotThrow(check([system, u2, a2], 1))
    assert.doesNotThrow(check([u1, call], 100, [u1, call]))
    // The user interjected: the newest round begins before the call.
    assert.doesNotThrow(check([u1, call, result, u2], 1, [u1, call, u2, result]))
  })

  it("catch a wrong order", () => {
    assert.throws(check([u1, system, call, result, a1, u2, a2]), /not in the log behind the one before/)
    assert.throws(check([u1, u1, call, result, a1, u2, a2]), /not in the log behind the one before/)
    assert.throws(check([Message.user("never recorded"), u2, a2]), /not in the log/)
  })

  it("catch a torn group", () => {
    assert.throws(check([system, result, a1, u2, a2]), /answers a call that is not open/)
    assert.throws(check([system, u1, call, a1, u2, a2]), /call without a result/)
  })

  it("catch a newest round that is not whole", () => {
    assert.throws(check([system, u1, call, result, a1, a2]), /the newest round of 2 messages/)
    assert.throws(check([system, u2]), /the newest round/)
    assert.throws(check([u2], 1, [u1, call, u2, result]), /the newest round/)
  })

  it("catch a context over the budget that holds what may go", () => {
    assert.throws(check(log, 6), /not all is gone that may go/)
    assert.doesNotThrow(check(log, 7))
  })
})
