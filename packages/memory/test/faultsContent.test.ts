import { assert, describe, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { MemoryStore, Message, TokenCounter, Transcript, TrimStrategy } from "effect-memory"
import { bytes, makeSummarizing, makeWindow, provenanceOf, scripted, words } from "./summarizing.js"
import { makeMemory, texts } from "./utilities.js"

const { assistant, reasoning, system, text, tool, toolCall, toolResult, user } = Message

const signed = (text: string, n: number) =>
  reasoning(text, { anthropic: { signature: `c2lnbmF0dXJl${n}` }, openai: { encryptedContent: "gAAAA" } })

/** Thinks, looks, and gets a long result. */
const thinking = (n: number) => [
  assistant([signed(`I think ${"hard ".repeat(20)}`, n), toolCall({ id: `c${n}`, name: "look", params: {} })]),
  tool([toolResult({ id: `c${n}`, name: "look", result: `${n} `.padEnd(200, ".") })])
]

const strategies = Effect.gen(function*() {
  const { strategy } = yield* scripted(Array.from({ length: 100 }, (_, i) => `so far ${i}`), { maxSummaryTokens: 20 })
  return [
    TrimStrategy.windowDrop(),
    TrimStrategy.truncate(),
    TrimStrategy.clearToolResults({ keep: 1 }),
    TrimStrategy.shortenParts({ maxTokens: 10 }),
    strategy,
    TrimStrategy.cascade(
      TrimStrategy.clearToolResults({ keep: 1 }),
      TrimStrategy.shortenParts({ maxTokens: 10 }),
      strategy
    )
  ]
})

const reasoningIn = (messages: ReadonlyArray<Message.Message>) =>
  messages.flatMap(Message.parts).filter((part) => part.type === "reasoning")

describe("large messages", () => {
  it.effect("a call with arguments of 200 KB and no text is charged, and can be made smaller", () =>
    Effect.gen(function*() {
      const call = toolCall({ id: "call_1", name: "write", params: { path: "a.ts", text: "x\n".repeat(100_000) } })
      const window = yield* makeWindow(2000, TrimStrategy.shortenParts({ maxTokens: 1000 }), TokenCounter.characters)
      const [, message] = yield* window.fit([user("Write it"), assistant([call])])
      const [shorter] = Message.toolCalls(message)
      assert.deepInclude(shorter, { type: "tool-call", id: "call_1", name: "write" })
      assert.strictEqual((shorter.params as { path: string }).path, "a.ts")
      assert.deepStrictEqual(JSON.parse(JSON.stringify(shorter.params)), shorter.params)
      assert.isAtMost(yield* TokenCounter.characters.countMessage(message), 1002)
    }))

  it.scoped("a turn of deep thought is charged for it, and is summarized without it once it is over", () =>
    Effect.gen(function*() {
      const { memory, requests } = yield* makeSummarizing(["It is 42"], { maxTokens: 3000 })
      const thought = assistant([signed("deep ".repeat(3000), 1), text("It is 42.")])
      yield* memory.recordAll([user("What is it?"), thought])
      assert.isTrue((yield* memory.context)[1] === thought)
      yield* memory.record(user("Why?"))
      assert.deepStrictEqual(words(yield* memory.context), ["<It is 42>", "Why?"])
      assert.isAtMost((yield* memory.usage).tokens, 3000)
      assert.strictEqual((yield* requests).length, 1)
    }))
})

describe("reasoning", () => {
  it.scoped("stays as it was signed, or goes with its whole group", () =>
    Effect.gen(function*() {
      for (const strategy of yield* strategies) {
        const memory = yield* makeMemory({ maxTokens: 250, strategy })
        const all: Array<Message.Message> = []
        for (let n = 1; n <= 12; n++) {
          const next = [...(n % 4 === 1 ? [user(`Question ${n}`)] : []), ...thinking(n)]
          all.push(...next)
          yield* memory.recordAll(next)
          const context = yield* memory.context
          const recorded = new Set(reasoningIn(all))
          for (const part of reasoningIn(context)) assert.isTrue(recorded.has(part))
          for (const message of context) {
            if (message.role === "assistant") {
              assert.strictEqual(reasoningIn([message]).length, Message.toolCalls(message).length)
            }
          }
          assert.deepStrictEqual(Transcript.diagnose(context, "pairing"), [])
          const faults = Transcript.diagnose(context, "anthropic").map(({ _tag }) => _tag)
          assert.notInclude(faults, "LooseReasoning")
        }
      }
    }))

  it.scoped("stays in the group that is being worked on, also where a summary is made in the loop", () =>
    Effect.gen(function*() {
      const { memory } = yield* makeSummarizing(Array(20).fill("looked"), { maxTokens: 200 })
      yield* memory.record(user("Look everywhere"))
      for (let n = 1; n <= 6; n++) {
        const group = thinking(n)
        yield* memory.recordAll(group)
        const context = yield* memory.context
        assert.deepStrictEqual(context.slice(-2), group)
        assert.strictEqual(texts(context)[0], "Look everywhere")
      }
      assert.isTrue((yield* memory.context).some((message) => provenanceOf(message) !== undefined))
    }))

  it.scoped("does not stand alone in a message when results are cleared", () =>
    Effect.gen(function*() {
      const memory = yield* makeMemory({ maxTokens: 1, strategy: TrimStrategy.clearToolResults({ keep: 1 }) })
      yield* memory.recordAll([user("u"), ...[1, 2, 3, 4].flatMap(thinking)])
      const context = yield* memory.context
      assert.deepStrictEqual(Transcript.diagnose(context, "anthropic"), [])
      assert.deepStrictEqual(
        texts(context).map((text) => text.slice(0, 19)),
        [
          "u",
          ...Array(3).fill(["reasoning+tool-call", "[Result cleared to "]).flat(),
          "reasoning+tool-call",
          "4 ".padEnd(19, ".")
        ]
      )
    }))

  it.effect("keeps what its provider has encrypted, through store and JSON", () =>
    Effect.gen(function*() {
      const store = yield* MemoryStore.makeMemory
      const messages = [user("u"), ...thinking(1)]
      const entries = messages.map((message, sequence) => ({
        sequence,
        id: `${sequence}`,
        message,
        protected: false,
        recordedAt: 0
      }))
      const json = JSON.parse(JSON.stringify(yield* Schema.encode(Schema.Array(MemoryStore.Entry))(entries)))
      yield* store.append("default", 0, yield* Schema.decodeUnknown(Schema.Array(MemoryStore.Entry))(json))
      const memory = yield* makeMemory({ store, maxTokens: 1, strategy: TrimStrategy.shortenParts({ maxTokens: 5 }) })
      const [part] = reasoningIn(yield* memory.context)
      assert.deepStrictEqual(part, reasoningIn(messages)[0])
      assert.deepStrictEqual(part.options["openai"], { encryptedContent: "gAAAA" })
    }).pipe(Effect.scoped))
})

describe("prompt caches", () => {
  /** Turns of an agent, each of eight messages. */
  const turn = (n: number) => [
    user(`Question ${n}`),
    ...[1, 2, 3].flatMap((i) => [
      assistant([toolCall({ id: `${n}.${i}`, name: "look", params: { n, i } })]),
      tool([toolResult({ id: `${n}.${i}`, name: "look", result: "x".repeat(300) })])
    ]),
    assistant(`Answer ${n}`)
  ]

  const isPrefix = (before: ReadonlyArray<Message.Message>, after: ReadonlyArray<Message.Message>) =>
    before.every((message, i) => message === after[i])

  /** In how many of fifty turns the context before was no prefix of the next. */
  const breaks = Effect.fnUntraced(function*(strategy: TrimStrategy.Service) {
    const memory = yield* makeMemory({ maxTokens: 4000, strategy })
    let before: ReadonlyArray<Message.Message> = []
    let broken = 0
    for (let n = 0; n < 50; n++) {
      yield* memory.recordAll(turn(n))
      const context = yield* memory.context
      if (!isPrefix(before, context)) broken++
      before = context
    }
    return broken
  }, Effect.scoped)

  it.effect("at the limit the kept prefix is stable for many turns where there is a target", () =>
    Effect.gen(function*() {
      assert.isAtLeast(yield* breaks(TrimStrategy.windowDrop()), 30)
      assert.isAtMost(yield* breaks(TrimStrategy.windowDrop({ target: 0.5 })), 5)
      assert.isAtMost(yield* breaks(TrimStrategy.truncate({ target: 0.5 })), 5)
    }))

  it.scoped("results are cleared in batches, not a few at every render", () =>
    Effect.gen(function*() {
      const memory = yield* makeMemory({
        maxTokens: 4000,
        strategy: TrimStrategy.clearToolResults({ keep: 3, target: 0.75 })
      })
      let before: ReadonlyArray<Message.Message> = []
      let broken = 0
      for (let n = 0; n < 20; n++) {
        yield* memory.recordAll(turn(n))
        for (let render = 0; render < 3; render++) {
          const context = yield* memory.context
          if (!isPrefix(before, context)) broken++
          before = context
        }
      }
      assert.isAtLeast(broken, 1)
      assert.isAtMost(broken, 3)
    }))

  it.scoped("the plan tells how much of the context before stays in front", () =>
    Effect.gen(function*() {
      const memory = yield* makeMemory({ maxTokens: 1000, strategy: TrimStrategy.windowDrop({ target: 0.5 }) })
      let before: ReadonlyArray<Message.Message> = []
      const prefixes: Array<number> = []
      for (let n = 0; n < 8; n++) {
        yield* memory.recordAll(turn(n))
        const { stablePrefix } = yield* memory.plan
        const context = yield* memory.context
        const changed = before.findIndex((message, i) => message !== context[i])
        assert.strictEqual(stablePrefix, changed < 0 ? before.length : changed)
        prefixes.push(stablePrefix)
        before = context
      }
      assert.include(prefixes.slice(1), 0)
      assert.isAbove(Math.max(...prefixes), 8)
    }))

  it.scoped("a limit of rounds keeps the results of the rounds it keeps, however many messages they are", () =>
    Effect.gen(function*() {
      const memory = yield* makeMemory({ maxRounds: 10 })
      yield* memory.recordAll(Array.from({ length: 12 }, (_, n) => turn(n)).flat())
      assert.deepStrictEqual(yield* memory.context, Array.from({ length: 10 }, (_, n) => turn(n + 2)).flat())
    }))
})

describe("text", () => {
  it.scoped("binary output of a tool does not spoil every later request", () =>
    Effect.gen(function*() {
      const memory = yield* makeMemory({})
      const lone = "before \ud83d after \udc69"
      yield* memory.recordAll([
        { role: "user", content: [{ type: "text", text: lone, options: {} }], options: {} },
        assistant([toolCall({ id: "c", name: "cat", params: {} })]),
        {
          role: "tool",
          content: [{
            type: "tool-result",
            id: "c",
            name: "cat",
            isFailure: false,
            result: { out: [lone] },
            providerExecuted: false,
            options: {}
          }],
          options: {}
        }
      ])
      const context = yield* memory.context
      assert.isTrue(JSON.stringify(context).isWellFormed())
      assert.notInclude(JSON.stringify(context), "\\ud")
      assert.strictEqual(texts(context)[0], lone.toWellFormed())
    }))

  it.scoped("no budget cuts an emoji in two", () =>
    Effect.gen(function*() {
      const diff = "+ 👩‍👩‍👧‍👦🏳️‍🌈e\u0301\n".repeat(200)
      for (let maxTokens = 1; maxTokens <= 60; maxTokens++) {
        const window = yield* makeWindow(200, TrimStrategy.shortenParts({ maxTokens }), bytes)
        const fitted = yield* window.fit([
          system("s"),
          user(diff),
          assistant([toolCall({ id: "c", name: "f", params: { diff } })])
        ])
        assert.isTrue(texts(fitted).join().isWellFormed())
        assert.isTrue(String((Message.toolCalls(fitted[2])[0].params as { diff: string }).diff).isWellFormed())
        const { memory } = yield* makeSummarizing([diff], {
          maxTokens: 400,
          counter: bytes,
          summarize: { maxSummaryTokens: maxTokens }
        })
        yield* memory.recordAll([user("x".repeat(400)), user("u")])
        assert.isTrue(texts(yield* memory.context).join().isWellFormed())
      }
    }))
})
