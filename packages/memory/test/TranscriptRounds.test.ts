import { assert, describe, it } from "@effect/vitest"
import { Effect, FastCheck as fc } from "effect"
import { Message, Transcript } from "effect-memory"
import * as tag from "../src/internal/tag.js"
import { conversation, freeze, hostile } from "./generators.js"

// =============================================================================
// The definition, word by word, as slow as it likes
// =============================================================================

interface NaiveCall {
  readonly id: string
  readonly message: number
  /** First assistant message behind the first user message behind the call: it gives the call up. */
  readonly givenUpAt: number
  answeredAt: number
}

const isUser = (message: Message.Message) => message.role === "user" && !tag.isStandIn(message)

const firstFrom = (
  messages: ReadonlyArray<Message.Message>,
  from: number,
  test: (message: Message.Message) => boolean
): number => {
  for (let i = from; i < messages.length; i++) if (test(messages[i])) return i
  return Infinity
}

const naiveCalls = (messages: ReadonlyArray<Message.Message>): ReadonlyArray<NaiveCall> => {
  const calls = messages.flatMap((message, at) =>
    Message.toolCalls(message).map(({ id }): NaiveCall => ({
      id,
      message: at,
      givenUpAt: firstFrom(messages, firstFrom(messages, at, isUser), ({ role }) => role === "assistant"),
      answeredAt: Infinity
    }))
  )
  messages.forEach((message, at) => {
    for (const { id } of Message.toolResults(message)) {
      const open = calls.filter((call) =>
        call.id === id && call.message <= at && call.answeredAt === Infinity && at < call.givenUpAt
      )
      const nearest = open.find((call) => call.message === Math.max(...open.map(({ message }) => message)))
      if (nearest !== undefined) nearest.answeredAt = at
    }
  })
  return calls
}

const naiveRounds = (messages: ReadonlyArray<Message.Message>): ReadonlyArray<readonly [number, number, boolean]> => {
  const calls = naiveCalls(messages)
  const starts = messages.flatMap((message, at) => {
    if (!isUser(message)) return []
    const assistantSince = firstFrom(messages, at, ({ role }) => role === "assistant") < Infinity
    const interjected = calls.some((call) =>
      call.message < at &&
      (call.answeredAt < Infinity ? call.answeredAt > at : call.givenUpAt > at && !assistantSince)
    )
    return interjected ? [] : [at]
  })
  const all = messages.length > 0 && starts[0] !== 0 ? [0, ...starts] : starts
  return all.map((start, i) => [start, all[i + 1] ?? messages.length, !starts.includes(start)] as const)
}

// =============================================================================
// Examples
// =============================================================================

const call = (...ids: ReadonlyArray<string>) =>
  Message.assistant(ids.map((id) => Message.toolCall({ id, name: "search", params: {} })))

const results = (...ids: ReadonlyArray<string>) =>
  Message.tool(ids.map((id) => Message.toolResult({ id, name: "search", result: id })))

const system = Message.system("Be brief.")
const user = Message.user("hi")
const answer = Message.assistant("hello")

const spans = (messages: ReadonlyArray<Message.Message>) =>
  Transcript.rounds(messages).map(({ end, start }) => [start, end])

