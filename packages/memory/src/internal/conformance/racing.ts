/**
 * Several writers at a time.
 */
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Message from "../../Message.js"
import {
  appendAtEnd,
  type Case,
  compaction,
  conforms,
  entries,
  expectEqual,
  expectIds,
  historyOf,
  idsOf
} from "./check.js"

/** @internal */
export const racing: ReadonlyArray<Case> = [
  conforms("two writers of the same words lose nothing", (store, id) =>
    Effect.gen(function*() {
      const turns = Array.from({ length: 20 }, (_, i) => i)
      const writer = (name: string) =>
        Effect.forEach(
          turns,
          (i) => appendAtEnd(store, id, [`${name}-${i}-0`, `${name}-${i}-1`], Message.user("yes")),
          { discard: true }
        )
      yield* Effect.all([writer("a"), writer("b")], { concurrency: 2, discard: true })
      const { entries, nextSequence } = yield* store.load(id)
      yield* expectEqual("the sequence numbers", entries.map(({ sequence }) => sequence), entries.map((_, i) => i))
      yield* expectEqual("the next sequence number", nextSequence, 80)
      for (const name of ["a", "b"]) {
        const own = idsOf(entries).filter((other) => other.startsWith(name))
        yield* expectEqual(`the entries of ${name}`, own, turns.flatMap((i) => [`${name}-${i}-0`, `${name}-${i}-1`]))
      }
      const pairs = idsOf(entries).filter((_, i) => i % 2 === 0)
      yield* expectEqual("batches in one piece", pairs.every((own) => own.endsWith("-0")), true)
    })),

  conforms("of appends at one place, one succeeds", (store, id) =>
    Effect.gen(function*() {
      const outcomes = yield* Effect.forEach(
        ["a", "b", "c", "d"],
        (name) => Effect.either(store.append(id, 0, entries(0, [`${name}0`, `${name}1`]))),
        { concurrency: "unbounded" }
      )
      yield* expectEqual("the appends that succeeded", outcomes.filter(Either.isRight).length, 1)
      const { entries: stored } = yield* store.load(id)
      yield* expectEqual("the entries", idsOf(stored).map((own) => own.slice(1)), ["0", "1"])
      yield* expectEqual("their writers", new Set(idsOf(stored).map((own) => own[0])).size, 1)
    })),

  conforms("of compactions of one revision, one succeeds", (store, id) =>
    Effect.gen(function*() {
      yield* store.append(id, 0, entries(0, ["a", "b", "c", "d"]))
      const outcomes = yield* Effect.forEach(
        [1, 2, 3, 4],
        (upTo) =>
          Effect.map(Effect.either(store.compact(id, 0, compaction(0, upTo))), (outcome) => ({ outcome, upTo })),
        { concurrency: "unbounded" }
      )
      const won = outcomes.filter(({ outcome }) => Either.isRight(outcome)).map(({ upTo }) => upTo)
      const current = yield* store.load(id)
      yield* expectEqual("the compactions that succeeded", won, [current.compaction?.upTo])
    })),

  conforms("appends go on while a conversation is compacted", (store, id) =>
    Effect.gen(function*() {
      yield* store.append(id, 0, entries(0, ["a", "b"]))
      const later = Array.from({ length: 20 }, (_, i) => `e${i}`)
      yield* Effect.all([
        Effect.forEach(later, (own) => appendAtEnd(store, id, [own]), { discard: true }),
        Effect.reduce(later, 0, (revision) => store.compact(id, revision, compaction(0, 2)))
      ], { concurrency: 2, discard: true })
      yield* expectIds("the entries", store, id, later)
      yield* expectEqual("the history", idsOf(yield* historyOf(store, id)), ["a", "b", ...later])
    }))
]
