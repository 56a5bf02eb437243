import { Config, type ConfigError, type Effect, type Layer, type Scope, type Stream } from "effect"
import {
  Memory,
  type MemoryError,
  type MemoryEvent,
  type MemoryPlan,
  type MemoryStore,
  type Message,
  type TokenCounter,
  type TrimStrategy
} from "effect-memory"
import { describe, expect, it } from "tstyche"

type Needs = TokenCounter.TokenCounter | TrimStrategy.TrimStrategy | MemoryStore.MemoryStore

describe("Memory", () => {
  it("layer takes counter, strategy and store from outside", () => {
    expect(Memory.layer()).type.toBe<Layer.Layer<Memory.Memory, MemoryError.InvalidBudget, Needs>>()
    expect(Memory.layer({ id: "chat", maxTokens: 1, maxRounds: undefined })).type.toBe<
      Layer.Layer<Memory.Memory, MemoryError.InvalidBudget, Needs>
    >()
  })

  it("make needs a scope besides", () => {
    expect(Memory.make({ maxTokens: 1 })).type.toBe<
      Effect.Effect<Memory.Service, MemoryError.InvalidBudget, Needs | Scope.Scope>
    >()
    expect(Memory.make).type.toBeCallableWith()
  })

  it("layerWindow needs nothing, and cannot do without a limit", () => {
    expect(Memory.layerWindow({ maxTokens: 1 })).type.toBe<Layer.Layer<Memory.Memory, MemoryError.InvalidBudget>>()
    expect(Memory.layerWindow).type.toBeCallableWith({ maxTokens: 1, maxRounds: undefined })
    expect(Memory.layerWindow).type.not.toBeCallableWith({ maxRounds: 1 })
  })

  it("layerUnbounded is a value that needs nothing and cannot fail", () => {
    expect(Memory.layerUnbounded).type.toBe<Layer.Layer<Memory.Memory>>()
  })

  it("layerConfig can fail by its configuration, and takes single values and whole configs", () => {
    expect(Memory.layerConfig({ id: Config.string("ID"), maxTokens: Config.integer("MAX_TOKENS") })).type.toBe<
      Layer.Layer<Memory.Memory, MemoryError.InvalidBudget | ConfigError.ConfigError, Needs>
    >()
    expect(Memory.layerConfig).type.toBeCallableWith({ maxTokens: Config.integer("MAX_TOKENS") })
    expect(Memory.layerConfig).type.toBeCallableWith(Config.all({ maxTokens: Config.integer("MAX_TOKENS") }))
    expect(Memory.layerConfig).type.not.toBeCallableWith({ maxTokens: Config.string("MAX_TOKENS") })
  })

  it("options are checked", () => {
    expect(Memory.layer).type.toBeCallableWith({ rules: "none", onOverflow: "fail", background: { at: 0.8 } })
    expect(Memory.layer).type.toBeCallableWith({ rules: "anthropic", trimTimeout: "10 seconds" })
    expect(Memory.layer).type.not.toBeCallableWith({ rules: "any" })
    expect(Memory.layer).type.not.toBeCallableWith({ maxToken: 1 })
  })
})

/** What the members of a service need, as far as their types tell. */
type NeedsOf<Service> = {
  readonly [K in keyof Service]: Service[K] extends (...args: infer _) => Effect.Effect<infer _A, infer _E, infer R> ? R
    : Service[K] extends Effect.Effect<infer _A, infer _E, infer R> ? R
    : Service[K] extends Stream.Stream<infer _A, infer _E, infer R> ? R
    : unknown
}

describe("Memory.Service", () => {
  it("nothing needs anything", () => {
    expect<NeedsOf<Memory.Service>>().type.toBe<{ readonly [K in keyof Memory.Service]: never }>()
  })

  type Recording = Effect.Effect<void, MemoryError.InvalidMessage | MemoryError.MemoryStoreError>

  it("recording fails by the message or the store, never by a counter", () => {
    expect<Memory.Service["record"]>().type.toBe<(message: Message.Message) => Recording>()
    expect<Memory.Service["recordProtected"]>().type.toBe<(message: Message.Message) => Recording>()
    expect<Memory.Service["recordAll"]>().type.toBe<(messages: Iterable<Message.Message>) => Recording>()
  })

  it("a context fails by counter, store or, in strict mode, by the budget", () => {
    expect<Memory.Service["context"]>().type.toBe<
      Effect.Effect<
        Array<Message.Message>,
        MemoryError.TokenCountError | MemoryError.MemoryStoreError | MemoryError.BudgetUnsatisfiable
      >
    >()
    expect<Memory.ContextError>().type.toBe<
      MemoryError.TokenCountError | MemoryError.MemoryStoreError | MemoryError.BudgetUnsatisfiable
    >()
  })

  it("plan and compact fail by the strategy too", () => {
    expect<Memory.Service["plan"]>().type.toBe<
      Effect.Effect<
        MemoryPlan.MemoryPlan,
        MemoryError.TokenCountError | MemoryError.MemoryStoreError | MemoryError.TrimError
      >
    >()
    expect<Memory.Service["compact"]>().type.toBe<
      Effect.Effect<boolean, Memory.ContextError | MemoryError.TrimError>
    >()
  })

  it("the rest fails by what it touches", () => {
    expect<Memory.Service["restore"]>().type.toBe<Effect.Effect<void, MemoryError.MemoryStoreError>>()
    expect<Memory.Service["clear"]>().type.toBe<Effect.Effect<void, MemoryError.MemoryStoreError>>()
    expect<Memory.Service["history"]>().type.toBe<Stream.Stream<MemoryStore.Entry, MemoryError.MemoryStoreError>>()
    expect<Memory.Service["usage"]>().type.toBe<
      Effect.Effect<Memory.Usage, MemoryError.MemoryStoreError | MemoryError.TokenCountError>
    >()
    expect<Memory.Service["events"]>().type.toBe<Stream.Stream<MemoryEvent.MemoryEvent>>()
  })

  it("what a provider billed is told without failure", () => {
    expect<Memory.Service["observeUsage"]>().type.toBe<
      (usage: { readonly inputTokens: number }) => Effect.Effect<void>
    >()
  })

  it("limits are set to a number or lifted", () => {
    type Setter = (limit: number | undefined) => Effect.Effect<void, MemoryError.InvalidBudget>
    expect<Memory.Service["setMaxTokens"]>().type.toBe<Setter>()
    expect<Memory.Service["setMaxRounds"]>().type.toBe<Setter>()
  })
})
