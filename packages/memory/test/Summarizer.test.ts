import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Exit, Fiber, Option, pipe, Ref, Schedule, TestClock } from "effect"
import { MemoryError, Message, Summarizer, TokenCounter } from "effect-memory"

const request: Summarizer.Request = {
  messages: [Message.user("Where is the secret harbour?"), Message.assistant("In the north.")],
  previous: undefined,
  maxTokens: 100
}

const failure = (reason: MemoryError.SummarizeError["reason"]) =>
  new MemoryError.SummarizeError({ reason, detail: "for a test" })

/** A service that answers from a list and counts how often it was asked. */
const scripted = (replies: ReadonlyArray<Effect.Effect<string, MemoryError.SummarizeError>>) =>
  Effect.map(Ref.make(0), (asked) => ({
    asked: Ref.get(asked),
    service: Summarizer.make(() =>
      Effect.flatMap(Ref.getAndUpdate(asked, (n) => n + 1), (n) => Effect.map(replies[n], (text) => ({ text })))
    )
  }))

const forked = (service: Summarizer.Service) => Effect.fork(Effect.either(service.summarize(request)))

describe("Summarizer", () => {
  describe("make", () => {
    it.effect("trims the reply and passes on the usage", () =>
      Effect.gen(function*() {
        const usage = { inputTokens: 10, outputTokens: 3 }
        const summary = yield* Summarizer.make(() => Effect.succeed({ text: "\n  A trip north. \n", usage }))
          .summarize(request)
        assert.deepStrictEqual(summary, { text: "A trip north.", usage })
      }))

    it.effect("leaves usage undefined where nobody said", () =>
      Effect.gen(function*() {
        const summary = yield* Summarizer.make(() => Effect.succeed({ text: "x", finish: "stop" })).summarize(request)
        assert.deepStrictEqual(summary, { text: "x", usage: undefined })
      }))

    it.effect("makes the reply well-formed", () =>
      Effect.gen(function*() {
        const summary = yield* Summarizer.make(() => Effect.succeed({ text: "cut \ud83d" })).summarize(request)
        assert.strictEqual(summary.text, "cut \ufffd")
      }))

    it.effect.each(
      [
        ["empty", { text: "" }],
        ["empty", { text: " \n\t\u00a0\u200b\ufeff" }],
        ["truncated", { text: "The user wa", finish: "length" }],
        ["truncated", { text: "", finish: "length" }],
        ["refused", { text: "I cannot do that.", finish: "refusal" }],
        ["refused", { text: "", finish: "refusal" }]
      ] as const
    )("fails as %s for %j", ([reason, completion]) =>
      Effect.gen(function*() {
        const error = yield* Effect.flip(Summarizer.make(() => Effect.succeed(completion)).summarize(request))
        assert.strictEqual(error.reason, reason)
        assert.notInclude(error.message, "harbour")
        if (completion.text.trim() !== "") assert.notInclude(error.message, completion.text)
      }))

    it.effect("passes on the error of the model", () =>
      Effect.gen(function*() {
        const error = yield* Effect.flip(Summarizer.make(() => failure("provider")).summarize(request))
        assert.strictEqual(error.reason, "provider")
      }))

    it.effect("does not look at the length of the reply", () =>
      Effect.gen(function*() {
        const long = "word ".repeat(1000).trim()
        const summary = yield* Summarizer.make(() => Effect.succeed({ text: long })).summarize({
          ...request,
          maxTokens: 1
        })
        assert.strictEqual(summary.text, long)
      }))

    it.effect("never asks for a summary of the previous summary alone", () =>
      Effect.gen(function*() {
        const { asked, service } = yield* scripted([])
        const summary = yield* service.summarize({ ...request, messages: [], previous: " before " })
        assert.deepStrictEqual(summary, { text: "before", usage: undefined })
        const error = yield* Effect.flip(service.summarize({ ...request, messages: [] }))
        assert.strictEqual(error.reason, "empty")
        assert.strictEqual(yield* asked, 0)
      }))
  })

  describe("retry", () => {
    it.effect("asks again by the schedule, in both forms", () =>
      Effect.gen(function*() {
        for (
          const combine of [
            (self: Summarizer.Service) => Summarizer.retry(self, Schedule.spaced("1 second")),
            Summarizer.retry(Schedule.spaced("1 second"))
          ]
        ) {
          const { asked, service } = yield* scripted([failure("provider"), Effect.succeed(""), Effect.succeed("done")])
          const fiber = yield* forked(combine(service))
          yield* TestClock.adjust("999 millis")
          assert.strictEqual(yield* asked, 1)
          yield* TestClock.adjust("1 millis")
          assert.strictEqual(yield* asked, 2)
          yield* TestClock.adjust("1 second")
          const summary = yield* yield* Fiber.join(fiber)
          assert.strictEqual(summary.text, "done")
        }
      }))

    it.effect("gives the last error when the schedule ends", () =>
      Effect.gen(function*() {
        const { asked, service } = yield* scripted([failure("provider"), failure("timeout")])
        const error = yield* Effect.flip(Summarizer.retry(service, Schedule.recurs(1)).summarize(request))
        assert.strictEqual(error.reason, "timeout")
        assert.strictEqual(yield* asked, 2)
      }))

    it.effect.each(["truncated", "refused", "overflow", "grew"] as const)(
      "does not repeat what ends as %s",
      (reason) =>
        Effect.gen(function*() {
          const { asked, service } = yield* scripted([failure(reason), Effect.succeed("too late")])
          const error = yield* Effect.flip(Summarizer.retry(service, Schedule.recurs(5)).summarize(request))
          assert.strictEqual(error.reason, reason)
          assert.strictEqual(yield* asked, 1)
        })
    )
  })

  describe("timeout", () => {
    it.effect("gives up in time, in both forms", () =>
      Effect.gen(function*() {
        const silent = Summarizer.make(() => Effect.never)
        for (const service of [Summarizer.timeout(silent, "5 seconds"), Summarizer.timeout("5 seconds")(silent)]) {
          const fiber = yield* forked(service)
          yield* TestClock.adjust("4999 millis")
          assert.isTrue(Option.isNone(yield* Fiber.poll(fiber)))
          yield* TestClock.adjust("1 millis")
          const error = yield* Effect.flip(yield* Fiber.join(fiber))
          assert.strictEqual(error.reason, "timeout")
          assert.include(error.message, "5s")
        }
      }))

    it.effect("does not wait for a summarizer that cannot be interrupted", () =>
      Effect.gen(function*() {
        const gate = yield* Deferred.make<void>()
        const stubborn = Summarizer.make(() =>
          Effect.as(Effect.uninterruptible(Deferred.await(gate)), { text: "at last" })
        )
        const fiber = yield* forked(Summarizer.timeout(stubborn, "1 second"))
        yield* TestClock.adjust("1 second")
        const error = yield* Effect.flip(yield* Fiber.join(fiber))
        assert.strictEqual(error.reason, "timeout")
        yield* Deferred.succeed(gate, undefined)
      }))

    it.effect("stands back for a reply in time", () =>
      Effect.gen(function*() {
        const slow = Summarizer.make(() => Effect.delay(Effect.succeed({ text: "in time" }), "1 second"))
        const fiber = yield* forked(Summarizer.timeout(slow, "2 seconds"))
        yield* TestClock.adjust("1 second")
        assert.strictEqual((yield* yield* Fiber.join(fiber)).text, "in time")
      }))

    it.effect("works per attempt inside retry", () =>
      Effect.gen(function*() {
        const { asked, service } = yield* scripted([Effect.never, Effect.succeed("second")])
        const fiber = yield* forked(
          pipe(service, Summarizer.timeout("1 second"), Summarizer.retry(Schedule.recurs(1)))
        )
        yield* TestClock.adjust("1 second")
        assert.strictEqual((yield* yield* Fiber.join(fiber)).text, "second")
        assert.strictEqual(yield* asked, 2)
      }))
  })

  describe("orElse", () => {
    it.effect("asks the fallback with the same request, in both forms", () =>
      Effect.gen(function*() {
        const broken = Summarizer.make(() => failure("refused"))
        const seen = yield* Ref.make<ReadonlyArray<Summarizer.Request>>([])
        const fallback: Summarizer.Service = {
          summarize: (request) =>
            Effect.as(Ref.update(seen, (all) => [...all, request]), { text: "fallback", usage: undefined })
        }
        for (const service of [Summarizer.orElse(broken, fallback), Summarizer.orElse(fallback)(broken)]) {
          assert.strictEqual((yield* service.summarize(request)).text, "fallback")
        }
        assert.deepStrictEqual(yield* Ref.get(seen), [request, request])
      }))

    it.effect("does not ask the fallback without need", () =>
      Effect.gen(function*() {
        const { asked, service } = yield* scripted([])
        const summary = yield* Summarizer.orElse(Summarizer.make(() => Effect.succeed({ text: "first" })), service)
          .summarize(request)
        assert.strictEqual(summary.text, "first")
        assert.strictEqual(yield* asked, 0)
      }))

    it.effect("gives the error of the fallback", () =>
      Effect.gen(function*() {
        const service = Summarizer.orElse(
          Summarizer.make(() => failure("refused")),
          Summarizer.make(() => failure("empty"))
        )
        assert.strictEqual((yield* Effect.flip(service.summarize(request))).reason, "empty")
      }))
  })

  it.effect("interruption ends the request and starts nothing else", () =>
    Effect.gen(function*() {
      const started = yield* Deferred.make<void>()
      const ended = yield* Deferred.make<void>()
      const hanging = Summarizer.make(() =>
        Deferred.succeed(started, undefined).pipe(
          Effect.zipRight(Effect.never),
          Effect.onInterrupt(() => Deferred.succeed(ended, undefined))
        )
      )
      const { asked, service } = yield* scripted([])
      const fiber = yield* Effect.fork(
        pipe(
          hanging,
          Summarizer.timeout("1 minute"),
          Summarizer.retry(Schedule.forever),
          Summarizer.chunked({ maxInputTokens: 2000, counter: TokenCounter.characters }),
          Summarizer.orElse(service)
        ).summarize(request)
      )
      yield* Deferred.await(started)
      assert.isTrue(Exit.isInterrupted(yield* Fiber.interrupt(fiber)))
      yield* Deferred.await(ended)
      assert.strictEqual(yield* asked, 0)
    }))

  describe("layerTest", () => {
    it.effect("replies in order and records the requests", () =>
      Effect.gen(function*() {
        const summarizer = yield* Summarizer.Summarizer
        const test = yield* Summarizer.TestRequests
        assert.deepStrictEqual(yield* test.requests, [])
        assert.strictEqual((yield* summarizer.summarize(request)).text, "one")
        assert.strictEqual((yield* Effect.flip(summarizer.summarize(request))).reason, "refused")
        const second = { ...request, previous: "one" }
        assert.strictEqual((yield* summarizer.summarize(second)).text, "two")
        assert.strictEqual((yield* Effect.flip(summarizer.summarize(request))).reason, "empty")
        assert.deepStrictEqual(yield* test.requests, [request, request, second, request])
      }).pipe(
        Effect.provide(Summarizer.layerTest(["one", failure("refused"), Effect.succeed(" two "), "  "]))
      ))

    it.effect("says so when there is no reply left", () =>
      Effect.gen(function*() {
        const summarizer = yield* Summarizer.Summarizer
        yield* summarizer.summarize(request)
        const error = yield* Effect.flip(summarizer.summarize(request))
        assert.strictEqual(error.reason, "provider")
        assert.include(error.message, "no reply left after 1")
        assert.strictEqual((yield* Effect.flatMap(Summarizer.TestRequests, (test) => test.requests)).length, 2)
      }).pipe(Effect.provide(Summarizer.layerTest(["only"]))))

    it.effect("records a request that never ends", () =>
      Effect.gen(function*() {
        const summarizer = yield* Summarizer.Summarizer
        const fiber = yield* Effect.fork(summarizer.summarize(request))
        yield* Effect.yieldNow()
        assert.strictEqual((yield* Effect.flatMap(Summarizer.TestRequests, (test) => test.requests)).length, 1)
        yield* Fiber.interrupt(fiber)
      }).pipe(Effect.provide(Summarizer.layerTest([Effect.never]))))
  })
})
