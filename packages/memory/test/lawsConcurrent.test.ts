import { assert, describe, it } from "@effect/vitest"
import { Effect, FastCheck as fc, Fiber, Stream } from "effect"
import type { Memory } from "effect-memory"
import { MemoryError, MemoryStore, Message, TokenCounter, TrimStrategy } from "effect-memory"
import { entries, type Entry } from "./generators.js"
import * as naive from "./naive.js"
import { assertMessages, canonical, isWithinOrder, makeMemory, runs } from "./utilities.js"

/** Small and unlike from message to message. A summary takes one. */
const weightOf = (message: Message.Message): number =>
  isSummary(message) ? 1 : message.content.length % 7 + (message.role === "user" ? 1 : 0)

const isSummary = (message: Message.Message): boolean => message.options.test?.summary === true

/** Lets others go first `yields` times. */
const pause = (yields: number) => yields === 0 ? Effect.void : Effect.repeatN(Effect.yieldNow(), yields - 1)

const slowly = (store: MemoryStore.Service, yields: number): MemoryStore.Service => {
  const around = <A, E>(operation: Effect.Effect<A, E>) =>
    Effect.zipRight(pause(yields), Effect.zipLeft(operation, pause(yields)))
  return {
    ...store,
    append: (...args) => around(store.append(...args)),
    load: (id) => around(store.load(id)),
    compact: (...args) => around(store.compact(...args)),
    saveCounts: (...args) => around(store.saveCounts(...args))
  }
}

const counter = (yields: number): TokenCounter.Service => ({
  ...TokenCounter.make({ id: "weights", count: () => Effect.succeed(1) }),
  countMessage: (message) => Effect.as(pause(yields), weightOf(message))
})

type Does = "summarizes" | "projects" | "fails"

/** Does one thing after the other. */
const strategyOf = (does: ReadonlyArray<Does>, yields: number): TrimStrategy.Service => {
  let calls = 0
  return TrimStrategy.make(({ messages, newest }) =>
    Effect.suspend((): Effect.Effect<TrimStrategy.TrimResult, MemoryError.TrimError> => {
      switch (does[calls++ % does.length]) {
        case "summarizes": {
          const summary = Message.system(`summary ${calls}`, { test: { summary: true } })
          return Effect.succeed({ messages: [summary, ...messages.slice(newest)], replace: true })
        }
        case "projects":
          return Effect.succeed({ messages: messages.slice(newest), replace: false })
        case "fails":
          return Effect.fail(new MemoryError.TrimError({ reason: "told to" }))
      }
    }).pipe(Effect.zipLeft(pause(yields)))
  )
}

/** What one fiber does, one after the other. */
type Step = { readonly _tag: "record"; readonly size: number } | {
  readonly _tag: "context" | "usage" | "plan" | "compact" | "restore" | "give up"
} | { readonly _tag: "budget"; readonly maxTokens: number }

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 6, arbitrary: fc.record({ _tag: fc.constant("record" as const), size: fc.integer({ min: 1, max: 3 }) }) },
  { weight: 5, arbitrary: fc.constant({ _tag: "context" as const }) },
  { weight: 2, arbitrary: fc.constant({ _tag: "give up" as const }) },
  {
    weight: 2,
    arbitrary: fc.constantFrom({ _tag: "usage" as const }, { _tag: "plan" as const }, { _tag: "compact" as const }, {
      _tag: "restore" as const
    })
  },
  { weight: 1, arbitrary: fc.record({ _tag: fc.constant("budget" as const), maxTokens: fc.nat(30) }) }
)

/** A writer's own messages, told apart from all others. */
const scripts = fc.array(fc.tuple(entries, fc.array(step, { minLength: 2, maxLength: 12 })), {
  minLength: 2,
  maxLength: 5
}).map((writers) =>
  writers.map(([log, steps], writer) => ({
    steps,
    log: log.map(({ message, protected: isProtected }, n): Entry => ({
      message: { ...message, options: { ...message.options, test: { writer, n } } },
      protected: isProtected
    }))
  }))
)

/** Runs a writer's steps, then records what is left of its messages; answers the contexts that it saw. */
const write = Effect.fnUntraced(function*(
  memory: Memory.Service,
  { log, steps }: { readonly log: ReadonlyArray<Entry>; readonly steps: ReadonlyArray<Step> }
) {
  const contexts: Array<ReadonlyArray<Message.Message>> = []
  let at = 0
  const record = (size: number) =>
    Effect.suspend(() => {
      const chunk = log.slice(at, at + size)
      at += chunk.length
      return chunk.some((entry) => entry.protected)
        ? Effect.forEach(
          chunk,
          (entry) => entry.protected ? memory.recordProtected(entry.message) : memory.record(entry.message),
          { discard: true }
        )
        : memory.recordAll(chunk.map(({ message }) => message))
    })
  for (const step of steps) {
    switch (step._tag) {
      case "record":
        yield* record(step.size)
        break
      case "context":
        contexts.push(yield* memory.context)
        break
      case "give up": {
        const fiber = yield* Effect.fork(memory.context)
        yield* pause(3)
        yield* Fiber.interrupt(fiber)
        break
      }
      case "usage":
        yield* memory.usage
        break
      case "plan":
        yield* memory.plan
        break
      case "compact":
        yield* Effect.either(memory.compact)
        break
      case "restore":
        yield* memory.restore
        break
      case "budget":
        yield* memory.setMaxTokens(step.maxTokens)
        break
    }
    yield* Effect.yieldNow()
  }
  while (at < log.length) yield* record(3)
  return contexts
})

