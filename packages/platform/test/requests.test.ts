import { HttpClient } from "@effect/platform"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { Message, type TokenCounter } from "effect-memory"
import { counters } from "./counters.js"
import * as generators from "./generators.js"
import { type Asked, client, type Handler, isRecord, records } from "./servers/server.js"

/** A counter over a server within the process, and what the server was asked. */
const over = (of: typeof counters[number], handler: Handler = of.server, given: Parameters<typeof of.make>[0] = {}) =>
  Effect.gen(function*() {
    const server = yield* client(handler)
    const counter = yield* of.make(given).pipe(Effect.provideService(HttpClient.HttpClient, server.client))
    return { counter, asked: Effect.map(server.seen, (seen): ReadonlyArray<Asked> => seen) }
  })

const count = (counter: TokenCounter.Service, messages: ReadonlyArray<Message.Message>) =>
  counter.countConversation?.(messages) ?? Effect.succeed(-1)

const runs = { fastCheck: { numRuns: 60 }, timeout: 120_000 }

describe("requests", () => {
  for (const each of counters) {
    describe(each.name, () => {
      it.effect.prop("conversations as agents record them are sent as the service takes them", {
        messages: generators.conversation
      }, ({ messages }) =>
        Effect.scoped(Effect.gen(function*() {
          const { counter } = yield* over(each)
          const tokens = yield* count(counter, messages)
          assert.isTrue(messages.length === 0 ? tokens === 0 : tokens >= 0)
        })), runs)

      it.effect.prop("any messages in any order are sent as the service takes them", {
        messages: generators.hostile
      }, ({ messages }) =>
        Effect.scoped(Effect.gen(function*() {
          const { counter } = yield* over(each)
          yield* count(counter, messages)
        })), runs)

      it.scoped("asks nothing of an empty conversation, nor of one that is empty when repaired", () =>
        Effect.gen(function*() {
          const { asked, counter } = yield* over(each)
          assert.strictEqual(yield* count(counter, []), 0)
          assert.strictEqual(yield* count(counter, [Message.user(""), Message.assistant([])]), 0)
          assert.deepStrictEqual(yield* asked, [])
        }))

      it.scoped("sends tools as they are", () =>
        Effect.gen(function*() {
          const tools = [{ name: "add", input_schema: { type: "object" } }]
          const { asked, counter } = yield* over(each, each.server, { tools })
          yield* count(counter, [Message.user("1 + 2?")])
          assert.include(JSON.stringify((yield* asked)[0].body), JSON.stringify({ tools }).slice(1, -1))
        }))
    })
  }

  const [anthropic, openai, gemini, vllm] = counters

  it.scoped("to Anthropic hold model, system and messages alone, without markers of the cache", () =>
    Effect.gen(function*() {
      const { asked, counter } = yield* over(anthropic)
      const marked = { anthropic: { cache_control: { type: "ephemeral" } } }
      const input = { cache_control: "kept", content: [{ cache_control: 1 }] }
      yield* count(counter, [
        Message.system("You add.", marked),
        Message.user([Message.text("1 + 2?", marked)]),
        Message.assistant([Message.toolCall({ id: "c1", name: "add", params: input })]),
        Message.tool([Message.toolResult({ id: "c1", name: "add", result: "3", options: marked })]),
        ...Array.from({ length: 6 }, (_, i) => [
          Message.assistant([Message.text(`${i}`, { anthropic: { cacheControl: { type: "ephemeral" } } })]),
          Message.user([Message.text(`${i}?`, marked)])
        ]).flat()
      ])
      const [{ body }] = yield* asked
      assert.isTrue(isRecord(body))
      assert.deepStrictEqual(Object.keys(body as object), ["model", "system", "messages"])
      assert.notInclude(JSON.stringify(body).replace(JSON.stringify(input), ""), "cache")
      assert.include(JSON.stringify(body), JSON.stringify(input))
    }))

  it.scoped("close calls that are still open", () =>
    Effect.gen(function*() {
      for (const each of counters) {
        const { asked, counter } = yield* over(each)
        yield* count(counter, [
          Message.user("1 + 2?"),
          Message.assistant([Message.toolCall({ id: "c1", name: "add", params: {} })])
        ])
        assert.notInclude(JSON.stringify((yield* asked)[0].body), "Continue.")
      }
    }))

  it.scoped("end with the user where the provider wants it", () =>
    Effect.gen(function*() {
      for (const each of counters) {
        const { asked, counter } = yield* over(each)
        yield* count(counter, [Message.user("1 + 2?"), Message.assistant("3")])
        assert.strictEqual(
          JSON.stringify((yield* asked)[0].body).includes("Continue."),
          each === anthropic || each === gemini
        )
      }
    }))

  it.scoped("leave out reasoning of other providers, and the message with it", () =>
    Effect.gen(function*() {
      for (const each of counters) {
        const { asked, counter } = yield* over(each)
        yield* count(counter, [
          Message.user("1 + 2?"),
          Message.assistant([Message.reasoning("easy")]),
          Message.user("And 3 + 4?")
        ])
        assert.notInclude(JSON.stringify((yield* asked)[0].body), "easy")
      }
    }))

  it.scoped("name the model where the service wants it", () =>
    Effect.gen(function*() {
      const first = yield* over(gemini, gemini.server, { model: "models/gemini-2.5-flash" })
      yield* count(first.counter, [Message.system("Add."), Message.user("1 + 2?")])
      const [{ body, path }] = yield* first.asked
      assert.strictEqual(path, "/v1beta/models/gemini-2.5-flash:countTokens")
      assert.deepStrictEqual(body, {
        generateContentRequest: {
          model: "models/gemini-2.5-flash",
          systemInstruction: { parts: [{ text: "Add." }] },
          contents: [{ role: "user", parts: [{ text: "1 + 2?" }] }]
        }
      })
      const second = yield* over(vllm)
      yield* count(second.counter, [Message.user("1 + 2?")])
      assert.deepStrictEqual((yield* second.asked)[0].body, {
        model: "local",
        messages: [{ role: "user", content: "1 + 2?" }],
        add_generation_prompt: true
      })
      const third = yield* over(openai)
      yield* count(third.counter, [Message.user("1 + 2?")])
      assert.deepStrictEqual((yield* third.asked)[0].body, {
        model: "gpt-5",
        input: [{ role: "user", content: "1 + 2?" }]
      })
    }))

  it.scoped("keep results with their calls, whatever stands between them", () =>
    Effect.gen(function*() {
      const { asked, counter } = yield* over(anthropic)
      yield* count(counter, [
        Message.user("1 + 2?"),
        Message.assistant([Message.toolCall({ id: "c1", name: "add", params: {} })]),
        Message.user("Quick."),
        Message.tool([Message.toolResult({ id: "c1", name: "add", result: 3 })])
      ])
      const [{ body }] = yield* asked
      assert.deepStrictEqual(records((body as { messages: unknown }).messages).map(({ role }) => role), [
        "user",
        "assistant",
        "user"
      ])
    }))
})