describe("Transcript.rounds", () => {
  it("gives no rounds for no messages", () => {
    assert.deepStrictEqual(Transcript.rounds([]), [])
  })

  it("puts everything before the first user message into a preamble", () => {
    const rounds = Transcript.rounds([system, answer, user, answer])
    assert.deepStrictEqual(rounds.map(({ end, preamble, start }) => [start, end, preamble]), [
      [0, 2, true],
      [2, 4, false]
    ])
  })

  it("has no preamble where the first message is the user's", () => {
    assert.deepStrictEqual(Transcript.rounds([user]).map(({ preamble }) => preamble), [false])
  })

  it("is a preamble alone where the user says nothing", () => {
    assert.deepStrictEqual(Transcript.rounds([system, call("a"), results("a")]).map(({ preamble }) => preamble), [true])
  })

  it("opens a round with every user message while no call is open", () => {
    assert.deepStrictEqual(spans([user, user, answer, user, call("a"), results("a"), user]), [
      [0, 1],
      [1, 3],
      [3, 6],
      [6, 7]
    ])
  })

  it("keeps an interjection in the round when the call before it is answered after it", () => {
    assert.deepStrictEqual(spans([user, call("a"), user, user, results("a"), answer]), [[0, 6]])
  })

  it("keeps an interjection in the round when one of several calls is answered after it", () => {
    assert.deepStrictEqual(spans([user, call("a", "b"), user, results("b"), answer, user]), [[0, 5], [5, 6]])
  })

  it("keeps an interjection in the round while the call is open and no assistant message has come", () => {
    assert.deepStrictEqual(spans([user, call("a"), user]), [[0, 3]])
    assert.deepStrictEqual(spans([user, call("a"), user, system]), [[0, 4]])
  })

  it("opens rounds with the interjections when an assistant message gives the call up", () => {
    assert.deepStrictEqual(spans([user, call("a"), user, user, answer]), [[0, 2], [2, 3], [3, 5]])
  })

  it("takes a result of a call that was given up for an orphan", () => {
    const rounds = Transcript.rounds([user, call("a"), user, answer, results("a")])
    assert.deepStrictEqual(rounds.map(({ end, start }) => [start, end]), [[0, 2], [2, 5]])
    assert.deepStrictEqual(rounds[0].groups[0].results, [])
    assert.strictEqual(rounds[0].groups[0].unanswered.length, 1)
  })

  it("does not give up a call because the assistant goes on without an interjection", () => {
    assert.deepStrictEqual(Transcript.rounds([user, call("a"), answer, results("a")])[0].groups, [
      { assistant: 1, results: [3], unanswered: [] },
      { assistant: 2, results: [], unanswered: [] }
    ])
  })

  it("gives up only what is open: calls answered before the assistant goes on keep their results", () => {
    const rounds = Transcript.rounds([user, call("a", "b"), user, results("a"), answer, results("b")])
    assert.strictEqual(rounds.length, 1)
    assert.deepStrictEqual(rounds[0].groups[0].results, [3])
    assert.deepStrictEqual(rounds[0].groups[0].unanswered.map(({ id }) => id), ["b"])
  })

  it("collects the results of a group in any order and from any number of messages", () => {
    assert.deepStrictEqual(
      Transcript.rounds([user, call("a", "b", "c"), results("c"), results("b", "a")])[0].groups,
      [{ assistant: 1, results: [2, 3], unanswered: [] }]
    )
  })

  it("matches a result with the nearest message that makes the call", () => {
    assert.deepStrictEqual(
      Transcript.rounds([user, call("a"), call("a"), results("a"), results("a")])[0].groups
        .map(({ results }) => results),
      [[4], [3]]
    )
  })

  it("does not count results inside the message of their calls as messages of the group", () => {
    const message = Message.assistant([
      Message.toolCall({ id: "a", name: "search", params: {} }),
      Message.toolResult({ id: "a", name: "search", result: 1 })
    ])
    assert.deepStrictEqual(spans([user, message, user]), [[0, 2], [2, 3]])
    assert.deepStrictEqual(Transcript.rounds([user, message])[0].groups, [
      { assistant: 1, results: [], unanswered: [] }
    ])
  })

  it("waits for no result of a call that the provider runs itself", () => {
    const served = Message.assistant([
      Message.toolCall({ id: "a", name: "web", params: {}, providerExecuted: true })
    ])
    assert.deepStrictEqual(spans([user, served, user]), [[0, 2], [2, 3]])
  })

  it("opens no round with a summary, whatever its role", () => {
    const summary = Message.user("Summary of prior context:\nx", tag.make("summary", 1))
    assert.deepStrictEqual(spans([system, summary, user, answer]), [[0, 2], [2, 4]])
    assert.deepStrictEqual(spans([user, call("a"), summary, answer, results("a")]), [[0, 5]])
  })

  it("knows ids that plain objects know too", () => {
    const ids = ["__proto__", "constructor", ""]
    assert.deepStrictEqual(Transcript.rounds([user, call(...ids), results(...ids), user]).map(({ groups }) => groups), [
      [{ assistant: 1, results: [2], unanswered: [] }],
      []
    ])
  })

  it.effect.prop(
    "is what the definition says, word by word",
    { messages: fc.oneof(conversation, hostile) },
    ({ messages }) =>
      Effect.sync(() => {
        const calls = naiveCalls(messages)
        const rounds = Transcript.rounds(freeze(messages))
        assert.deepStrictEqual(
          rounds.map(({ end, preamble, start }) => [start, end, preamble] as const),
          naiveRounds(messages)
        )
        for (const { assistant, results, unanswered } of rounds.flatMap(({ groups }) => groups)) {
          const own = calls.filter(({ message }) => message === assistant)
          const answeredAt = own.map((call) => call.answeredAt).filter((at) => at < Infinity && at !== assistant)
          assert.deepStrictEqual(results, Array.from(new Set(answeredAt)).sort((a, b) => a - b))
          assert.deepStrictEqual(
            unanswered.map(({ id }) => id),
            own.filter((call) => call.answeredAt === Infinity).map(({ id }) => id)
          )
        }
      }),
    { timeout: 60_000, fastCheck: { numRuns: 500 } }
  )
})
