import { assert, describe, it } from "@effect/vitest"
import { Message, Transcript } from "effect-memory"
import * as tag from "../src/internal/tag.js"

const { assistant, reasoning, system, text, tool, toolCall, toolResult, user } = Message

const all: ReadonlyArray<Transcript.Rules> = ["pairing", "anthropic", "openai", "gemini", "strict"]

const call = (id: string, params: unknown = {}) => toolCall({ id, name: "search", params })

const result = (id: string) => toolResult({ id, name: "search", result: `result of ${id}` })

const image = Message.file({ mediaType: "image/png", data: "iVBORw0KGgo=" })

const thought = reasoning("hm", { anthropic: { signature: "c2ln" } })

const summary = (make: typeof Message.system | typeof Message.user) =>
  make("Summary of prior context:\nshort", tag.make("summary", 1))

type Fault = Transcript.Finding["_tag"]

const found = (messages: ReadonlyArray<Message.Message>, rules: Transcript.Rules): ReadonlyArray<string> =>
  Transcript.diagnose(messages, rules).map((finding) =>
    [finding._tag, finding.message, ...("part" in finding ? [finding.part] : [])].join(" ")
  )

/** Which rule sets find a fault of this kind. */
const findWith = (tag: Fault, messages: ReadonlyArray<Message.Message>): ReadonlyArray<Transcript.Rules> =>
  all.filter((rules) => Transcript.diagnose(messages, rules).some(({ _tag }) => _tag === tag))

/** Roles and kinds of parts, `!` for a part of our own. */
const shape = (messages: ReadonlyArray<Message.Message>): ReadonlyArray<string> =>
  messages.map((message) =>
    `${message.role}: ${
      Message.parts(message).map((part) =>
        part.type === "text" || part.type === "reasoning"
          ? part.text
          : part.type === "tool-call"
          ? `→${part.id}`
          : part.type === "tool-result"
          ? `←${part.id}${tag.isClosing(part) ? "!" : ""}`
          : "file"
      ).join(", ")
    }`
  )

const repaired = (messages: ReadonlyArray<Message.Message>, rules: Transcript.Rules) =>
  shape(Transcript.repair(messages, rules))

describe("Transcript.diagnose", () => {
  it("finds nothing in what can be sent", () => {
    const messages = [
      system("Be brief."),
      user("hi"),
      assistant([thought, text("Let me see."), call("a"), call("b")]),
      tool([result("b"), result("a")]),
      assistant("Done.")
    ]
    for (const rules of all) assert.deepStrictEqual(Transcript.diagnose(messages, rules), [])
  })

  it("finds nothing where there is nothing to send", () => {
    for (const rules of all) assert.deepStrictEqual(Transcript.diagnose([], rules), [])
  })

  it("tells where, which rule, and what to do, and never quotes the conversation", () => {
    const secret = "SECRET"
    const messages = [
      user(secret),
      tool([toolResult({ id: "a", name: secret, result: secret })]),
      assistant([text(secret + " ")])
    ]
    const findings = Transcript.diagnose(messages, "anthropic")
    assert.deepStrictEqual(findings[0], {
      _tag: "OrphanResult",
      rule: "pairing",
      message: 1,
      part: 0,
      callId: "a",
      remedy: "Leave the result out, or bring its call back."
    })
    assert.deepStrictEqual(findings.map(({ _tag, rule }) => [_tag, rule]), [
      ["OrphanResult", "pairing"],
      ["TrailingWhiteSpace", "anthropic"]
    ])
    assert.notInclude(JSON.stringify(findings), secret)
  })

  it("names the first rule set that is broken where all are asked", () => {
    const [finding] = Transcript.diagnose(
      [user("hi"), assistant([call("a")]), system("x"), tool([result("a")])],
      "strict"
    )
      .filter(({ _tag }) => _tag === "SystemNotFirst")
    assert.strictEqual(finding.rule, "anthropic")
  })
})

