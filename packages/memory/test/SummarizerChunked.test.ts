import { assert, describe, it } from "@effect/vitest"
import { Effect, FastCheck as fc, Ref } from "effect"
import { MemoryError, Message, Summarizer, TokenCounter, Transcript } from "effect-memory"
import * as generators from "./generators.js"

const bytes = TokenCounter.make({
  id: "bytes",
  count: (text) => Effect.succeed(new TextEncoder().encode(text).length),
  overhead: 7
})

/** Longer texts cost more than their parts. */
const superadditive = TokenCounter.make({
  id: "superadditive",
  count: (text) => Effect.succeed(Math.ceil(text.length ** 1.1))
})

const counters = [TokenCounter.characters, bytes, superadditive]

/** Short instructions, so that small windows can be tried. */
const prompt = "Sum up."

const make = (reply: (n: number) => string = (n) => `summary ${n}`) =>
  Effect.gen(function*() {
    const calls = yield* Ref.make<ReadonlyArray<Summarizer.Call>>([])
    const requests = yield* Ref.make<ReadonlyArray<Summarizer.Request>>([])
    const model = Summarizer.make((call) =>
      Effect.map(Ref.updateAndGet(calls, (all) => [...all, call]), ({ length }) => ({
        text: reply(length),
        usage: { inputTokens: 100, outputTokens: length }
      }))
    )
    const service: Summarizer.Service = {
      summarize: (request) =>
        Effect.zipRight(Ref.update(requests, (all) => [...all, request]), model.summarize(request))
    }
    return { calls: Ref.get(calls), requests: Ref.get(requests), service }
  })

const tokens = (counter: TokenCounter.Service, { system, user }: Summarizer.Call) =>
  Effect.zipWith(counter.count(system), counter.count(user), (a, b) => a + b + counter.overhead)

const round = (i: number): ReadonlyArray<Message.Message> => [
  Message.user(`Question ${i}: ${"why ".repeat(20)}`),
  Message.assistant(`Answer ${i}: ${"because ".repeat(20)}`)
]

