import type { Effect, Layer } from "effect"
import { ContextWindow, type MemoryError, type Message, type TokenCounter, type TrimStrategy } from "effect-memory"
import { describe, expect, it } from "tstyche"

describe("ContextWindow", () => {
  it("layer and make take counter and strategy from outside", () => {
    expect(ContextWindow.layer({ maxTokens: 1 })).type.toBe<
      Layer.Layer<
        ContextWindow.ContextWindow,
        MemoryError.InvalidBudget,
        TokenCounter.TokenCounter | TrimStrategy.TrimStrategy
      >
    >()
    expect(ContextWindow.make({ maxTokens: 1 })).type.toBe<
      Effect.Effect<
        ContextWindow.Service,
        MemoryError.InvalidBudget,
        TokenCounter.TokenCounter | TrimStrategy.TrimStrategy
      >
    >()
  })

  it("layerTruncate needs nothing", () => {
    expect(ContextWindow.layerTruncate({ maxTokens: 1 })).type.toBe<
      Layer.Layer<ContextWindow.ContextWindow, MemoryError.InvalidBudget>
    >()
  })

  it("a window has a limit", () => {
    expect(ContextWindow.layer).type.not.toBeCallableWith({})
    expect(ContextWindow.layerTruncate).type.not.toBeCallableWith()
  })

  it("fit needs nothing, takes any iterable, and hands out a list of the caller's own", () => {
    expect<ContextWindow.Service["fit"]>().type.toBe<
      (
        messages: Iterable<Message.Message>
      ) => Effect.Effect<Array<Message.Message>, MemoryError.InvalidMessage | MemoryError.TokenCountError>
    >()
  })
})