describe("Transcript rules of all providers", () => {
  it("OrphanResult: a result without a call is left out", () => {
    const messages = [user("hi"), tool([result("a")]), assistant([text("x"), result("b")])]
    assert.deepStrictEqual(found(messages, "pairing"), ["OrphanResult 1 0", "OrphanResult 2 1"])
    assert.deepStrictEqual(repaired(messages, "pairing"), ["user: hi", "assistant: x"])
  })

  it("OrphanResult: what the provider ran itself stays beside its call, nowhere else", () => {
    const served = { id: "s", name: "web", providerExecuted: true }
    const message = assistant([toolCall({ ...served, params: {} }), toolResult({ ...served, result: 1 })])
    assert.deepStrictEqual(found([user("hi"), message], "strict"), [])
    assert.deepStrictEqual(found([user("hi"), message, tool([toolResult({ ...served, result: 1 })])], "pairing"), [
      "OrphanResult 2 0"
    ])
  })

  it("RepeatedResult: the first result of a call stays", () => {
    const messages = [user("hi"), assistant([call("a")]), tool([result("a")]), tool([result("a")])]
    assert.deepStrictEqual(found(messages, "pairing"), ["RepeatedResult 3 0"])
    assert.deepStrictEqual(Transcript.repair(messages, "pairing"), messages.slice(0, 3))
  })

  it("UnansweredCall: a call that the user did not wait for is closed with a failure", () => {
    const messages = [user("hi"), assistant([call("a"), call("b")]), tool([result("b")]), user("stop")]
    assert.deepStrictEqual(found(messages, "pairing"), ["UnansweredCall 1 0"])
    const out = Transcript.repair(messages, "pairing")
    assert.deepStrictEqual(shape(out), ["user: hi", "assistant: →a, →b", "tool: ←b", "tool: ←a!", "user: stop"])
    assert.isTrue(Message.toolResults(out[3])[0].isFailure)
  })

  it("OpenCall: a call of the newest round stays open", () => {
    const messages = [user("hi"), assistant([call("a"), call("b")]), tool([result("b")])]
    for (const rules of all) {
      assert.deepStrictEqual(found(messages, rules), ["OpenCall 1 0"])
      assert.deepStrictEqual(Transcript.repair(messages, rules), messages)
    }
  })

  it("DuplicateId: the later call gets an id of its own, and its result with it", () => {
    const messages = [
      user("1"),
      assistant([call("a"), call("a")]),
      tool([result("a"), result("a")]),
      user("2"),
      assistant([call("a")]),
      tool([result("a")])
    ]
    assert.deepStrictEqual(found(messages, "pairing"), ["DuplicateId 1 1", "DuplicateId 4 0"])
    assert.deepStrictEqual(repaired(messages, "pairing"), [
      "user: 1",
      "assistant: →a, →a-2",
      "tool: ←a, ←a-2",
      "user: 2",
      "assistant: →a-3",
      "tool: ←a-3"
    ])
  })

  it("DuplicateId: no new id is one that is taken", () => {
    const messages = [user("1"), assistant([call("a"), call("a-2"), call("a")])]
    assert.deepStrictEqual(repaired(messages, "pairing"), ["user: 1", "assistant: →a, →a-2, →a-3"])
  })

  it("EmptyPart, EmptyMessage: what is blank is left out", () => {
    const messages = [
      system(" \n"),
      user([text(""), text("hi")]),
      assistant([reasoning("")]),
      assistant([]),
      tool([]),
      assistant("\u00a0")
    ]
    assert.deepStrictEqual(found(messages, "pairing"), [
      "EmptyMessage 0",
      "EmptyPart 1 0",
      "EmptyPart 2 0",
      "EmptyMessage 3",
      "EmptyMessage 4",
      "EmptyPart 5 0"
    ])
    assert.deepStrictEqual(repaired(messages, "pairing"), ["user: hi"])
  })

  it("EmptyPart: reasoning without text may carry a signature", () => {
    const messages = [user("hi"), assistant([reasoning("", { openai: { encryptedContent: "eA==" } }), text("x")])]
    for (const rules of all) assert.deepStrictEqual(found(messages, rules), [])
  })

  it("ResultOutOfPlace: results move right behind their call", () => {
    const messages = [
      user("hi"),
      assistant([call("a")]),
      user("and this"),
      assistant([call("b")]),
      system("x"),
      tool([result("b")])
    ]
    assert.deepStrictEqual(found(messages, "pairing"), ["UnansweredCall 1 0", "ResultOutOfPlace 5 0"])
    assert.deepStrictEqual(repaired(messages, "pairing"), [
      "user: hi",
      "assistant: →a",
      "tool: ←a!",
      "user: and this",
      "assistant: →b",
      "tool: ←b",
      "system: x"
    ])
  })

  it("ResultOutOfPlace: one message with the results of two is split", () => {
    const messages = [user("hi"), assistant([call("a")]), assistant([call("b")]), tool([result("a"), result("b")])]
    assert.deepStrictEqual(found(messages, "pairing"), ["ResultOutOfPlace 3 0"])
    assert.deepStrictEqual(repaired(messages, "pairing"), [
      "user: hi",
      "assistant: →a",
      "tool: ←a",
      "assistant: →b",
      "tool: ←b"
    ])
  })

  it("IllFormed: lone surrogates are replaced wherever they stand", () => {
    const half = "\ud83d"
    const lone: Message.Message = {
      role: "assistant",
      content: [
        { type: "text", text: half, options: {} },
        {
          type: "tool-call",
          id: half,
          name: half,
          params: { [half]: [half] },
          providerExecuted: false,
          options: {}
        },
        { type: "tool-result", id: half, name: "x", isFailure: false, result: 1, providerExecuted: false, options: {} },
        { type: "file", mediaType: "text/plain", fileName: half, data: half, options: {} }
      ],
      options: {}
    }
    const messages: ReadonlyArray<Message.Message> = [{ role: "system", content: half, options: {} }, user("hi"), lone]
    assert.deepStrictEqual(
      found(messages, "pairing").filter((finding) => finding.startsWith("IllFormed")),
      ["IllFormed 0 0", "IllFormed 2 0", "IllFormed 2 1", "IllFormed 2 2", "IllFormed 2 3"]
    )
    assert.isTrue(JSON.stringify(Transcript.repair(messages, "pairing")).includes("\ufffd"))
    assert.notInclude(JSON.stringify(Transcript.repair(messages, "pairing")), "\\ud83d")
    assert.deepStrictEqual(found(Transcript.repair(messages, "pairing"), "pairing"), [])
  })
})

