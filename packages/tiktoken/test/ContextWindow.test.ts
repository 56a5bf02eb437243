import { assert, describe, it } from "@effect/vitest"
import { TiktokenCounter } from "@effect-memory/tiktoken"
import { Effect, FastCheck, Layer } from "effect"
import { ContextWindow, Message, TokenCounter, TrimStrategy } from "effect-memory"
import { reference } from "./support/reference.js"
import { samples } from "./support/samples.js"

const { assistant, system, user } = Message

/** What `ContextWindow` of lc-memory counts by: `cl100k_base`, 4 for a message and 2 for the conversation. */
const counter = TiktokenCounter.layer({ encoding: "cl100k_base", figures: { message: 4, reply: 2 } })

const windowOf = (maxTokens: number) =>
  ContextWindow.layer({ maxTokens }).pipe(Layer.provide(TrimStrategy.layerTruncate), Layer.provideMerge(counter))

const fit = (maxTokens: number, messages: ReadonlyArray<Message.Message>) =>
  Effect.gen(function*() {
    const window = yield* ContextWindow.ContextWindow
    return yield* window.fit(messages)
  }).pipe(Effect.provide(windowOf(maxTokens)))

const cost = (message: Message.Message): number =>
  message.role === "system"
    ? 0
    : Message.parts(message).reduce(
      (sum, part) => part.type === "text" ? sum + reference("cl100k_base")(part.text) : sum,
      4
    )

const text = FastCheck.constantFrom(...Object.values(samples).filter((sample) => sample.trim() !== ""))

const conversation = FastCheck.array(FastCheck.tuple(text, text), { minLength: 1, maxLength: 6 }).map((rounds) => [
  system(samples["prose"]),
  ...rounds.flatMap(([question, answer]) => [user(question), assistant(answer)])
])

describe("ContextWindow over tiktoken", () => {
  it.effect("counts by the source's convention", () =>
    Effect.gen(function*() {
      const counter = yield* TokenCounter.TokenCounter
      assert.strictEqual(counter.overhead, 2)
      assert.strictEqual(yield* counter.countMessage(user("Hello")), 5)
    }).pipe(Effect.provide(counter)))

  it.effect("hands out what fits as it is", () =>
    Effect.gen(function*() {
      const messages = [user("Hello"), assistant("Hi there"), user("How are you?")]
      assert.deepStrictEqual(yield* fit(4096, messages), messages)
    }))

  it.effect("drops from the beginning what exact counts have no room for", () =>
    Effect.gen(function*() {
      const messages = [system("Be brief."), user("你好，世界。"), assistant("🙂"), user("Bye"), assistant("Bye!")]
      const [, , , last, answer] = messages
      const needed = 2 + cost(last) + cost(answer)
      assert.deepStrictEqual(yield* fit(needed, messages), [messages[0], last, answer])
      const all = needed + cost(messages[1]) + cost(messages[2])
      assert.deepStrictEqual(yield* fit(all, messages), messages)
      assert.deepStrictEqual((yield* fit(all - 1, messages)).length, 4)
    }))

  it.effect.prop("holds the window by what tiktoken counts", {
    messages: conversation,
    maxTokens: FastCheck.integer({ min: 100, max: 2000 })
  }, ({ maxTokens, messages }) =>
    Effect.gen(function*() {
      const fitted = yield* fit(maxTokens, messages)
      const tokens = fitted.reduce((sum, message) => sum + cost(message), 2)
      const newest = messages.slice(-2).reduce((sum, message) => sum + cost(message), 2)
      assert.isAtMost(tokens, Math.max(maxTokens, newest))
      assert.deepStrictEqual(fitted.slice(1), messages.slice(messages.length - fitted.length + 1))
    }), { fastCheck: { numRuns: 50 } })
})
