import { type ConfigError, Context, Effect, type Layer } from "effect"
import { type MemoryError, Summarizer, type TokenCounter, TrimStrategy } from "effect-memory"
import { describe, expect, it } from "tstyche"

class Archive extends Context.Tag("Archive")<Archive, { readonly name: string }>() {}

declare const window: TrimStrategy.Service
declare const archiving: Effect.Effect<TrimStrategy.Service, never, Archive>
declare const counting: Effect.Effect<TrimStrategy.Service, MemoryError.TokenCountError, TokenCounter.TokenCounter>
declare const configured: Effect.Effect<TrimStrategy.Service, ConfigError.ConfigError>

describe("TrimStrategy", () => {
  it("a strategy needs nothing and fails with a TrimError only", () => {
    type Trim = (input: TrimStrategy.TrimInput) => Effect.Effect<TrimStrategy.TrimResult, MemoryError.TrimError>
    expect<TrimStrategy.Service["trim"]>().type.toBe<Trim>()
    expect<TrimStrategy.Service["project"]>().type.toBe<Trim | undefined>()
    expect<TrimStrategy.Service["plan"]>().type.toBe<Trim | undefined>()
  })

  it("strategies are values, or effects that make one", () => {
    expect(TrimStrategy.windowDrop()).type.toBe<TrimStrategy.Service>()
    expect(TrimStrategy.truncate()).type.toBe<TrimStrategy.Service>()
    expect(TrimStrategy.clearToolResults()).type.toBe<TrimStrategy.Service>()
    expect(TrimStrategy.shortenParts({ maxTokens: 1 })).type.toBe<TrimStrategy.Service>()
    expect(TrimStrategy.summarize()).type.toBe<Effect.Effect<TrimStrategy.Service, never, Summarizer.Summarizer>>()
    expect(TrimStrategy.cascade(window, window)).type.toBe<TrimStrategy.Service>()
    expect(TrimStrategy.cascade).type.not.toBeCallableWith(window, TrimStrategy.summarize())
  })

  it("a strategy from a function has nothing left to need, and fails with a TrimError", () => {
    expect(TrimStrategy.make(({ messages }) => Effect.succeed({ messages, replace: false }))).type.toBe<
      TrimStrategy.Service
    >()
    expect(TrimStrategy.make).type.not.toBeCallableWith(() => Effect.fail("another error"))
    expect(TrimStrategy.make).type.not.toBeCallableWith(() => Effect.as(Archive, { messages: [], replace: false }))
  })

  it("layers", () => {
    expect(TrimStrategy.layerWindowDrop).type.toBe<Layer.Layer<TrimStrategy.TrimStrategy>>()
    expect(TrimStrategy.layerTest()).type.toBe<Layer.Layer<TrimStrategy.TrimStrategy | TrimStrategy.TestInputs>>()
    expect(TrimStrategy.layerTruncate).type.toBe<Layer.Layer<TrimStrategy.TrimStrategy>>()
    expect(TrimStrategy.layerSummarize()).type.toBe<
      Layer.Layer<TrimStrategy.TrimStrategy, never, Summarizer.Summarizer>
    >()
    expect(TrimStrategy.layerSummarize).type.toBeCallableWith({ maxSummaryTokens: 100, target: 0.8, role: "user" })
    expect(TrimStrategy.layerSummarize).type.not.toBeCallableWith({ role: "assistant" })
  })
})

describe("TrimStrategy.layerCascade", () => {
  it("without stages", () => {
    expect(TrimStrategy.layerCascade()).type.toBe<Layer.Layer<TrimStrategy.TrimStrategy>>()
  })

  it("of values alone", () => {
    expect(TrimStrategy.layerCascade(window)).type.toBe<Layer.Layer<TrimStrategy.TrimStrategy>>()
    expect(TrimStrategy.layerCascade(window, window)).type.toBe<Layer.Layer<TrimStrategy.TrimStrategy>>()
  })

  it("with one requirement", () => {
    expect(TrimStrategy.layerCascade(window, TrimStrategy.summarize())).type.toBe<
      Layer.Layer<TrimStrategy.TrimStrategy, never, Summarizer.Summarizer>
    >()
    expect(TrimStrategy.layerCascade(TrimStrategy.summarize({ maxSummaryTokens: 10 }), window)).type.toBe<
      Layer.Layer<TrimStrategy.TrimStrategy, never, Summarizer.Summarizer>
    >()
  })

  it("with one error", () => {
    expect(TrimStrategy.layerCascade(configured, window)).type.toBe<
      Layer.Layer<TrimStrategy.TrimStrategy, ConfigError.ConfigError>
    >()
  })

  it("with several requirements and errors", () => {
    expect(TrimStrategy.layerCascade(archiving, window, TrimStrategy.summarize(), counting, configured)).type.toBe<
      Layer.Layer<
        TrimStrategy.TrimStrategy,
        MemoryError.TokenCountError | ConfigError.ConfigError,
        Archive | Summarizer.Summarizer | TokenCounter.TokenCounter
      >
    >()
  })

  it("of a list", () => {
    const stages: ReadonlyArray<typeof window | typeof archiving | typeof counting> = [window, archiving, counting]
    expect(TrimStrategy.layerCascade(...stages)).type.toBe<
      Layer.Layer<TrimStrategy.TrimStrategy, MemoryError.TokenCountError, Archive | TokenCounter.TokenCounter>
    >()
  })

  it("of a strategy from the context", () => {
    expect(TrimStrategy.layerCascade(window, TrimStrategy.TrimStrategy)).type.toBe<
      Layer.Layer<TrimStrategy.TrimStrategy, never, TrimStrategy.TrimStrategy>
    >()
  })

  it("of nothing else", () => {
    expect(TrimStrategy.layerCascade).type.not.toBeCallableWith(Summarizer.Summarizer)
    expect(TrimStrategy.layerCascade).type.not.toBeCallableWith(Effect.void)
    expect(TrimStrategy.layerCascade).type.not.toBeCallableWith(TrimStrategy.layerWindowDrop)
    expect(TrimStrategy.layerCascade).type.not.toBeCallableWith(TrimStrategy.windowDrop)
  })
})
