import { assert, describe, it } from "@effect/vitest"
import { Effect, FastCheck as fc, Ref, Schema, Stream } from "effect"
import type { Memory } from "effect-memory"
import { MemoryStore, Message, TokenCounter, TrimStrategy } from "effect-memory"
import { entries, type Entry, freeze, hostile, sendable } from "./generators.js"
import * as naive from "./naive.js"
import { assertMessages, canonical, isWithinOrder, makeMemory, runs } from "./utilities.js"

/** Small and unlike from message to message, so that budgets fall between. */
const weightOf = (message: Message.Message): number => message.content.length % 7 + (message.role === "user" ? 1 : 0)

const overhead = 2

/** Counts by {@link weightOf} and remembers which message it was asked about. */
const weighing = (asked: Array<Message.Message>): TokenCounter.Service => ({
  ...TokenCounter.make({ id: "weights", count: () => Effect.succeed(1), overhead }),
  countMessage: (message) =>
    Effect.sync(() => {
      asked.push(message)
      return weightOf(message)
    })
})

/** How a conversation is recorded: in which pieces, and after which of them a context is asked for. */
const chunks = fc.array(fc.record({ size: fc.integer({ min: 1, max: 5 }), look: fc.boolean() }), {
  minLength: 1,
  maxLength: 6
})

type Chunks = ReadonlyArray<{ readonly size: number; readonly look: boolean }>

/** Records one piece after the other, as often as the pieces repeat; runs `look` where the piece says so. */
const recordIn = Effect.fnUntraced(function*<E>(
  memory: Memory.Service,
  log: ReadonlyArray<Entry>,
  pieces: Chunks,
  look: (recorded: ReadonlyArray<Entry>) => Effect.Effect<void, E>
) {
  let at = 0
  for (let turn = 0; at < log.length; turn++) {
    const piece = pieces[turn % pieces.length]
    const chunk = log.slice(at, at + piece.size)
    if (chunk.some((entry) => entry.protected)) {
      for (const entry of chunk) {
        yield* entry.protected ? memory.recordProtected(entry.message) : memory.record(entry.message)
      }
    } else {
      yield* memory.recordAll(chunk.map(({ message }) => message))
    }
    at += chunk.length
    if (piece.look || at >= log.length) yield* look(log.slice(0, at))
  }
})

const budgets = fc.record({
  maxTokens: fc.option(fc.nat(60), { nil: undefined, freq: 6 }),
  maxRounds: fc.option(fc.nat(5), { nil: undefined, freq: 2 })
})

type Limits = Pick<Memory.Options, "maxTokens" | "maxRounds">

const limitsOf = ({ maxRounds, maxTokens }: Limits): naive.Limits => ({
  tokens: maxTokens ?? Infinity,
  rounds: maxRounds ?? Infinity
})

const unprotected = (messages: fc.Arbitrary<ReadonlyArray<Message.Message>>): fc.Arbitrary<ReadonlyArray<Entry>> =>
  messages.map((all) => all.map((message) => ({ message, protected: false })))

const logs = fc.oneof(
  { weight: 3, arbitrary: entries },
  { weight: 1, arbitrary: unprotected(hostile) },
  { weight: 1, arbitrary: unprotected(sendable) }
)

const tokensOf = (messages: ReadonlyArray<Message.Message>): number =>
  messages.reduce((sum, message) => sum + weightOf(message), overhead)

