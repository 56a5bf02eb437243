/**
 * Content that makes careless code throw, hang or take the wrong thing. A test that hangs runs into its time limit.
 */
import { assert, describe, it } from "@effect/vitest"
import { Message, Transcript } from "effect-memory"
import { pair } from "../src/internal/pairing.js"

const { assistant, tool, toolCall, toolResult, user } = Message

type Messages = ReadonlyArray<Message.Message>

const all: ReadonlyArray<Transcript.Rules> = ["pairing", "anthropic", "openai", "gemini", "strict"]

const call = (id: string, params: unknown = {}) => toolCall({ id, name: "search", params })

const result = (id: string) => toolResult({ id, name: "search", result: id })

const many = 100_000

const times = <A>(make: (i: number) => A): ReadonlyArray<A> => Array.from({ length: many }, (_, i) => make(i))

const check = (messages: Messages): void => {
  Transcript.rounds(messages)
  const faults = Transcript.diagnose(Transcript.repair(messages, "strict"), "strict")
  assert.strictEqual(faults.filter(({ _tag }) => _tag !== "OpenCall").length, 0)
}

describe("Transcript on hostile input", () => {
  it("takes ids that plain objects know, and the empty one", () => {
    const ids = ["__proto__", "constructor", "toString", ""]
    const messages = [user("hi"), assistant(ids.map((id) => call(id))), tool(ids.map(result))]
    for (const rules of all) assert.deepStrictEqual(Transcript.repair(messages, rules), messages)
  })

  it("keeps settings under a provider named __proto__ when it merges", () => {
    const options = JSON.parse("{\"__proto__\":{\"x\":1}}")
    const [merged] = Transcript.repair([user("a", options), user("b")], "anthropic")
    assert.deepStrictEqual(Object.keys(merged.options), ["__proto__"])
    assert.strictEqual(Object.getPrototypeOf(merged.options), Object.prototype)
  })

  it("takes parts and messages that stand in several places by reference", () => {
    const shared = result("a")
    const messages = [user("hi"), assistant([call("a"), shared, shared]), assistant([shared])]
    assert.deepStrictEqual(Transcript.repair(messages, "pairing"), [user("hi"), assistant([call("a"), shared])])
    const group = [assistant([call("a")]), tool([shared])]
    assert.deepStrictEqual(
      Transcript.repair([user("hi"), ...group, ...group], "pairing").flatMap(Message.toolResults).map(({ id }) => id),
      ["a", "a-2"]
    )
  })

  it("takes values nested deeper than JSON is read, and values that hold themselves", () => {
    let deep: unknown = "end"
    for (let i = 0; i < 50_000; i++) deep = [deep]
    const circular: { self?: unknown } = {}
    circular.self = circular
    const messages = [user("hi"), assistant([call("a", { deep }), call("b", circular)]), user("next")]
    for (const rules of all) {
      const repaired = Transcript.repair(messages, rules)
      assert.strictEqual(repaired[1], messages[1])
      assert.deepStrictEqual(Transcript.diagnose(repaired, rules).length, 0)
    }
  })

  it(
    "takes a hundred thousand rounds",
    { timeout: 60_000 },
    () => check(times((i) => i % 2 === 0 ? user("q") : assistant("a")))
  )

  it("takes a hundred thousand users who interject at once", { timeout: 60_000 }, () => {
    const messages = [user("hi"), assistant([call("a")]), ...times(() => user("well?")), assistant("sorry")]
    assert.strictEqual(pair(messages).rounds.length, many + 1)
    check(messages)
  })

  it(
    "takes a hundred thousand calls of one id in one message",
    { timeout: 60_000 },
    () => check([user("hi"), assistant(times(() => call("a"))), tool(times(() => result("a")))])
  )

  it(
    "takes a hundred thousand messages that call with one id",
    { timeout: 60_000 },
    () => check([user("hi"), ...times(() => assistant([call("a")])), tool(times(() => result("a")))])
  )

  it(
    "takes one message that answers a hundred thousand others",
    { timeout: 60_000 },
    () => check([user("hi"), ...times((i) => assistant([call(`${i}`)])), tool(times((i) => result(`${i}`)))])
  )

  it(
    "takes a hundred thousand orphans and repeated results",
    { timeout: 60_000 },
    () => check([user("hi"), assistant([call("a")]), ...times(() => tool([result("a"), result("b")]))])
  )

  it("takes a hundred thousand neighbours of one role", { timeout: 60_000 }, () => {
    check(times(() => user("again")))
    check([user("hi"), ...times(() => assistant([Message.reasoning("hm")]))])
  })
})
