import { Effect, Layer, pipe, Schedule } from "effect"
import { type MemoryError, type Message, Summarizer, TokenCounter } from "effect-memory"
import { describe, expect, it } from "tstyche"

declare const counter: TokenCounter.Service
declare const failure: MemoryError.TokenCountError

describe("TokenCounter", () => {
  it("counting needs nothing and fails with a TokenCountError only", () => {
    type Count = Effect.Effect<number, MemoryError.TokenCountError>
    expect<TokenCounter.Service["count"]>().type.toBe<(text: string) => Count>()
    expect<TokenCounter.Service["countMessage"]>().type.toBe<(message: Message.Message) => Count>()
  })

  it("layers", () => {
    expect(TokenCounter.layerCharacters).type.toBe<Layer.Layer<TokenCounter.TokenCounter>>()
    expect(TokenCounter.layerTest()).type.toBe<Layer.Layer<TokenCounter.TokenCounter | TokenCounter.TestCalls>>()
    expect(TokenCounter.layerTest).type.toBeCallableWith((text: string) => text.length)
  })

  it("what counts text has nothing left to need, and fails with a TokenCountError", () => {
    expect(TokenCounter.make({ id: "a", count: () => Effect.succeed(1) })).type.toBe<TokenCounter.Service>()
    expect(TokenCounter.make).type.toBeCallableWith({ id: "a", count: () => failure })
    expect(TokenCounter.make).type.not.toBeCallableWith({ id: "a", count: () => Effect.fail("another error") })
    expect(TokenCounter.make).type.not.toBeCallableWith({ id: "a", count: () => Effect.as(Summarizer.Summarizer, 1) })
    expect(TokenCounter.make).type.not.toBeCallableWith({ count: () => Effect.succeed(1) })
  })

  it("combinators have both forms", () => {
    expect(TokenCounter.retry(counter, Schedule.recurs(1))).type.toBe<TokenCounter.Service>()
    expect(TokenCounter.orElse(counter, TokenCounter.characters)).type.toBe<TokenCounter.Service>()
    expect(
      pipe(counter, TokenCounter.retry(Schedule.recurs(1)), TokenCounter.orElse(TokenCounter.characters))
    ).type.toBe<TokenCounter.Service>()
  })

  it("a calibrated counter is one that surely has a calibration", () => {
    expect(TokenCounter.calibrated(counter)).type.toBe<
      Effect.Effect<TokenCounter.Service & { readonly calibration: TokenCounter.Calibration }>
    >()
    expect(pipe(counter, TokenCounter.calibrated, Layer.effect(TokenCounter.TokenCounter))).type.toBe<
      Layer.Layer<TokenCounter.TokenCounter>
    >()
  })

  it("a schedule of retries sees the error, and needs nothing", () => {
    const onRemote = Schedule.recurWhile((error: MemoryError.TokenCountError) => error.counter === "remote")
    expect(TokenCounter.retry).type.toBeCallableWith(counter, onRemote)
    expect(TokenCounter.retry).type.not.toBeCallableWith(
      counter,
      Schedule.recurWhile((error: MemoryError.SummarizeError) => error.reason === "timeout")
    )
    expect(TokenCounter.retry).type.not.toBeCallableWith(
      counter,
      Schedule.mapEffect(onRemote, () => Summarizer.Summarizer)
    )
  })
})
