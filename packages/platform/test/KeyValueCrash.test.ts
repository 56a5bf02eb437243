import { assert, describe, it } from "@effect/vitest"
import { Cause, Effect, Exit } from "effect"
import { append, clear, compact, count, type Cut, cuts, Disk, type Operation, viewOf, viewsOf } from "./disk.js"

const ids = ["a", "b"]

interface Script {
  readonly before: ReadonlyArray<Operation>
  /** Operations that are cut at each of their writes. */
  readonly cut: ReadonlyArray<Operation>
  /** Where each takes long. By default all. */
  readonly cuts?: Readonly<Record<string, Cut>>
}

const { all, half, nothing } = cuts

const repeat = (n: number, operation: Operation): ReadonlyArray<Operation> => Array.from({ length: n }, () => operation)

const scripts: Readonly<Record<string, Script>> = {
  "of a first conversation": { before: [], cut: [append("a", 2), append("a"), append("b")] },
  "where sixteen records become a segment": {
    before: repeat(14, append("a")),
    cut: repeat(3, append("a")),
    cuts: { nothing, half, all }
  },
  "where sixteen segments become a larger one": {
    before: [append("a", 3), ...repeat(254, count("a", [0, 7]))],
    cut: [count("a", [1, 8]), append("a"), append("a")],
    cuts: { half }
  },
  "of compactions and counts": {
    before: [append("a", 6)],
    cut: [
      count("a", [0, 1], [1, 2]),
      compact("a", { from: 1, upTo: 4, keep: [2] }),
      append("a"),
      compact("a", undefined),
      compact("a", { from: 2, upTo: 3, keep: [] }),
      compact("a", { from: 1, upTo: 9, keep: [] }),
      append("a", 3)
    ]
  },
  "of clearing": {
    before: [append("a", 2), ...repeat(18, append("a"))],
    cut: [clear("a"), clear("a"), append("a", 2), clear("a"), clear("b"), append("b"), append("a")]
  },
  "of a list that grows": {
    before: Array.from({ length: 14 }, (_, i) => append(`c${i}`)),
    cut: [append("a"), clear("d"), append("b")],
    cuts: { half, all }
  }
}

/** As text, whatever the order of keys. */
const canonical = (view: unknown): string =>
  JSON.stringify(view, (_, value) =>
    typeof value === "object" && value !== null && !Array.isArray(value)
      ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => a < b ? -1 : 1))
      : value)

const equals = (a: unknown, b: unknown): boolean => canonical(a) === canonical(b)

describe("KeyValueMemoryStore after a crash", () => {
  for (const [name, { before, cut, cuts: how = cuts }] of Object.entries(scripts)) {
    it.effect(`${name}: what was acknowledged is there, once, and the store goes on`, () =>
      Effect.gen(function*() {
        const operations = [...before, ...cut]
        const views = yield* viewsOf(operations, ids)
        const disk = new Disk()
        const store = yield* disk.memories
        /** How many operations were done before each write. */
        const done: Array<number> = []
        for (const [i, operation] of operations.entries()) {
          yield* operation(store)
          while (done.length < disk.before.length) done.push(i)
        }
        assert.deepStrictEqual(yield* viewOf(store, ids), views[operations.length])
        for (const [write, { key, value, values }] of disk.before.entries()) {
          const next = done[write]
          if (next < before.length) continue
          for (const [what, cutOf] of Object.entries(how)) {
            const place = `${what} of write ${write} to ${key}`
            const cutValue = value === undefined ? undefined : cutOf(value)
            const after = new Disk(values)
            if (cutValue !== undefined) after.values.set(key, cutValue)
            else if (value === undefined && what === "all") after.values.delete(key)
            const reopened = yield* after.memories
            const seen = yield* viewOf(reopened, ids)
            const happened = equals(seen, views[next + 1])
            if (!happened) assert.deepStrictEqual(seen, views[next], place)
            // Once more, where it did not happen; then on, and all of it again from another process.
            const rest = operations.slice(happened ? next + 1 : next, next + 3)
            for (const operation of rest) yield* operation(reopened)
            const expected = views[Math.min(next + 3, operations.length)]
            assert.deepStrictEqual(yield* viewOf(reopened, ids), expected, place)
            assert.deepStrictEqual(yield* viewOf(yield* new Disk(after.values).memories, ids), expected, place)
          }
        }
      }), 120_000)

    for (const end of ["fails", "dies"] as const) {
      it.effect(`${name}: a write that ${end} leaves a store that goes on`, () =>
        Effect.gen(function*() {
          const views = yield* viewsOf([...before, ...cut], ids)
          const prepared = new Disk()
          const first = yield* prepared.memories
          for (const operation of before) yield* operation(first)
          const tries = Effect.fnUntraced(function*(at: number, cutOf: Cut) {
            const disk = new Disk(prepared.values, { at, cut: cutOf, how: end })
            const store = yield* disk.memories
            for (const [i, operation] of cut.entries()) {
              const exit = yield* Effect.exit(operation(store))
              if (Exit.isSuccess(exit)) continue
              assert.strictEqual(Cause.isDie(exit.cause), end === "dies")
              const seen = yield* viewOf(store, ids)
              if (equals(seen, views[before.length + i + 1])) continue
              assert.deepStrictEqual(seen, views[before.length + i])
              yield* operation(store)
            }
            assert.deepStrictEqual(yield* viewOf(store, ids), views.at(-1))
            assert.deepStrictEqual(yield* viewOf(yield* new Disk(disk.values).memories, ids), views.at(-1))
            return disk.writes < at
          })
          for (const cutOf of [half, all].filter((cutOf) => Object.values(how).includes(cutOf))) {
            for (let at = 1; !(yield* tries(at, cutOf)); at++);
          }
        }), 120_000)
    }
  }
})
