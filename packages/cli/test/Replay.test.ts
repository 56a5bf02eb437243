import { assert, describe, it } from "@effect/vitest"
import { Chunk, Effect, FastCheck as fc, Layer, Ref, Stream } from "effect"
import { Memory, MemoryStore, Message, TokenCounter, TrimStrategy } from "effect-memory"
import * as Replay from "../src/Replay.js"

const layer = (
  options: Memory.Options,
  counter: Layer.Layer<TokenCounter.TokenCounter> = TokenCounter.layerCharacters
) =>
  Memory.layer(options).pipe(
    Layer.provideMerge(Layer.mergeAll(
      counter,
      Layer.succeed(TrimStrategy.TrimStrategy, TrimStrategy.windowDrop()),
      MemoryStore.layerMemory
    ))
  )

const replay = (
  messages: ReadonlyArray<Message.Message>,
  options: { readonly maxTokens: number; readonly maxRounds?: number },
  counter?: Layer.Layer<TokenCounter.TokenCounter>
) =>
  Replay.turns(messages, { conversation: 1, strategy: "window", maxTokens: options.maxTokens }).pipe(
    Stream.provideLayer(layer(options, counter)),
    Stream.runCollect,
    Effect.map(Chunk.toReadonlyArray)
  )

const call = (id: string) => Message.toolCall({ id, name: "f", params: {} })

const result = (id: string) => Message.tool([Message.toolResult({ id, name: "f", result: "r" })])

/** Messages, rounds and tokens. */
type Sizes = readonly [number, number, number]

const size = ({ messages, rounds, tokens }: Replay.Size): Sizes => [messages, rounds, tokens]

const figures = (turn: Replay.Turn) => ({
  turn: turn.turn,
  role: turn.role,
  recorded: size(turn.recorded),
  context: size(turn.context),
  leftOut: size(turn.leftOut),
  moved: turn.moved
})

