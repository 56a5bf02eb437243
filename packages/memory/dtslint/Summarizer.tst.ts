import { Effect, type Layer, pipe, Schedule } from "effect"
import { type MemoryError, Summarizer, TokenCounter } from "effect-memory"
import { describe, expect, it } from "tstyche"

declare const summarizer: Summarizer.Service
declare const failure: MemoryError.SummarizeError

describe("Summarizer", () => {
  it("summarize needs nothing and fails with a SummarizeError only", () => {
    expect<Summarizer.Service["summarize"]>().type.toBe<
      (request: Summarizer.Request) => Effect.Effect<Summarizer.Summary, MemoryError.SummarizeError>
    >()
  })

  it("layers", () => {
    expect(Summarizer.layerExtractive).type.toBe<
      Layer.Layer<Summarizer.Summarizer, never, TokenCounter.TokenCounter>
    >()
    expect(Summarizer.layerTest(["text", Effect.succeed("text"), Effect.fail(failure), failure])).type.toBe<
      Layer.Layer<Summarizer.Summarizer | Summarizer.TestRequests>
    >()
    expect(Summarizer.layerTest).type.not.toBeCallableWith([Effect.fail("another error")])
    expect(Summarizer.layerTest).type.not.toBeCallableWith([TokenCounter.TokenCounter])
  })

  it("a model has nothing left to need, and fails with a SummarizeError", () => {
    expect(Summarizer.make(() => Effect.succeed({ text: "text" }))).type.toBe<Summarizer.Service>()
    expect(Summarizer.make).type.toBeCallableWith(() => failure)
    expect(Summarizer.make).type.not.toBeCallableWith(() => Effect.fail("another error"))
    expect(Summarizer.make).type.not.toBeCallableWith(() => Effect.as(TokenCounter.TokenCounter, { text: "text" }))
    expect(Summarizer.extractive(TokenCounter.characters)).type.toBe<Summarizer.Service>()
  })

  it("combinators have both forms", () => {
    const options = { maxInputTokens: 1000, counter: TokenCounter.characters }
    expect(Summarizer.retry(summarizer, Schedule.recurs(1))).type.toBe<Summarizer.Service>()
    expect(Summarizer.timeout(summarizer, "1 second")).type.toBe<Summarizer.Service>()
    expect(Summarizer.orElse(summarizer, summarizer)).type.toBe<Summarizer.Service>()
    expect(Summarizer.chunked(summarizer, options)).type.toBe<Summarizer.Service>()
    expect(
      pipe(
        summarizer,
        Summarizer.retry(Schedule.recurs(1)),
        Summarizer.timeout("1 second"),
        Summarizer.orElse(summarizer),
        Summarizer.chunked(options)
      )
    ).type.toBe<Summarizer.Service>()
  })

  it("a schedule of retries sees the error, and needs nothing", () => {
    const onTimeout = Schedule.recurWhile((error: MemoryError.SummarizeError) => error.reason === "timeout")
    expect(Summarizer.retry).type.toBeCallableWith(summarizer, onTimeout)
    expect(Summarizer.retry).type.not.toBeCallableWith(
      summarizer,
      Schedule.recurWhile((error: MemoryError.TokenCountError) => error.counter === "")
    )
    expect(Summarizer.retry).type.not.toBeCallableWith(
      summarizer,
      Schedule.mapEffect(onTimeout, () => TokenCounter.TokenCounter)
    )
  })
})
