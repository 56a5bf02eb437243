/**
 * Shapes that made providers refuse a request, or that made others lose what was said.
 */
import { assert, describe, it } from "@effect/vitest"
import { Message, Transcript } from "effect-memory"
import * as tag from "../src/internal/tag.js"

const { assistant, reasoning, system, text, tool, toolCall, toolResult, user } = Message

type Messages = ReadonlyArray<Message.Message>

const all: ReadonlyArray<Transcript.Rules> = ["pairing", "anthropic", "openai", "gemini", "strict"]

const calls = (...ids: ReadonlyArray<string>) =>
  assistant(ids.map((id) => toolCall({ id, name: "search", params: { q: id } })))

const results = (...ids: ReadonlyArray<string>) =>
  tool(ids.map((id) => toolResult({ id, name: "search", result: `result of ${id}` })))

const thought = reasoning("first this, then that", { anthropic: { signature: "c2lnbmF0dXJl" } })

const summary = (make: typeof Message.system | typeof Message.user) =>
  make("Summary of prior context:\nshort", tag.make("summary", 1))

const roles = (messages: Messages) => messages.map(({ role }) => role)

/** Repairs, and checks that the result can be sent by these rules. */
const repair = (messages: Messages, rules: Transcript.Rules = "strict"): Messages => {
  const repaired = Transcript.repair(messages, rules)
  assert.deepStrictEqual(Transcript.diagnose(repaired, rules), [])
  return repaired
}

const closed = (messages: Messages) => messages.flatMap(Message.toolResults).filter(tag.isClosing).map(({ id }) => id)

describe("orphan results", () => {
  it("history that opens with a tool result", () => {
    const kept = [user("next"), assistant("done")]
    for (const rules of all) assert.deepStrictEqual(repair([results("A"), ...kept], rules), kept)
  })

  it("a call that was trimmed away while its result stayed at the end", () => {
    assert.deepStrictEqual(repair([user("go"), results("A")]), [user("go")])
  })

  it("an orphan beside other content goes alone, the other content stays", () => {
    const mixed = assistant([toolResult({ id: "A", name: "search", result: 1 }), text("what I found")])
    assert.deepStrictEqual(repair([user("go"), mixed]), [user("go"), assistant("what I found")])
    assert.deepStrictEqual(repair([user("go"), calls("B"), results("A", "B")])[2], results("B"))
  })

  it("a removal that stopped between a call and its result", () => {
    const rounds = Transcript.rounds([user("go"), calls("A"), results("A"), assistant("done")])
    assert.deepStrictEqual(rounds.map(({ end, start }) => [start, end]), [[0, 4]])
    assert.deepStrictEqual(repair([results("A"), assistant("done")]).map(({ role }) => role), ["user", "assistant"])
  })

  it("a result without a call in the middle of the list", () => {
    const messages = [user("a"), assistant("b"), results("A"), user("c"), calls("B"), results("B"), assistant("d")]
    assert.deepStrictEqual(repair(messages), messages.filter((_, i) => i !== 2))
  })

  it("rows counted instead of groups: three results without the row that calls", () => {
    assert.deepStrictEqual(repair([user("go"), results("A"), results("B"), results("C"), assistant("done")]), [
      user("go"),
      assistant("done")
    ])
  })

  it("calls and results crosswise: a group is a message's calls and all their results, in any order", () => {
    const messages = [user("go"), calls("A"), calls("B"), results("A"), results("B")]
    assert.deepStrictEqual(Transcript.rounds(messages)[0].groups.map(({ results }) => results), [[3], [4]])
    assert.deepStrictEqual(repair(messages), [user("go"), calls("A"), results("A"), calls("B"), results("B")])
    assert.deepStrictEqual(repair([user("go"), calls("B"), results("A"), results("B")]), [
      user("go"),
      calls("B"),
      results("B")
    ])
  })

  it("valid parallel results at the end are no orphans", () => {
    const messages = [user("go"), calls("1", "2", "3"), results("2", "3", "1")]
    for (const rules of all) assert.deepStrictEqual(repair(messages, rules), messages)
    const apart = [user("go"), calls("1", "2", "3"), results("3"), results("1"), results("2")]
    assert.deepStrictEqual(repair(apart, "pairing"), apart)
  })

  it("results that stayed after their request was evicted", () => {
    assert.deepStrictEqual(repair([results("A", "B"), assistant("done"), user("next")]).slice(1), [
      assistant("done"),
      user("next")
    ])
  })

  it("a split that falls on a tool response", () => {
    assert.deepStrictEqual(repair([summary(user), results("A"), assistant("done"), user("next")]), [
      summary(user),
      assistant("done"),
      user("next")
    ])
  })

  it("turns that are cut behind a call", () => {
    const messages = [calls("A"), results("A"), assistant("done"), user("next")]
    assert.deepStrictEqual(roles(repair(messages, "gemini")), ["user", "assistant", "tool", "assistant", "user"])
  })
})

