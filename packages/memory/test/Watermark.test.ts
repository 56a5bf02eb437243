import { assert, describe, it } from "@effect/vitest"
import { Effect, FastCheck as fc, Stream } from "effect"
import { Message, TokenCounter, TrimStrategy } from "effect-memory"
import { makeSummarizing, scripted, words } from "./summarizing.js"
import { makeMemory, rounds, runs, texts } from "./utilities.js"

const { assistant, tool, toolCall, toolResult, user } = Message

type Target = TrimStrategy.Target | undefined

/** Strategies that only project, by name. */
const projecting: Record<string, (target: Target) => TrimStrategy.Service> = {
  windowDrop: (target) => TrimStrategy.windowDrop({ target }),
  truncate: (target) => TrimStrategy.truncate({ target }),
  clearToolResults: (target) => TrimStrategy.clearToolResults({ target, keep: 1 }),
  shortenParts: (target) => TrimStrategy.shortenParts({ target, maxTokens: 20 })
}

const isPrefix = (shorter: ReadonlyArray<Message.Message>, longer: ReadonlyArray<Message.Message>) =>
  shorter.every((message, i) => message === longer[i])

/** Groups of up to 80 tokens, in one round or in one each. */
const conversation = (sizes: ReadonlyArray<number>, inOneRound: boolean) =>
  sizes.map((size, i) => [
    ...(inOneRound && i > 0 ? [] : [user("u")]),
    assistant([toolCall({ id: `c${i}`, name: "f", params: {} })]),
    tool([toolResult({ id: `c${i}`, name: "f", result: "x".repeat(4 * size) })])
  ])

const limit = 1000

