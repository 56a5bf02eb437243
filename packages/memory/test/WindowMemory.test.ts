import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { Memory, MemoryStore, Message, TokenCounter, TrimStrategy } from "effect-memory"

const { assistant, system, tool, user } = Message

/** `u1`, `a1`, … `un`, `an`: one token each. */
const rounds = (n: number, from = 1): ReadonlyArray<Message.Message> =>
  Array.from({ length: n }, (_, i) => [user(`u${from + i}`), assistant(`a${from + i}`)]).flat()

const texts = (messages: ReadonlyArray<Message.Message>): ReadonlyArray<string> =>
  messages.map((message) =>
    Message.parts(message).map((part) =>
      part.type === "text" ? part.text : part.type === "tool-result" ? String(part.result) : part.type
    ).join("+")
  )

const contextOf = (messages: ReadonlyArray<Message.Message>) =>
  Effect.gen(function*() {
    const memory = yield* Memory.Memory
    yield* memory.recordAll(messages)
    return texts(yield* memory.context)
  })

const withStrategy = (
  options: Memory.Options,
  strategy: TrimStrategy.Service,
  counter: Layer.Layer<TokenCounter.TokenCounter> = TokenCounter.layerCharacters
) =>
  Memory.layer(options).pipe(
    Layer.provide([counter, Layer.succeed(TrimStrategy.TrimStrategy, strategy), MemoryStore.layerMemory])
  )

const window = (maxTokens: number, maxRounds?: number) => Memory.layerWindow({ maxTokens, maxRounds })

describe("WindowMemory vectors", () => {
  it.effect("1: everything fits", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual(yield* contextOf([user("hello"), assistant("hello!")]), ["hello", "hello!"])
    }).pipe(Effect.provide(window(1000))))

  it.effect("2: drops whole rounds, oldest first", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual(yield* contextOf(rounds(3)), ["u3", "a3"])
    }).pipe(Effect.provide(window(3))))

  it.effect("6: a limit of rounds", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual(yield* contextOf(rounds(4)), ["u3", "a3", "u4", "a4"])
    }).pipe(Effect.provide(window(1000, 2))))

  it.effect("8: a projection loses nothing", () =>
    Effect.gen(function*() {
      const memory = yield* Memory.Memory
      assert.deepStrictEqual(yield* contextOf(rounds(2)), ["u2", "a2"])
      yield* memory.setMaxTokens(1000)
      assert.strictEqual((yield* memory.context).length, 4)
    }).pipe(Effect.provide(window(3))))

  it.effect("11, 12: a strategy that materializes is called once, and sees its summary next time", () =>
    Effect.gen(function*() {
      const inputs: Array<ReadonlyArray<string>> = []
      const strategy = TrimStrategy.make(({ messages, newest }) =>
        Effect.sync(() => {
          inputs.push(texts(messages))
          return { messages: [system("prior summary"), ...messages.slice(newest)], replace: true }
        })
      )
      yield* Effect.gen(function*() {
        const memory = yield* Memory.Memory
        assert.deepStrictEqual(yield* contextOf(rounds(4)), ["prior summary", "u4", "a4"])
        assert.deepStrictEqual(texts(yield* memory.context), ["prior summary", "u4", "a4"])
        assert.strictEqual(inputs.length, 1)
        yield* memory.recordAll(rounds(2, 5))
        assert.deepStrictEqual(texts(yield* memory.context), ["prior summary", "u6", "a6"])
        assert.strictEqual(inputs.length, 2)
        assert.include(inputs[1], "prior summary")
      }).pipe(Effect.provide(withStrategy({ maxTokens: 7 }, strategy)))
    }))

  it.effect("19, 20: protected rounds stay in their place", () =>
    Effect.gen(function*() {
      const memory = yield* Memory.Memory
      yield* memory.recordAll([...rounds(1), user("u2")])
      yield* memory.record(
        assistant([Message.text("a2"), Message.toolCall({ id: "c1", name: "load_skill", params: { name: "x" } })])
      )
      yield* memory.recordProtected(tool([Message.toolResult({ id: "c1", name: "load_skill", result: "body" })]))
      yield* memory.recordAll(rounds(1, 3))
      assert.deepStrictEqual(texts(yield* memory.context), ["u2", "a2+tool-call", "body", "u3", "a3"])
    }).pipe(Effect.provide(window(3))))
})