describe("calls without results", () => {
  it("a user who goes on while a call is unanswered does not end the conversation for good", () => {
    const messages = [user("go"), calls("A", "B"), results("B"), user("never mind"), assistant("fine"), user("next")]
    for (const rules of all) {
      const repaired = repair(messages, rules)
      assert.deepStrictEqual(closed(repaired), ["A"])
      for (const message of messages.filter(({ role }) => role === "user")) assert.include(repaired, message)
    }
  })

  it("a call whose arguments are cut is closed and gets arguments that can be sent", () => {
    const cut = assistant([toolCall({ id: "A", name: "write", params: "{\"path\": \"a.t" })])
    const repaired = repair([user("go"), cut, user("again"), assistant("done"), user("more")])
    assert.deepStrictEqual(closed(repaired), ["A"])
    assert.deepStrictEqual(Message.toolCalls(repaired[1])[0].params, { input: "{\"path\": \"a.t" })
  })

  it("a stream that was aborted: nothing blank and no unsettled call is sent", () => {
    const messages = [
      user("go"),
      assistant([]),
      assistant([text(""), reasoning(" ")]),
      assistant([text("I will"), toolCall({ id: "A", name: "search", params: {} })]),
      user("go on")
    ]
    const repaired = repair(messages)
    assert.deepStrictEqual(roles(repaired), ["user", "assistant", "tool", "user"])
    assert.deepStrictEqual(closed(repaired), ["A"])
  })

  it("a call at the end whose output is not stored yet is told from one that will never be answered", () => {
    const messages = [user("go"), calls("A")]
    for (const rules of all) {
      assert.deepStrictEqual(Transcript.diagnose(messages, rules).map(({ _tag }) => _tag), ["OpenCall"])
      assert.deepStrictEqual(Transcript.repair(messages, rules), messages)
    }
    assert.deepStrictEqual(
      Transcript.diagnose([...messages, user("next")], "pairing").map(({ _tag }) => _tag),
      ["UnansweredCall"]
    )
  })

  it("a cancelled tool: a result that comes after the assistant went on is an orphan of a closed call", () => {
    const repaired = repair([user("go"), calls("A"), user("cancel"), assistant("cancelled"), results("A")])
    assert.deepStrictEqual(roles(repaired), ["user", "assistant", "tool", "user", "assistant"])
    assert.deepStrictEqual(closed(repaired), ["A"])
  })
})

describe("nothing left to send", () => {
  it("a system prompt and a summary alone: the summary becomes the user message", () => {
    for (const rules of ["anthropic", "gemini", "strict"] as const) {
      const repaired = repair([system("Be brief."), summary(system)], rules)
      assert.deepStrictEqual(roles(repaired), ["system", "user"])
      assert.deepStrictEqual(Message.parts(repaired[1]), Message.parts(summary(system)))
    }
  })
})