const viewOf = ({ compaction, entries }: MemoryStore.Snapshot): ReadonlyArray<naive.Recorded> => {
  if (compaction === undefined) return entries
  const before = entries.filter(({ sequence }) => sequence < compaction.from)
  const standIns = compaction.messages.map((message) => ({ message, protected: false, standIn: true }))
  return [...before, ...standIns, ...entries.slice(before.length)]
}

describe("laws of what happens at the same time", () => {
  it.effect.prop("1–7, 9, 10: several writers of one conversation, by one memory or two", {
    scripts,
    memories: fc.integer({ min: 1, max: 2 }),
    does: fc.array(fc.constantFrom<Does>("summarizes", "summarizes", "projects", "fails"), {
      minLength: 1,
      maxLength: 4
    }),
    yields: fc.record({ store: fc.nat(4), counter: fc.nat(3), strategy: fc.nat(12) }),
    maxTokens: fc.nat(30)
  }, ({ does, maxTokens, memories, scripts, yields }) =>
    Effect.gen(function*() {
      const inner = yield* MemoryStore.makeMemory
      const store = slowly(inner, yields.store)
      const strategy = strategyOf(does, yields.strategy)
      const parts = { maxTokens, store, strategy, counter: counter(yields.counter) }
      const opened = yield* Effect.replicateEffect(makeMemory(parts), memories)
      const contexts = yield* Effect.forEach(
        scripts,
        (script, i) => write(opened[i % opened.length], script),
        { concurrency: "unbounded" }
      )
      // Compactions that nobody waits for any more come to their end.
      yield* pause(300)
      // Every context on the way can be sent, and holds each writer's messages in order.
      for (const context of contexts.flat()) {
        assert.isUndefined(naive.unsendable(context))
        for (const { log } of scripts) {
          const own = new Set(log.map(({ message }) => message))
          const seen = context.filter((message) => own.has(message))
          // Repair moves results behind their calls.
          const moved = seen.filter(({ role }) => role !== "tool")
          assert.isTrue(isWithinOrder(moved, log.map(({ message }) => message)), "order of a writer")
        }
      }
      // 9. Nothing is lost, nothing doubled, each writer's order kept.
      const log = Array.from(yield* Stream.runCollect(inner.history("default")))
      assert.deepStrictEqual(log.map(({ sequence }) => sequence), log.map((_, i) => i))
      assert.strictEqual(new Set(log.map(({ id }) => id)).size, log.length)
      assert.strictEqual(log.length, scripts.reduce((sum, script) => sum + script.log.length, 0))
      for (const { log: own } of scripts) {
        const messages = new Set(own.map(({ message }) => message))
        assertMessages(
          log.map(({ message }) => message).filter((message) => messages.has(message)),
          own.map(({ message }) => message)
        )
      }
      // 6 and 7. What is covered is covered by one compaction, and nothing protected is.
      const snapshot = yield* inner.load("default")
      const uncovered = new Set(snapshot.entries.map(({ sequence }) => sequence))
      assert.isTrue(log.every((entry) => !entry.protected || uncovered.has(entry.sequence)), "protected, covered")
      assert.isAtMost(snapshot.compaction?.messages.length ?? 0, 1)
      // What a memory that opens now hands out is what the store says.
      const memory = yield* makeMemory({ store: inner, counter: counter(0) })
      const rounds = naive.roundsOf(viewOf(snapshot))
      const view = rounds.flatMap(({ placed }) => placed).map(({ message }) => message)
      assertMessages(yield* memory.context, view)
      // And the memories that were there all along agree with it, once they have looked.
      const last = Message.user("last")
      for (const one of opened) {
        yield* one.setMaxTokens(undefined)
        yield* one.record(last)
        const context = yield* one.context
        const now = yield* inner.load("default")
        assertMessages(context, naive.viewOf(viewOf(now)).map(({ message }) => message))
        assert.strictEqual((yield* one.usage).tokens, context.reduce((sum, message) => sum + weightOf(message), 0))
      }
      const texts = (yield* memory.context).map(canonical)
      assert.strictEqual(new Set(texts).size, texts.length, "no message twice")
    }).pipe(Effect.scoped), runs(100))
})