describe("target", () => {
  for (const [name, strategy] of Object.entries(projecting)) {
    it.effect.prop(`${name}: the kept prefix stays until another step's worth has arrived`, {
      sizes: fc.array(fc.integer({ min: 60, max: 80 }), { minLength: 17, maxLength: 20 }),
      target: fc.oneof(fc.integer({ min: 650, max: 950 }), fc.integer({ min: 650, max: 950 }).map((n) => n / 1000)),
      inOneRound: fc.boolean()
    }, ({ inOneRound, sizes, target }) =>
      Effect.gen(function*() {
        const oneRound = name === "windowDrop" ? false : inOneRound
        const memory = yield* makeMemory({ maxTokens: limit, strategy: strategy(target) })
        const step = limit - (target < 1 ? Math.floor(target * limit) : target)
        const stepsOver = Effect.map(memory.usage, ({ tokens }) => Math.max(0, Math.ceil((tokens - limit) / step)))
        let before: ReadonlyArray<Message.Message> = []
        let stepsBefore = 0
        for (const messages of conversation(sizes, oneRound)) {
          yield* memory.recordAll(messages)
          const steps = yield* stepsOver
          const context = yield* memory.context
          if (steps === stepsBefore) assert.isTrue(isPrefix(before, context), `at step ${steps}`)
          const tokens = yield* Effect.reduce(context, 0, (sum, message) =>
            Effect.map(TokenCounter.characters.countMessage(message), (n) =>
              sum + n))
          assert.isAtMost(tokens, limit)
          before = context
          stepsBefore = steps
        }
        assert.isAbove(stepsBefore, 0)
      }).pipe(Effect.scoped), runs(15))
  }

  it.effect.prop("summarize: a summary goes down to the target, so that the next one waits for what lies between", {
    sizes: fc.array(fc.integer({ min: 10, max: 60 }), { minLength: 40, maxLength: 60 }),
    target: fc.integer({ min: 200, max: 900 })
  }, ({ sizes, target }) =>
    Effect.gen(function*() {
      const { memory } = yield* makeSummarizing(Array.from({ length: 40 }, (_, i) => `summary ${i}`.repeat(20)), {
        maxTokens: limit,
        summarize: { target, maxSummaryTokens: 30 }
      })
      let before: ReadonlyArray<Message.Message> = []
      let since = Infinity
      for (const messages of conversation(sizes, false)) {
        yield* memory.recordAll(messages)
        since += yield* Effect.reduce(messages, 0, (sum, message) =>
          Effect.map(TokenCounter.characters.countMessage(message), (n) =>
            sum + n))
        const context = yield* memory.context
        if (!isPrefix(before, context)) {
          assert.isAtMost((yield* memory.usage).tokens, target)
          assert.isAbove(since, limit - target)
          since = 0
        }
        before = context
      }
    }).pipe(Effect.scoped), runs(15))

  it.scoped("summarize: a limit of rounds has a target too, so that not every turn costs a summary", () =>
    Effect.gen(function*() {
      const replies = Array.from({ length: 20 }, (_, i) => `summary ${i}`)
      const summarize = { maxSummaryTokens: 4 }
      const long = (n: number) => [user(`Question number ${n} of many`), assistant(`The answer to number ${n}`)]
      const asked = Effect.fnUntraced(function*(target: Target) {
        const { memory, requests } = yield* makeSummarizing(replies, {
          maxTokens: 1000,
          maxRounds: 4,
          summarize: { ...summarize, target }
        })
        for (let n = 1; n <= 16; n++) {
          yield* memory.recordAll(long(n))
          yield* memory.context
        }
        return (yield* requests).length
      })
      assert.strictEqual(yield* asked(undefined), 12)
      assert.strictEqual(yield* asked(0.5), 4)
    }))

  it.scoped("a number of tokens, or a fraction of the budget", () =>
    Effect.gen(function*() {
      for (const target of [6, 0.6]) {
        const memory = yield* makeMemory({ maxTokens: 10, strategy: TrimStrategy.windowDrop({ target }) })
        const kept: Array<number> = []
        for (let n = 1; n <= 10; n++) {
          yield* memory.recordAll(rounds(1, n))
          kept.push((yield* memory.context).length)
        }
        assert.deepStrictEqual(kept, [2, 4, 6, 8, 10, 8, 10, 8, 10, 8])
      }
    }))

  it.scoped("one that is not below the budget changes nothing", () =>
    Effect.gen(function*() {
      for (const strategy of Object.values(projecting)) {
        for (const target of [10, 11, 1_000_000]) {
          const plain = yield* makeMemory({ maxTokens: 10, strategy: strategy(undefined) })
          const memory = yield* makeMemory({ maxTokens: 10, strategy: strategy(target) })
          for (let n = 1; n <= 10; n++) {
            for (const { recordAll } of [plain, memory]) yield* recordAll(rounds(1, n))
            assert.deepStrictEqual(yield* memory.context, yield* plain.context)
          }
        }
      }
    }))

  it.scoped("one that cannot be met goes as far as can be", () =>
    Effect.gen(function*() {
      const memory = yield* makeMemory({ maxTokens: 10, strategy: TrimStrategy.windowDrop({ target: 1 }) })
      yield* memory.recordAll([...rounds(5), user("x".repeat(20))])
      assert.deepStrictEqual(texts(yield* memory.context), ["x".repeat(20)])
      const { memory: other } = yield* makeSummarizing(["short"], { maxTokens: 50, summarize: { target: 1 } })
      yield* other.recordAll([...rounds(20), user("x".repeat(80))])
      assert.deepStrictEqual(words(yield* other.context), ["<short>", "x".repeat(80)])
    }))

  it.scoped("one that is none is an error that says so, and the plain window meanwhile", () =>
    Effect.gen(function*() {
      const summarizing = (target: Target) => Effect.map(scripted(["never"], { target }), ({ strategy }) => strategy)
      for (const target of [0, -1, -0.5, 1.5, NaN, Infinity]) {
        const strategies = [
          ...Object.values(projecting).map((strategy) => strategy(target)),
          yield* summarizing(target),
          TrimStrategy.cascade(TrimStrategy.windowDrop({ target }))
        ]
        for (const strategy of strategies) {
          const memory = yield* makeMemory({ maxTokens: 5, strategy })
          yield* memory.recordAll(rounds(4))
          const failed = yield* Stream.filter(memory.events, (event) => event._tag === "TrimFailed").pipe(
            Stream.take(1),
            Stream.runHead,
            Effect.fork
          )
          yield* Effect.yieldNow()
          assert.deepStrictEqual(texts(yield* memory.context), ["u3", "a3", "u4", "a4"])
          const event = yield* Effect.flatten(failed)
          assert.include(event.error.message, `target is ${target}`)
        }
      }
    }))
})