describe("Transcript rules of single providers", () => {
  it("SystemNotFirst: a later system message becomes a user message in its place", () => {
    const messages = [system("a"), system("b"), user("hi"), assistant("x"), system("c"), assistant("y"), user("z")]
    assert.deepStrictEqual(findWith("SystemNotFirst", messages), ["anthropic", "gemini", "strict"])
    assert.deepStrictEqual(repaired(messages, "gemini"), [
      "system: a",
      "system: b",
      "user: hi",
      "assistant: x",
      "user: c",
      "assistant: y",
      "user: z"
    ])
  })

  it("SystemNotFirst: such a message interrupts no open call", () => {
    const messages = [user("hi"), assistant([call("a")]), system("c")]
    const once = Transcript.repair(messages, "anthropic")
    assert.deepStrictEqual(shape(once), ["user: hi", "assistant: →a", "user: c"])
    assert.deepStrictEqual(found(once, "anthropic"), ["OpenCall 1 0"])
    assert.deepStrictEqual(Transcript.repair(once, "anthropic"), once)
    assert.deepStrictEqual(Transcript.rounds(once).length, 1)
  })

  it("FirstNotUser: a user message is put before a greeting", () => {
    const messages = [system("a"), assistant("hello"), user("hi")]
    assert.deepStrictEqual(findWith("FirstNotUser", messages), ["anthropic", "strict"])
    assert.deepStrictEqual(repaired(messages, "anthropic"), [
      "system: a",
      "user: Continue.",
      "assistant: hello",
      "user: hi"
    ])
  })

  it("FirstNotUser: a summary serves as the user message", () => {
    const messages = [system("a"), summary(system), assistant("hello"), user("hi")]
    const out = Transcript.repair(messages, "anthropic")
    assert.deepStrictEqual(out.map(({ role }) => role), ["system", "user", "assistant", "user"])
    assert.isTrue(tag.isSummary(out[1]))
  })

  it("NoUser: a system prompt alone is followed by a user message", () => {
    assert.deepStrictEqual(findWith("NoUser", [system("a")]), ["anthropic", "gemini", "strict"])
    assert.deepStrictEqual(repaired([system("a")], "gemini"), ["system: a", "user: Continue."])
    assert.deepStrictEqual(repaired([assistant("x")], "gemini"), ["user: Continue.", "assistant: x"])
  })

  it("RolesNotAlternating: neighbours of one role become one message", () => {
    const messages = [
      user("a", { anthropic: { x: 1 } }),
      user("b", { openai: { y: 2 } }),
      assistant("c"),
      assistant([call("1"), call("2")]),
      tool([result("2")]),
      tool([result("1")]),
      user("d")
    ]
    assert.deepStrictEqual(findWith("RolesNotAlternating", messages), ["anthropic", "gemini", "strict"])
    const out = Transcript.repair(messages, "anthropic")
    assert.deepStrictEqual(shape(out), ["user: a, b", "assistant: c, →1, →2", "tool: ←2, ←1", "user: d"])
    assert.deepStrictEqual(out[0].options, { anthropic: { x: 1 }, openai: { y: 2 } })
    assert.deepStrictEqual(Transcript.repair(messages, "openai"), messages)
  })

  it("RolesNotAlternating: the user's words next to a summary are the user's", () => {
    const [merged] = Transcript.repair([summary(user), user("hi")], "anthropic")
    assert.deepStrictEqual(shape([merged]), ["user: Summary of prior context:\nshort, hi"])
    assert.isFalse(tag.isSummary(merged))
  })

  it("CallNotAfterUser: calls come behind the user or results", () => {
    const messages = [assistant([call("a")]), tool([result("a")]), assistant([call("b")]), tool([result("b")])]
    assert.deepStrictEqual(findWith("CallNotAfterUser", messages), ["gemini", "strict"])
    assert.deepStrictEqual(found([...messages, user("hi")], "gemini"), ["CallNotAfterUser 0"])
    assert.deepStrictEqual(repaired([...messages, user("hi")], "gemini")[0], "user: Continue.")
    const apart = [user("hi"), assistant("x"), assistant([call("a")]), tool([result("a")])]
    assert.include(found(apart, "gemini"), "CallNotAfterUser 2")
    assert.deepStrictEqual(repaired(apart, "gemini"), ["user: hi", "assistant: x, →a", "tool: ←a"])
  })

  it("TextAfterCall: text goes before the calls, with the reasoning that led to it", () => {
    const messages = [
      user("hi"),
      assistant([thought, call("a"), reasoning("so"), text("then"), reasoning("now"), call("b")]),
      tool([result("a"), result("b")])
    ]
    assert.deepStrictEqual(findWith("TextAfterCall", messages), ["anthropic", "strict"])
    assert.deepStrictEqual(repaired(messages, "anthropic")[1], "assistant: hm, so, then, →a, now, →b")
  })

  it("LooseReasoning: reasoning that led to nothing is left out", () => {
    const messages = [user("a"), assistant([thought]), user("b"), assistant([text("c"), thought])]
    assert.deepStrictEqual(findWith("LooseReasoning", messages), ["anthropic", "openai", "strict"])
    assert.deepStrictEqual(repaired(messages, "openai"), ["user: a", "user: b", "assistant: c"])
    assert.deepStrictEqual(repaired(messages, "anthropic"), ["user: a, b", "assistant: c"])
  })

  it("LooseReasoning: reasoning recorded apart is joined with what it led to", () => {
    const messages = [user("a"), assistant([thought]), assistant([call("1")]), tool([result("1")])]
    assert.deepStrictEqual(repaired(messages, "openai"), ["user: a", "assistant: hm, →1", "tool: ←1"])
    assert.strictEqual(Message.parts(Transcript.repair(messages, "openai")[1])[0], thought)
  })

  it("TrailingWhiteSpace: only the end of the last assistant message is cut", () => {
    const messages = [user("a"), assistant("b \n"), user("c "), assistant("d \n\t")]
    assert.deepStrictEqual(findWith("TrailingWhiteSpace", messages), ["anthropic", "strict"])
    assert.deepStrictEqual(repaired(messages, "anthropic"), [
      "user: a",
      "assistant: b \n",
      "user: c ",
      "assistant: d"
    ])
  })

  it("FileInAssistant: files move into a user message behind the results", () => {
    const messages = [user("draw"), assistant([text("here"), image, call("a")]), tool([result("a")]), assistant("x")]
    assert.deepStrictEqual(findWith("FileInAssistant", messages), ["openai", "strict"])
    const out = Transcript.repair(messages, "openai")
    assert.deepStrictEqual(shape(out), ["user: draw", "assistant: here, →a", "tool: ←a", "user: file", "assistant: x"])
    assert.strictEqual(Message.parts(out[3])[0], image)
    assert.deepStrictEqual(Transcript.rounds(out).length, 1)
  })

  it("ResultInAssistant: results inside the message of their calls move behind it", () => {
    const messages = [user("hi"), assistant([call("a"), result("a"), text("x")])]
    assert.deepStrictEqual(findWith("ResultInAssistant", messages), ["anthropic", "openai", "gemini", "strict"])
    assert.deepStrictEqual(repaired(messages, "openai"), ["user: hi", "assistant: →a, x", "tool: ←a"])
    assert.deepStrictEqual(Transcript.repair(messages, "pairing"), messages)
  })

  it("PartialArguments: arguments that are no object become one", () => {
    const messages = [user("hi"), assistant([call("a", "{\"city\": \"Os"), call("b", null)])]
    assert.deepStrictEqual(findWith("PartialArguments", messages), ["anthropic", "gemini", "strict"])
    const calls = Message.toolCalls(Transcript.repair(messages, "gemini")[1])
    assert.deepStrictEqual(calls.map(({ params }) => params), [{ input: "{\"city\": \"Os" }, {}])
  })
})
