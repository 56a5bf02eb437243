import { assert, describe, it } from "@effect/vitest"
import { Effect, FastCheck as fc } from "effect"
import { Message, Transcript } from "effect-memory"
import { pair } from "../src/internal/pairing.js"
import { repairPairing } from "../src/internal/repair.js"
import { repairContext } from "../src/internal/repairProvider.js"
import { repairRound } from "../src/internal/repairRound.js"
import * as tag from "../src/internal/tag.js"
import { conversation, freeze, hostile, malformed, sendable } from "./generators.js"

type Messages = ReadonlyArray<Message.Message>

const rules = fc.constantFrom<Transcript.Rules>("pairing", "anthropic", "openai", "gemini", "strict")

/** What a memory hands out: the prompt, a summary, and a conversation whose beginning is cut off. */
const context: fc.Arbitrary<Messages> = fc.tuple(
  conversation,
  fc.nat(8),
  fc.constantFrom(Message.system, Message.user)
).map(([messages, cut, make]) => {
  const prompt = messages.filter((message) => message.role === "system").slice(0, 1)
  return [...prompt, make("Summary of prior context:\nshort", tag.make("summary", 1)), ...messages.slice(cut)]
})

const normal = fc.oneof(conversation, hostile, context)

const any = fc.oneof(normal, malformed)

const same = (a: Messages, b: Messages): boolean => a.length === b.length && a.every((message, i) => message === b[i])

const faults = (messages: Messages, rules: Transcript.Rules) =>
  Transcript.diagnose(messages, rules).filter(({ _tag }) => _tag !== "OpenCall")

const partsOf = (messages: Messages): ReadonlyArray<Message.Part> => messages.flatMap(Message.parts)

const options = { timeout: 60_000, fastCheck: { numRuns: 300 } }

describe("Transcript laws", () => {
  it.effect.prop(
    "a repaired sequence can be sent",
    { messages: any, rules },
    ({ messages, rules }) =>
      Effect.sync(() => assert.deepStrictEqual(faults(Transcript.repair(freeze(messages), rules), rules), [])),
    options
  )

  it.effect.prop(
    "repairing again changes nothing",
    { messages: any, rules },
    ({ messages, rules }) =>
      Effect.sync(() => {
        const once = Transcript.repair(messages, rules)
        assert.isTrue(same(Transcript.repair(once, rules), once))
      }),
    options
  )

  it.effect.prop(
    "a sequence comes back as the same references if, and only if, it can be sent",
    { messages: fc.oneof(any, sendable, fc.tuple(any, rules).map(([m, r]) => Transcript.repair(m, r))), rules },
    ({ messages, rules }) =>
      Effect.sync(() =>
        assert.strictEqual(same(Transcript.repair(messages, rules), messages), faults(messages, rules).length === 0)
      ),
    options
  )

  it.effect.prop(
    "a tidy conversation needs no repair",
    { messages: sendable },
    ({ messages }) => Effect.sync(() => assert.deepStrictEqual(Transcript.diagnose(messages, "pairing"), [])),
    options
  )

  it.effect.prop(
    "what is strict enough for all can be sent to each",
    { messages: any, rules },
    ({ messages, rules }) =>
      Effect.sync(() => assert.deepStrictEqual(faults(Transcript.repair(messages, "strict"), rules), [])),
    options
  )

  it.effect.prop("pairing repairs round by round", { messages: normal }, ({ messages }) =>
    Effect.sync(() => {
      const { pairing, rounds } = pair(messages)
      const used = new Set<string>()
      const expected = rounds.flatMap((round, i) => repairRound(messages, pairing, round, i < rounds.length - 1, used))
      assert.deepStrictEqual(repairPairing(messages), expected)
      assert.deepStrictEqual(Transcript.repair(messages, "pairing"), expected.map(({ message }) => message))
    }), options)

  it.effect.prop(
    "a repaired context knows where its messages come from",
    { messages: normal, rules },
    (given) =>
      Effect.sync(() => {
        const messages = Transcript.repair(given.messages, "pairing")
        const known = new Set(messages)
        const repaired = repairContext(messages, given.rules)
        for (const { message, source } of repaired) {
          const inserted = message.options[tag.namespace]?.context === "inserted"
          assert.strictEqual(source === -1, inserted)
          if (known.has(message)) assert.strictEqual(messages[source], message)
          else if (!inserted) {
            const parts = new Set(Message.parts(messages[source]).map(textOf))
            assert.isTrue(Message.parts(message).some((part) => parts.has(textOf(part))))
          }
        }
        assert.deepStrictEqual(repaired.map(({ message }) => message), Transcript.repair(messages, given.rules))
      }),
    options
  )

  it.effect.prop(
    "all that the user and the system said stays, in order",
    { messages: normal, rules },
    (given) =>
      Effect.sync(() => {
        const said = (messages: Messages) =>
          partsOf(messages.filter(({ role }) => role === "user" || role === "system"))
            .flatMap((part) => part.type === "text" && part.text.trim() !== "" ? [part.text] : [])
        const before = said(given.messages)
        const after = said(Transcript.repair(given.messages, given.rules)).filter((text) => text !== "Continue.")
        // A summary may move behind system messages, when it becomes the first user message.
        const isSummary = (text: string) => text.startsWith("Summary of prior context:")
        assert.deepStrictEqual(after.filter((text) => !isSummary(text)), before.filter((text) => !isSummary(text)))
        assert.deepStrictEqual(after.filter(isSummary), before.filter(isSummary))
      }),
    options
  )

  it.effect.prop(
    "no result is invented, none is given to another call",
    { messages: conversation, rules },
    (given) =>
      Effect.sync(() => {
        const recorded = new Map(given.messages.flatMap(Message.toolResults).map((part) => [part.id, part]))
        for (const part of Transcript.repair(given.messages, given.rules).flatMap(Message.toolResults)) {
          if (!tag.isClosing(part)) assert.strictEqual(part, recorded.get(part.id))
        }
      }),
    options
  )

  it.effect.prop(
    "both forms of repair are one",
    { messages: any, rules },
    ({ messages, rules }) =>
      Effect.sync(() => assert.deepStrictEqual(Transcript.repair(rules)(messages), Transcript.repair(messages, rules))),
    { timeout: 60_000, fastCheck: { numRuns: 100 } }
  )

  it.effect.prop(
    "findings point at what is there, in order",
    { messages: any, rules },
    ({ messages, rules }) =>
      Effect.sync(() => {
        let previous = 0
        for (const finding of Transcript.diagnose(messages, rules)) {
          assert.isAtLeast(finding.message, previous)
          previous = finding.message
          const parts = Message.parts(messages[finding.message])
          if ("part" in finding) assert.isDefined(parts[finding.part])
          if ("callId" in finding) {
            const part = parts[finding.part]
            assert.strictEqual(Message.isToolCall(part) || Message.isToolResult(part) ? part.id : "", finding.callId)
          }
          assert.isTrue(rules === "strict" || finding.rule === "pairing" || finding.rule === rules)
        }
      }),
    options
  )
})

const textOf = (part: Message.Part): unknown => {
  switch (part.type) {
    case "text":
    case "reasoning":
      return part.text.trimEnd()
    case "file":
      return part
    case "tool-call":
    case "tool-result":
      return `${part.type} ${part.id}`
  }
}