describe("Replay", () => {
  describe("turns", () => {
    it.effect("asks before each assistant message and at the end", () =>
      Effect.gen(function*() {
        const turns = yield* replay([
          Message.system("be kind"),
          Message.user("u1"),
          Message.assistant([call("c1")]),
          result("c1"),
          Message.assistant("a1")
        ], { maxTokens: 100 })
        assert.deepStrictEqual(turns.map(figures), [
          { turn: 1, role: "user", recorded: [2, 1, 3], context: [2, 1, 3], leftOut: [0, 0, 0], moved: false },
          { turn: 2, role: "tool", recorded: [4, 1, 6], context: [4, 1, 6], leftOut: [0, 0, 0], moved: false },
          { turn: 3, role: "end", recorded: [5, 1, 7], context: [5, 1, 7], leftOut: [0, 0, 0], moved: false }
        ])
      }))

    it.effect("says what is left out, and when the prefix moves", () =>
      Effect.gen(function*() {
        const turns = yield* replay(
          ["u1", "a1", "u2", "a2", "u3", "a3"].map((text, i) =>
            i % 2 === 0 ? Message.user(text) : Message.assistant(text)
          ),
          { maxTokens: 3 }
        )
        assert.deepStrictEqual(turns.map(figures), [
          { turn: 1, role: "user", recorded: [1, 1, 1], context: [1, 1, 1], leftOut: [0, 0, 0], moved: false },
          { turn: 2, role: "user", recorded: [3, 2, 3], context: [3, 2, 3], leftOut: [0, 0, 0], moved: false },
          { turn: 3, role: "user", recorded: [5, 3, 5], context: [3, 2, 3], leftOut: [2, 1, 2], moved: true },
          { turn: 4, role: "end", recorded: [6, 3, 6], context: [2, 1, 2], leftOut: [4, 2, 4], moved: true }
        ])
        assert.isTrue(turns.every(({ conversation, maxTokens }) => conversation === 1 && maxTokens === 3))
      }))

    it.effect("knows round limits", () =>
      Effect.gen(function*() {
        const turns = yield* replay(
          [
            Message.system("s"),
            Message.user("u1"),
            Message.assistant("a1"),
            Message.user("u2"),
            Message.assistant("a2")
          ],
          { maxTokens: 100, maxRounds: 1 }
        )
        assert.deepStrictEqual(turns.map(({ context }) => size(context)), [[2, 1, 2], [2, 1, 2], [3, 1, 3]])
      }))

    it.effect("records what is marked as protected", () =>
      Effect.gen(function*() {
        const mark = { "effect-memory": { protected: true } }
        const turns = yield* replay([
          Message.user([Message.text("rule")], mark),
          Message.assistant("a1"),
          Message.user("u2"),
          Message.assistant("a2"),
          Message.user("u3"),
          Message.assistant("a3")
        ], { maxTokens: 4 })
        assert.deepStrictEqual(size(turns[3].context), [4, 2, 4])
        assert.deepStrictEqual(size(turns[3].leftOut), [2, 1, 2])
      }))

    it.effect("counts recorded rounds where repair puts a result back to its call", () =>
      Effect.gen(function*() {
        const turns = yield* replay([
          Message.user("u1"),
          Message.assistant([call("c1")]),
          Message.user("wait"),
          result("c1"),
          Message.assistant("a1"),
          Message.user("u2")
        ], { maxTokens: 100 })
        assert.deepStrictEqual(turns.map(({ context }) => context.rounds), [1, 1, 2])
        assert.deepStrictEqual(turns.map(({ leftOut }) => leftOut.rounds), [0, 0, 0])
      }))

    it.effect("charges the overhead of the counter to both sides", () =>
      Effect.gen(function*() {
        const counter = TokenCounter.make({ id: "three", count: () => Effect.succeed(1), overhead: 3 })
        const [turn] = yield* replay(
          [Message.user("a long text"), Message.assistant("a1")],
          { maxTokens: 100 },
          Layer.succeed(TokenCounter.TokenCounter, counter)
        )
        assert.deepStrictEqual([turn.recorded.tokens, turn.context.tokens], [4, 4])
      }))

    it.effect("stands conversations that are empty, or begin with a reply", () =>
      Effect.gen(function*() {
        assert.deepStrictEqual((yield* replay([], { maxTokens: 5 })).map(figures), [
          { turn: 1, role: "end", recorded: [0, 0, 0], context: [0, 0, 0], leftOut: [0, 0, 0], moved: false }
        ])
        const turns = yield* replay([Message.assistant("hello"), Message.user("u1")], { maxTokens: 5 })
        assert.deepStrictEqual(turns.map(({ role }) => role), ["none", "end"])
      }))

    it.effect("shows a turn before it asks for the next one", () =>
      Effect.gen(function*() {
        const counted = yield* Ref.make<ReadonlyArray<string>>([])
        const counter = TokenCounter.make({
          id: "seen",
          count: (text) => Effect.as(Ref.update(counted, (texts) => [...texts, text]), 1)
        })
        const messages = [Message.user("u1"), Message.assistant("a1"), Message.user("u2"), Message.assistant("a2")]
        yield* Replay.turns(messages, { conversation: 1, strategy: "window", maxTokens: 9 }).pipe(
          Stream.provideLayer(layer({ maxTokens: 9 }, Layer.succeed(TokenCounter.TokenCounter, counter))),
          Stream.take(1),
          Stream.runDrain
        )
        assert.deepStrictEqual(new Set(yield* Ref.get(counted)), new Set(["u1"]))
      }))

    it.effect("fails where the budget is none", () =>
      Effect.gen(function*() {
        const error = yield* Effect.flip(replay([], { maxTokens: -1 }))
        assert.strictEqual(error._tag, "InvalidBudget")
      }))

    it.effect.prop(
      "what is kept and what is left out is what was recorded",
      {
        texts: fc.array(fc.tuple(fc.constantFrom("user", "assistant"), fc.string({ maxLength: 40 }))),
        maxTokens: fc.nat(60)
      },
      ({ maxTokens, texts }) =>
        Effect.gen(function*() {
          const messages = texts.map(([role, text]) =>
            role === "user" ? Message.user(`u${text}`) : Message.assistant(`a${text}`)
          )
          for (const { context, leftOut, recorded } of yield* replay(messages, { maxTokens })) {
            for (const key of ["messages", "rounds", "tokens"] as const) {
              assert.strictEqual(context[key] + leftOut[key], recorded[key], key)
            }
          }
        })
    )
  })

  describe("summaries", () => {
    const turn = (context: number, leftOut: number, moved: boolean): Replay.Turn =>
      Replay.Turn.make({
        conversation: 2,
        turn: 1,
        role: "user",
        recorded: { messages: 9, rounds: 4, tokens: context + leftOut },
        context: { messages: 1, rounds: 1, tokens: context },
        leftOut: { messages: 8, rounds: 3, tokens: leftOut },
        summarized: 5,
        cleared: 2,
        shortened: leftOut,
        strategy: "cascade",
        maxTokens: 10,
        moved
      })

    const options = { conversation: 2, strategy: "cascade", maxTokens: 10 }

    const orphan = [Message.user("u"), result("nobody"), result("nobody else")]

    it("adds up turns", () => {
      const summary = [turn(5, 0, false), turn(9, 4, true), turn(7, 8, true)]
        .reduce(Replay.addTurn, Replay.begin(orphan, options))
      assert.deepStrictEqual(
        summary,
        Replay.Summary.make({
          ...options,
          messages: 9,
          rounds: 4,
          tokens: 15,
          contexts: 3,
          largest: 9,
          sent: 21,
          saved: 12,
          moved: 2,
          leftOut: 3,
          summarized: 5,
          cleared: 2,
          shortened: 8,
          findings: { OrphanResult: 2 }
        })
      )
    })

    it("adds up conversations", () => {
      const summary = Replay.addTurn(Replay.begin(orphan, options), turn(9, 4, true))
      const totals = [summary, {
        ...summary,
        conversation: 3,
        largest: 3,
        findings: { OrphanResult: 1, DuplicateId: 1 }
      }]
        .reduce(Replay.addSummary, Replay.nothing({ strategy: "cascade", maxTokens: 10 }))
      assert.deepStrictEqual(
        totals,
        Replay.Totals.make({
          strategy: "cascade",
          maxTokens: 10,
          conversations: 2,
          messages: 18,
          rounds: 8,
          tokens: 26,
          contexts: 2,
          largest: 9,
          sent: 18,
          saved: 8,
          moved: 2,
          leftOut: 6,
          summarized: 10,
          cleared: 4,
          shortened: 8,
          findings: { OrphanResult: 3, DuplicateId: 1 }
        })
      )
    })

    it("asks the rules of a provider for findings", () => {
      const late = [Message.user("u"), Message.system("s")]
      assert.deepStrictEqual(Replay.begin(late, options).findings, {})
      assert.deepStrictEqual(Replay.begin(late, options, "anthropic").findings, { SystemNotFirst: 1 })
    })

    it("takes a call that is open at the end for no fault", () => {
      assert.deepStrictEqual(Replay.begin([Message.user("u"), Message.assistant([call("c1")])], options).findings, {})
    })
  })
})