describe("laws of the plain window", () => {
  it.effect.prop("1–6: a context is what a plain array model hands out", {
    log: logs,
    pieces: chunks,
    budget: budgets,
    system: fc.constantFrom("keep" as const, "trim" as const)
  }, ({ budget, log, pieces, system }) =>
    Effect.gen(function*() {
      const asked: Array<Message.Message> = []
      const memory = yield* makeMemory({
        ...budget,
        counter: weighing(asked),
        strategy: TrimStrategy.windowDrop({ system })
      })
      yield* recordIn(memory, freeze(log), pieces, (recorded) =>
        Effect.gen(function*() {
          const rounds = naive.roundsOf(recorded)
          const view = rounds.flatMap(({ placed }) => placed).map(({ message }) => message)
          const context = yield* memory.context
          const expected = naive.windowOf(rounds, limitsOf(budget), weightOf, overhead, system)
          assertMessages(context, expected.map(({ message }) => message), "the context")
          // 1. Identity, and nobody is asked again.
          const before = asked.length
          if (naive.isWithin(rounds, limitsOf(budget), weightOf, overhead)) assertMessages(context, view, "identity")
          assertMessages(yield* memory.context, context, "the same again")
          assert.strictEqual(asked.length, before)
          // 2 and 3. Order, and nothing that cannot be sent.
          assert.isTrue(isWithinOrder(context, view), "order of recording")
          assert.isUndefined(naive.unsendable(context))
          // 4 and 6. The newest round and what is protected are there.
          const mustStay = rounds.filter((round, i) => round.protected || i === rounds.length - 1)
          for (const { placed } of mustStay) {
            assert.isTrue(isWithinOrder(placed.map(({ message }) => message), context), "what must stay")
          }
          // 5. Within the budget, unless what must stay is not.
          const { maxTokens } = budget
          if (maxTokens !== undefined && tokensOf(context) > maxTokens) {
            const floor = naive.windowOf(rounds, { tokens: 0, rounds: 1 }, weightOf, overhead, system)
            assertMessages(context, floor.map(({ message }) => message), "nothing but what must stay")
          }
          const usage = yield* memory.usage
          assert.strictEqual(usage.messages, view.length)
          assert.strictEqual(usage.rounds, naive.countedRounds(rounds))
          assert.strictEqual(usage.tokens, tokensOf(view))
        }))
    }).pipe(Effect.scoped), runs(200))

  it.effect.prop("7: the log is what was recorded, whatever the contexts", {
    log: logs,
    pieces: chunks,
    budget: budgets
  }, ({
    budget,
    log,
    pieces
  }) =>
    Effect.gen(function*() {
      const memory = yield* makeMemory({ ...budget, counter: weighing([]) })
      yield* recordIn(memory, log, pieces, () => memory.context)
      const history = Array.from(yield* Stream.runCollect(memory.history))
      assert.deepStrictEqual(history.map(({ sequence }) => sequence), log.map((_, i) => i))
      assert.deepStrictEqual(history.map((entry) => entry.protected), log.map((entry) => entry.protected))
      assertMessages(history.map(({ message }) => message), log.map(({ message }) => message))
    }).pipe(Effect.scoped), runs(100))

  it.effect.prop("8: a larger budget never keeps less, and brings everything back", {
    log: logs,
    pieces: chunks,
    maxTokens: fc.uniqueArray(fc.nat(60), { minLength: 1, maxLength: 6 }),
    maxRounds: fc.integer({ min: 1, max: 4 })
  }, ({ log, maxRounds, maxTokens, pieces }) =>
    Effect.gen(function*() {
      const memory = yield* makeMemory({ counter: weighing([]) })
      yield* recordIn(memory, log, pieces, () => Effect.void)
      let smaller: ReadonlyArray<Message.Message> = []
      yield* memory.setMaxRounds(maxRounds)
      for (const tokens of maxTokens.slice().sort((a, b) => a - b)) {
        yield* memory.setMaxTokens(tokens)
        const context = yield* memory.context
        assert.isTrue(isWithinOrder(smaller, context), `a budget of ${tokens} keeps what a smaller one keeps`)
        smaller = context
      }
      yield* memory.setMaxTokens(undefined)
      const limited = yield* memory.context
      assert.isTrue(isWithinOrder(smaller, limited))
      yield* memory.setMaxRounds(maxRounds + 1)
      assert.isTrue(isWithinOrder(limited, yield* memory.context))
      yield* memory.setMaxRounds(undefined)
      assertMessages(yield* memory.context, naive.viewOf(log).map(({ message }) => message))
    }).pipe(Effect.scoped), runs(150))

  it.effect.prop("13: each message is counted once", { log: logs, pieces: chunks, budget: budgets }, ({
    budget,
    log,
    pieces
  }) =>
    Effect.gen(function*() {
      const asked: Array<Message.Message> = []
      const recorded = new Set(log.map(({ message }) => message))
      // What repair has rewritten is a message of its own for each place and form.
      const rewritten = new Set<string>()
      const memory = yield* makeMemory({ ...budget, counter: weighing(asked) })
      yield* recordIn(memory, log, pieces, (recordedNow) =>
        Effect.gen(function*() {
          yield* memory.context
          yield* memory.usage
          for (const { message, source } of naive.viewOf(recordedNow)) {
            if (!recorded.has(message)) rewritten.add(`${source} ${canonical(message)}`)
          }
        }))
      assert.strictEqual(new Set(asked).size, asked.length, "no message is asked about twice")
      assert.isAtMost(asked.filter((message) => !recorded.has(message)).length, rewritten.size)
    }).pipe(Effect.scoped), runs(150))

  it.effect.prop("13: each message is counted once, also by the next memory over a store that writes JSON", {
    log: logs,
    budget: budgets
  }, ({ budget, log }) =>
    Effect.gen(function*() {
      const inner = yield* MemoryStore.makeMemory
      const written = Schema.parseJson(Schema.Array(MemoryStore.Entry))
      const store: MemoryStore.Service = {
        ...inner,
        load: (id) =>
          Effect.flatMap(inner.load(id), (snapshot) =>
            Schema.encode(written)(snapshot.entries).pipe(
              Effect.flatMap(Schema.decode(written)),
              Effect.map((entries) => ({ ...snapshot, entries })),
              Effect.orDie
            ))
      }
      const first = yield* makeMemory({ ...budget, counter: weighing([]), store })
      for (const { message } of log) {
        yield* first.record({ ...message })
        yield* first.context
      }
      const asked: Array<Message.Message> = []
      const next = yield* makeMemory({ ...budget, counter: weighing(asked), store })
      yield* next.context
      const recorded = new Set(log.map(({ message }) => message).map(canonical))
      const view = naive.viewOf(log).map(({ message }) => message)
      const verbatim = new Set(view.map(canonical).filter((text) => recorded.has(text)))
      assert.deepStrictEqual(asked.filter((message) => verbatim.has(canonical(message))), [])
    }).pipe(Effect.scoped), runs(80))

  it.effect.prop(
    "14: lists belong to the caller, and what is recorded is left alone",
    { log: logs, budget: budgets },
    ({
      budget,
      log
    }) =>
      Effect.gen(function*() {
        const memory = yield* makeMemory({ ...budget, counter: weighing([]) })
        const given = freeze(log).map(({ message }) => message)
        yield* memory.recordAll(given)
        given.splice(0, given.length, Message.user("not recorded"))
        const context = yield* memory.context
        const before = context.slice()
        context.reverse()
        context.push(Message.user("not recorded"))
        assertMessages(yield* memory.context, before)
        const rounds = naive.roundsOf(log.map(({ message }) => ({ message, protected: false })))
        const expected = naive.windowOf(rounds, limitsOf(budget), weightOf, overhead)
        assertMessages(before, expected.map(({ message }) => message))
      }).pipe(Effect.scoped),
    runs(100)
  )

  it.effect.prop("15: the default counter takes any content", { log: unprotected(hostile), budget: budgets }, ({
    budget,
    log
  }) =>
    Effect.gen(function*() {
      for (const rules of ["pairing", "strict", "none"] as const) {
        const memory = yield* makeMemory({ ...budget, rules })
        yield* memory.recordAll(log.map(({ message }) => message))
        const context = yield* memory.context
        if (rules === "pairing") assert.isUndefined(naive.unsendable(context))
        yield* memory.plan
      }
    }).pipe(Effect.scoped), runs(150))
})

