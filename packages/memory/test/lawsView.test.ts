import { assert, describe, it } from "@effect/vitest"
import { Effect, FastCheck as fc } from "effect"
import { Message } from "effect-memory"
import type { Forms } from "../src/internal/forms.js"
import { type Counts, View } from "../src/internal/view.js"
import { entries, type Entry, freeze, hostile, sendable } from "./generators.js"
import * as naive from "./naive.js"
import { assertMessages, runs } from "./utilities.js"

const weightOf = (message: Message.Message): number =>
  message.role === "system"
    ? message.content.length % 7
    : message.content.length % 5 + (message.role === "user" ? 1 : 0)

const options = fc.record({
  repair: fc.constantFrom(true, true, true, false),
  system: fc.constantFrom("keep" as const, "trim" as const)
})

const limits = fc.record({
  tokens: fc.oneof(fc.nat(40), fc.constant(Infinity)),
  rounds: fc.oneof(fc.integer({ min: 1, max: 5 }), fc.constant(Infinity))
})

const count = (view: View, counts: Counts) => {
  for (const { message } of view.uncounted()) counts.set(message, weightOf(message))
}

const noTarget = { tokens: undefined, rounds: undefined }

const check = (
  log: ReadonlyArray<Entry>,
  view: View,
  { repair, system }: { readonly repair: boolean; readonly system: "keep" | "trim" },
  budget: naive.Limits,
  overhead: number
) => {
  const rounds = naive.roundsOf(log, repair)
  const placed = rounds.flatMap(({ placed }) => placed)
  const messages = placed.map(({ message }) => message)
  assertMessages(view.all(), messages, "all")
  assert.strictEqual(view.size, messages.length)
  assert.strictEqual(view.tokens, messages.reduce((sum, message) => sum + weightOf(message), 0))
  assert.strictEqual(view.rounds, naive.countedRounds(rounds))
  const kept = view.window(budget, overhead, noTarget).messages
  if (naive.isWithin(rounds, budget, weightOf, overhead)) assertMessages(kept, messages, "all within the budget")
  const expected = naive.windowOf(rounds, budget, weightOf, overhead, system)
  assertMessages(kept, expected.map(({ message }) => message), "the window")
  const items = view.snapshot()
  assertMessages(items.map(({ message }) => message), messages, "the snapshot")
  const flags = rounds.flatMap(({ placed, preamble, protected: isProtected }) =>
    placed.map(({ message, source }) =>
      [source, !preamble, isProtected, message === log[source].message, weightOf(message)].join()
    )
  )
  assert.deepStrictEqual(
    items.map((item) => [item.sequence, item.counted, item.protected, item.verbatim, item.tokens].join()),
    flags
  )
}

interface Input {
  readonly log: ReadonlyArray<Entry>
  readonly options: { readonly repair: boolean; readonly system: "keep" | "trim" }
  readonly budget: naive.Limits
  readonly overhead: number
  /** After how many messages one looks. */
  readonly every: number
}

const run = ({ budget, every, log, options, overhead }: Input) =>
  Effect.sync(() => {
    const counts: Counts = new WeakMap()
    const view = new View(options, counts)
    freeze(log).forEach((entry, sequence) => {
      view.append({ ...entry, sequence })
      if (sequence % every !== 0) return
      count(view, counts)
      check(log.slice(0, sequence + 1), view, options, budget, overhead)
    })
  })

const unprotected = (messages: fc.Arbitrary<ReadonlyArray<Message.Message>>): fc.Arbitrary<ReadonlyArray<Entry>> =>
  messages.map((all) => all.map((message) => ({ message, protected: false })))

const given = (log: fc.Arbitrary<ReadonlyArray<Entry>>) => ({
  log,
  options,
  budget: limits,
  overhead: fc.nat(3),
  every: fc.constantFrom(1, 1, 2, 3)
})

describe("View against a plain array, after every message", () => {
  it.effect.prop("conversations with protected messages", given(entries), run, runs(200))

  it.effect.prop("any messages in any order", given(unprotected(hostile)), run, runs(200))

  it.effect.prop("conversations that need no repair", given(unprotected(sendable)), run, runs(100))
})

describe("View", () => {
  it.effect.prop("a message that repair rewrites is counted anew only where it comes out differently", {
    log: fc.oneof(unprotected(hostile), entries)
  }, ({ log }) =>
    Effect.sync(() => {
      const counts: Counts = new WeakMap()
      const forms: Forms = new WeakMap()
      const asked = new Set<string>()
      const ask = (view: View) => {
        for (const { message } of view.uncounted().filter((item) => !counts.has(item.message))) {
          const rewritten = log.findIndex((entry) => entry.message === message)
          const key = rewritten >= 0 ? `${rewritten}` : JSON.stringify(message)
          // The same text may stand in two messages; here they are told apart by what they hold.
          if (rewritten >= 0) assert.isFalse(asked.has(key), "a message was counted twice")
          asked.add(key)
          counts.set(message, 1)
        }
      }
      const first = new View({ repair: true, system: "keep" }, counts, forms)
      log.forEach((entry, sequence) => {
        first.append({ ...entry, sequence })
        ask(first)
      })
      const again = new View({ repair: true, system: "keep" }, counts, forms)
      log.forEach((entry, sequence) => again.append({ ...entry, sequence }))
      assert.deepStrictEqual(again.uncounted(), [])
    }), runs(150))

  it.effect("handles many interjections in time linear in their number", () =>
    Effect.sync(() => {
      const counts: Counts = new WeakMap()
      const view = new View({ repair: true, system: "keep" }, counts)
      const call = Message.assistant([Message.toolCall({ id: "c1", name: "f", params: null })])
      const messages = [
        Message.user("u"),
        call,
        ...Array.from({ length: 100_000 }, () => Message.user([Message.text("hm"), Message.text("")]))
      ]
      messages.forEach((message, sequence) => view.append({ message, protected: false, sequence }))
      assert.strictEqual(view.size, messages.length + 1)
      view.append({ message: Message.assistant("a"), protected: false, sequence: messages.length })
      assert.strictEqual(view.rounds, 100_001)
    }))
})
