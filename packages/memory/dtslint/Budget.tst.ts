import type { Effect } from "effect"
import { Budget, type MemoryError } from "effect-memory"
import { describe, expect, it } from "tstyche"

describe("Budget", () => {
  it("constructors can fail, and need nothing", () => {
    expect(Budget.tokens(1)).type.toBe<Effect.Effect<Budget.Budget, MemoryError.InvalidBudget>>()
    expect(Budget.rounds(1)).type.toBe<Effect.Effect<Budget.Budget, MemoryError.InvalidBudget>>()
    expect(Budget.both(1, 1)).type.toBe<Effect.Effect<Budget.Budget, MemoryError.InvalidBudget>>()
    expect(Budget.make({})).type.toBe<Effect.Effect<Budget.Budget, MemoryError.InvalidBudget>>()
    expect(Budget.unlimited).type.toBe<Budget.Budget>()
  })

  it("limits may be absent or undefined", () => {
    expect(Budget.make).type.toBeCallableWith({ maxTokens: 1 })
    expect(Budget.make).type.toBeCallableWith({ maxRounds: undefined, maxTokens: undefined })
    expect(Budget.make).type.not.toBeCallableWith({ maxTokens: "1" })
  })
})