describe("Summarizer.chunked", () => {
  it.effect("passes on what fits", () =>
    Effect.gen(function*() {
      const { requests, service } = yield* make()
      const request = { messages: round(1), previous: "before", maxTokens: 50 }
      const chunked = Summarizer.chunked(service, { maxInputTokens: 2000, counter: TokenCounter.characters })
      assert.deepStrictEqual(yield* chunked.summarize(request), {
        text: "summary 1",
        usage: { inputTokens: 100, outputTokens: 1 }
      })
      assert.strictEqual((yield* requests)[0], request)
    }))

  it.effect("folds pieces, each with the summary so far, in both forms", () =>
    Effect.gen(function*() {
      const options = { maxInputTokens: 300, counter: TokenCounter.characters }
      for (
        const combine of [Summarizer.chunked(options), (self: Summarizer.Service) => Summarizer.chunked(self, options)]
      ) {
        const { requests, service } = yield* make()
        const messages = Array.from({ length: 10 }, (_, i) => round(i)).flat()
        const summary = yield* combine(service).summarize({ messages, previous: "before", maxTokens: 50, prompt })
        const seen = yield* requests
        assert.isAbove(seen.length, 2)
        assert.deepStrictEqual(seen.flatMap((request) => request.messages), messages)
        assert.deepStrictEqual(
          seen.map((request) => request.previous),
          ["before", ...seen.slice(1).map((_, i) => `summary ${i + 1}`)]
        )
        assert.deepStrictEqual(seen.map(({ maxTokens, prompt }) => [maxTokens, prompt]), seen.map(() => [50, prompt]))
        assert.deepStrictEqual(summary, {
          text: `summary ${seen.length}`,
          usage: { inputTokens: 100 * seen.length, outputTokens: seen.length * (seen.length + 1) / 2 }
        })
      }
    }))

  it.effect("keeps calls and results together, however late they come", () =>
    Effect.gen(function*() {
      const { requests, service } = yield* make()
      const messages = [
        ...round(1),
        Message.assistant([
          Message.toolCall({ id: "a", name: "slow", params: { x: "y".repeat(200) } }),
          Message.toolCall({ id: "b", name: "fast", params: {} })
        ]),
        Message.tool([Message.toolResult({ id: "b", name: "fast", result: "z".repeat(200) })]),
        Message.user("Hurry, please."),
        Message.tool([Message.toolResult({ id: "a", name: "slow", result: "done" })]),
        ...round(2)
      ]
      yield* Summarizer.chunked(service, { maxInputTokens: 190, counter: TokenCounter.characters })
        .summarize({ messages, previous: undefined, maxTokens: 50, prompt })
      const lengths = (yield* requests).map((request) => request.messages.length)
      assert.deepStrictEqual(lengths, [2, 4, 2])
    }))

  it.effect("shortens a group that is too large, at both ends of its long texts", () =>
    Effect.gen(function*() {
      const { calls, requests, service } = yield* make()
      const log = `BEGIN ${"😀".repeat(5000)} END`
      const messages = [
        Message.user("Read it."),
        Message.assistant([Message.toolCall({ id: "a", name: "read", params: { path: "src/a.ts" } })]),
        Message.tool([Message.toolResult({ id: "a", name: "read", result: log })])
      ]
      yield* Summarizer.chunked(service, { maxInputTokens: 400, counter: bytes })
        .summarize({ messages, previous: undefined, maxTokens: 50, prompt })
      const [, { user }] = yield* calls
      assert.include(user, "tool_calls: read {\"path\":\"src/a.ts\"}")
      assert.match(user, /tool_result: BEGIN 😀+\[…\]😀+ END\n/u)
      assert.isTrue(user.isWellFormed())
      assert.isAbove(yield* tokens(bytes, (yield* calls)[1]), 360)
      assert.strictEqual((yield* requests)[1].messages.length, 2)
      assert.strictEqual(Message.toolResults(messages[2])[0].result, log)
    }))

  it.effect("collapses a group of very many messages", () =>
    Effect.gen(function*() {
      const { calls, service } = yield* make()
      const ids = Array.from({ length: 300 }, (_, i) => `c${i}`)
      const messages = [
        Message.assistant(ids.map((id) => Message.toolCall({ id, name: "first", params: {} }))),
        ...ids.map((id) => Message.tool([Message.toolResult({ id, name: "first", result: "x".repeat(50) })]))
      ]
      yield* Summarizer.chunked(service, { maxInputTokens: 300, counter: TokenCounter.characters })
        .summarize({ messages, previous: undefined, maxTokens: 50, prompt })
      assert.strictEqual((yield* calls).length, 1)
      assert.isAtMost(yield* tokens(TokenCounter.characters, (yield* calls)[0]), 300)
      assert.include((yield* calls)[0].user, "tool_calls: first {}")
    }))

  it.effect("fails where nothing fits beside the previous summary", () =>
    Effect.gen(function*() {
      const { calls, service } = yield* make()
      const error = yield* Effect.flip(
        Summarizer.chunked(service, { maxInputTokens: 100, counter: TokenCounter.characters })
          .summarize({ messages: round(1), previous: "secret ".repeat(100), maxTokens: 50, prompt })
      )
      assert.strictEqual(error.reason, "overflow")
      assert.include(error.message, "maxInputTokens is 100")
      assert.notInclude(error.message, "secret")
      assert.deepStrictEqual(yield* calls, [])
    }))

  it.effect("fails where the counter does", () =>
    Effect.gen(function*() {
      const { service } = yield* make()
      const cause = new MemoryError.TokenCountError({ counter: "broken", reason: "no answer" })
      const counter = TokenCounter.make({ id: "broken", count: () => Effect.fail(cause) })
      const error = yield* Effect.flip(
        Summarizer.chunked(service, { maxInputTokens: 100, counter })
          .summarize({ messages: round(1), previous: undefined, maxTokens: 50 })
      )
      assert.strictEqual(error.reason, "provider")
      assert.instanceOf(error.cause, MemoryError.TokenCountError)
    }))

  it.effect("stops at the first piece that fails", () =>
    Effect.gen(function*() {
      const messages = Array.from({ length: 10 }, (_, i) => round(i)).flat()
      const request = { messages, previous: undefined, maxTokens: 50, prompt }
      const error = yield* Effect.flip(Effect.flatMap(Summarizer.Summarizer, (self) =>
        Summarizer.chunked(self, { maxInputTokens: 300, counter: TokenCounter.characters }).summarize(request)))
      assert.strictEqual(error.reason, "empty")
      assert.strictEqual(
        (yield* Effect.flatMap(Summarizer.TestRequests, (test) =>
          test.requests)).length,
        2
      )
    }).pipe(Effect.provide(Summarizer.layerTest(["first", ""]))))

  it.effect("leaves a request without messages to the summarizer", () =>
    Effect.gen(function*() {
      const { service } = yield* make()
      const summary = yield* Summarizer.chunked(service, { maxInputTokens: 1, counter: TokenCounter.characters })
        .summarize({ messages: [], previous: "before", maxTokens: 50 })
      assert.strictEqual(summary.text, "before")
    }))

  it.effect.prop(
    "every piece fits, in order, with nothing lost and no group cut",
    {
      messages: fc.oneof(generators.conversation, generators.hostile),
      previous: fc.option(generators.text, { nil: undefined }),
      counter: fc.constantFrom(...counters),
      room: fc.integer({ min: 20, max: 2000 })
    },
    ({ counter, messages, previous, room }) =>
      Effect.gen(function*() {
        generators.freeze(messages)
        const { calls, requests, service } = yield* make((n) => `s${n}`)
        // Room for instructions and marks, and for some text.
        const smallest = yield* make()
        const before = `summary ${previous ?? ""}`
        yield* smallest.service.summarize({ messages: [Message.user("")], previous: before, maxTokens: 9, prompt })
        const maxInputTokens = (yield* tokens(counter, (yield* smallest.calls)[0])) + room
        const summary = yield* Effect.either(
          Summarizer.chunked(service, { maxInputTokens, counter }).summarize({
            messages,
            previous,
            maxTokens: 9,
            prompt
          })
        )
        for (const call of yield* calls) assert.isAtMost(yield* tokens(counter, call), maxInputTokens)
        if (messages.length === 0) return
        assert.strictEqual(summary._tag, "Right")
        const pieces = (yield* requests).map((request) => request.messages)
        const whole = pieces.flat()
        // In less room, groups may be collapsed into one message.
        if (room < 800) return
        assert.deepStrictEqual(whole.map(({ role }) => role), messages.map(({ role }) => role))
        const ends = new Set(
          pieces.reduce<Array<number>>((all, { length }) => [...all, (all.at(-1) ?? 0) + length], [])
        )
        for (const { assistant, results } of Transcript.rounds(messages).flatMap(({ groups }) => groups)) {
          for (let i = assistant + 1; i <= (results.at(-1) ?? assistant); i++) assert.isFalse(ends.has(i))
        }
      }),
    { fastCheck: { numRuns: 100 }, timeout: 30_000 }
  )

  it.effect("takes a large conversation in a reasonable number of pieces", () =>
    Effect.gen(function*() {
      const { calls, service } = yield* make()
      const messages = Array.from({ length: 3000 }, (_, i) => round(i)).flat()
      yield* Summarizer.chunked(service, { maxInputTokens: 10_000, counter: TokenCounter.characters })
        .summarize({ messages, previous: undefined, maxTokens: 50 })
      const total = 3000 * 70
      assert.isAtMost((yield* calls).length, Math.ceil(total / 9000))
    }))
})