describe("the plain window as a strategy among others", () => {
  it.effect.prop("hands out what it hands out by itself", {
    log: fc.oneof(
      unprotected(sendable),
      fc.tuple(sendable, fc.array(fc.nat(6), { minLength: 7, maxLength: 7 })).map(
        ([messages, flags]) => messages.map((message, i) => ({ message, protected: flags[i % 7] === 6 }))
      )
    ),
    budget: budgets,
    options: fc.record({ system: fc.constantFrom("keep" as const, "trim" as const) })
  }, ({ budget, log, options }) =>
    Effect.gen(function*() {
      const { system, trim } = TrimStrategy.windowDrop(options)
      const window = yield* makeMemory({ ...budget, counter: weighing([]), strategy: TrimStrategy.windowDrop(options) })
      const strategy = yield* makeMemory({
        ...budget,
        counter: weighing([]),
        strategy: { system, trim, project: trim }
      })
      for (const entry of log) {
        for (const memory of [window, strategy]) {
          yield* entry.protected ? memory.recordProtected(entry.message) : memory.record(entry.message)
        }
        assertMessages(yield* strategy.context, yield* window.context)
      }
    }).pipe(Effect.scoped), runs(100))
})

describe("laws of the plain window with a target", () => {
  it.effect.prop("5: what is trimmed is trimmed below the target", {
    log: logs,
    pieces: chunks,
    maxTokens: fc.integer({ min: 8, max: 60 }),
    target: fc.constantFrom(0.25, 0.5, 0.9, 4)
  }, ({ log, maxTokens, pieces, target }) =>
    Effect.gen(function*() {
      const strategy = TrimStrategy.windowDrop({ target })
      const memory = yield* makeMemory({ maxTokens, counter: weighing([]), strategy })
      const aim = target < 1 ? Math.floor(maxTokens * target) : target
      yield* recordIn(memory, log, pieces, (recorded) =>
        Effect.gen(function*() {
          const rounds = naive.roundsOf(recorded)
          const context = yield* memory.context
          if (naive.isWithin(rounds, { tokens: maxTokens, rounds: Infinity }, weightOf, overhead)) {
            assertMessages(context, rounds.flatMap(({ placed }) => placed).map(({ message }) => message))
            return
          }
          const most = naive.windowOf(rounds, { tokens: maxTokens, rounds: Infinity }, weightOf, overhead)
          const least = naive.windowOf(rounds, { tokens: aim, rounds: Infinity }, weightOf, overhead)
          assert.isTrue(isWithinOrder(context, most.map(({ message }) => message)), "no more than without a target")
          assert.isTrue(isWithinOrder(least.map(({ message }) => message), context), "no less than the target holds")
        }))
    }).pipe(Effect.scoped), runs(150))

  it.effect.prop("the oldest kept round stays until another step has arrived", {
    sizes: fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 10, maxLength: 60 }),
    maxTokens: fc.integer({ min: 20, max: 60 }),
    target: fc.constantFrom(0.25, 0.5, 0.75)
  }, ({ maxTokens, sizes, target }) =>
    Effect.gen(function*() {
      const counter = TokenCounter.make({ id: "length", count: (text) => Effect.succeed(text.length) })
      const strategy = TrimStrategy.windowDrop({ target })
      const memory = yield* makeMemory({ maxTokens, counter, strategy })
      const cuts = yield* Ref.make<ReadonlyArray<Message.Message>>([])
      for (const size of sizes) {
        yield* memory.record(Message.user("x".repeat(size)))
        const [first] = yield* memory.context
        yield* Ref.update(cuts, (seen) => seen.includes(first) ? seen : [...seen, first])
      }
      const total = sizes.reduce((sum, size) => sum + size, 0)
      const step = maxTokens - Math.floor(maxTokens * target)
      const steps = Math.ceil(Math.max(0, total - maxTokens) / step)
      // A round that was the newest when the others went may go by itself.
      assert.isAtMost((yield* Ref.get(cuts)).length, 2 * steps + 1)
    }).pipe(Effect.scoped), runs(100))
})