describe("first role and order of roles", () => {
  const tail = [calls("A"), results("A"), assistant("done"), user("next"), calls("B"), results("B")]

  it("a call right behind a summary of the system: the summary becomes the user turn before it", () => {
    for (const rules of ["anthropic", "gemini", "strict"] as const) {
      const repaired = repair([system("Be brief."), summary(system), ...tail], rules)
      assert.deepStrictEqual(roles(repaired).slice(0, 4), ["system", "user", "assistant", "tool"])
      assert.deepStrictEqual(repaired.slice(2), tail)
    }
  })

  it("history that opens with a call of the assistant: nothing is lost, a user message stands before it", () => {
    for (const rules of ["anthropic", "gemini", "strict"] as const) {
      const repaired = repair(tail, rules)
      assert.strictEqual(repaired[0].role, "user")
      assert.deepStrictEqual(repaired.slice(1), tail)
    }
  })

  it("a summary behind results: both are one turn of the user, so nothing is refused", () => {
    const messages = [user("go"), calls("A"), results("A"), summary(user)]
    for (const rules of all) assert.deepStrictEqual(repair(messages, rules), messages)
  })

  it("a summary right before the user's message: one user message, and no marker", () => {
    const repaired = repair([system("Be brief."), summary(user), user("next")])
    assert.deepStrictEqual(roles(repaired), ["system", "user"])
    assert.deepStrictEqual(Message.parts(repaired[1]), [...Message.parts(summary(user)), text("next")])
  })

  it("a summary never speaks as the assistant", () => {
    for (const make of [system, user]) {
      for (const rules of all) {
        const last = repair([user("go"), assistant("done"), summary(make)], rules).at(-1)!
        assert.notStrictEqual(last.role, "assistant")
        assert.isTrue(tag.isSummary(last))
      }
    }
  })
})

describe("reasoning", () => {
  const loop = [
    user("go"),
    assistant([thought, toolCall({ id: "A", name: "search", params: {} })]),
    results("A"),
    assistant([thought, toolCall({ id: "B", name: "search", params: {} })]),
    results("B")
  ]

  it("is the very same part after any repair", () => {
    for (const rules of all) {
      const repaired = repair([results("X"), ...loop, user("stop"), calls("C"), user("next")], rules)
      const kept = repaired.flatMap(Message.parts).filter(({ type }) => type === "reasoning")
      assert.strictEqual(kept.length, 2)
      for (const part of kept) assert.strictEqual(part, thought)
    }
  })

  it("of a loop of tools stays in one round with its calls and results", () => {
    assert.deepStrictEqual(Transcript.rounds(loop).map(({ end, start }) => [start, end]), [[0, 5]])
    for (const rules of all) assert.deepStrictEqual(repair(loop, rules), loop)
  })

  it("goes with a call that is gone, rather than stand alone", () => {
    const messages = [user("a"), assistant("b"), user("c"), assistant([thought]), user("d")]
    for (const rules of ["anthropic", "openai", "strict"] as const) {
      assert.notInclude(repair(messages, rules).flatMap(Message.parts), thought)
    }
  })

  it("in encrypted form keeps its options, without any text", () => {
    const encrypted = reasoning("", { openai: { itemId: "rs_1", encryptedContent: "Z0FBQUFB" } })
    const message = assistant([encrypted, text("done")])
    for (const rules of all) assert.strictEqual(repair([user("go"), message, user("next")], rules)[1], message)
    for (const rules of ["openai", "strict"] as const) {
      const [, joined] = repair([user("go"), assistant([encrypted]), assistant("done")], rules)
      assert.strictEqual(Message.parts(joined)[0], encrypted)
    }
  })
})

describe("text", () => {
  it("with a lone surrogate in a tool's output does not make every later request fail", () => {
    const broken: Message.Message = {
      role: "tool",
      content: [{
        type: "tool-result",
        id: "A",
        name: "search",
        isFailure: false,
        result: { stdout: ["ok", "\udc00\u0001 cut \ud83d"] },
        providerExecuted: false,
        options: {}
      }],
      options: {}
    }
    const messages = [user("go"), calls("A"), broken]
    for (const rules of all) {
      assert.deepStrictEqual(Transcript.diagnose(messages, rules).map(({ _tag }) => _tag), ["IllFormed"])
      const repaired = repair(messages, rules)
      assert.deepStrictEqual(repaired.slice(0, 2), messages.slice(0, 2))
      assert.deepStrictEqual(Message.toolResults(repaired[2])[0].result, { stdout: ["ok", "\ufffd\u0001 cut \ufffd"] })
    }
  })
})
