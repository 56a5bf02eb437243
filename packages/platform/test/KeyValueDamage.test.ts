import { assert, describe, it } from "@effect/vitest"
import { Effect, Either, Stream } from "effect"
import { MemoryError, Message } from "effect-memory"
import { append, clear, compact, count, Disk, entry, type Operation, viewOf, viewsOf } from "./disk.js"

const operations: ReadonlyArray<Operation> = [
  ...Array.from({ length: 20 }, () => append("a")),
  count("a", [3, 5]),
  compact("a", { from: 1, upTo: 12, keep: [] }),
  append("a", 2),
  append("b"),
  clear("b"),
  append("b", 2)
]

const ids = ["a", "b"]

const made = Effect.gen(function*() {
  const disk = new Disk()
  const store = yield* disk.memories
  for (const operation of operations) yield* operation(store)
  return disk.values
})

/** The newest record of each log: a write that was cut cannot be told from one that was cut off later. */
const isNewest = (key: string, keys: Iterable<string>): boolean => {
  const parts = key.split(".")
  const number = Number(parts.at(-1))
  const level = parts.at(-2)
  const log = parts.slice(0, -2).join(".")
  return level === "0" && !Array.from(keys).some((other) => other === `${log}.0.${number + 1}`)
}

const damages: Readonly<Record<string, (value: Uint8Array) => Uint8Array | undefined>> = {
  "is gone": () => undefined,
  "is empty": () => new Uint8Array(),
  "is cut": (value) => value.slice(0, value.length >> 1),
  "is all zeros": (value) => new Uint8Array(value.length),
  "has another byte in its middle": (value) => value.map((byte, i) => i === value.length >> 1 ? byte ^ 1 : byte),
  "has another first byte": (value) => value.map((byte, i) => i === 0 ? byte ^ 4 : byte),
  "is longer": (value) => Uint8Array.from([...value, 65])
}

describe("KeyValueMemoryStore over what was damaged", () => {
  for (const [what, damage] of Object.entries(damages)) {
    it.effect(`says so or shows all: a key that ${what}`, () =>
      Effect.gen(function*() {
        const values = yield* made
        const expected = (yield* viewsOf(operations, ids)).at(-1)
        let refused = 0
        for (const [key, value] of values) {
          const endsEarly = damage(value)?.every((byte, i) => byte === value[i] || byte === 0) ?? true
          if (isNewest(key, values.keys()) && endsEarly && what !== "is longer") continue
          const disk = new Disk(values)
          const damaged = damage(value)
          if (damaged === undefined) disk.values.delete(key)
          else disk.values.set(key, damaged)
          const seen = yield* Effect.either(Effect.flatMap(disk.memories, (store) => viewOf(store, ids)))
          if (Either.isRight(seen)) {
            assert.deepStrictEqual(seen.right, expected, key)
          } else {
            refused++
            assert.strictEqual(seen.left.reason, "corrupt", key)
            // The head that is gone is known by the records that are not.
            assert.include(seen.left.message, key.split(".").slice(0, 4).join("."))
            assert.notInclude(JSON.stringify(seen.left), "日本")
          }
        }
        assert.isAtLeast(refused, 6)
      }))
  }

  it.effect("a segment that is cut when its parts are gone is no write that did not come to its end", () =>
    Effect.gen(function*() {
      const disk = new Disk()
      const store = yield* disk.memories
      for (let i = 0; i < 16; i++) yield* append("a")(store)
      const [key, value] = Array.from(disk.values).find(([key]) => key.endsWith(".1.0")) ?? ["", new Uint8Array()]
      disk.values.set(key, value.slice(0, -1))
      const reopened = yield* new Disk(disk.values).memories
      const error = yield* Effect.flip(reopened.load("a"))
      assert.strictEqual(error.reason, "corrupt")
      assert.include(error.message, `"${key}" cannot be read: it ends too early`)
    }))

  it.effect("a compaction spares reading what it covers", () =>
    Effect.gen(function*() {
      const disk = new Disk()
      const store = yield* disk.memories
      for (let i = 0; i < 80; i++) yield* append("a")(store)
      const readsOf = Effect.fnUntraced(function*(effect: Effect.Effect<unknown, unknown>) {
        const { reads } = disk
        yield* effect
        return disk.reads - reads
      })
      assert.strictEqual(yield* readsOf(store.load("a")), 5)
      yield* compact("a", { from: 0, upTo: 78, keep: [] })(store)
      assert.strictEqual(yield* readsOf(store.load("a")), 1)
      assert.strictEqual(yield* readsOf(append("a")(store)), 1)
      assert.strictEqual(yield* readsOf(Stream.runDrain(store.history("a"))), 7)
    }))

  it.effect("names key and reason, and what to do", () =>
    Effect.gen(function*() {
      const values = yield* made
      const disk = new Disk(values)
      const key = Array.from(values.keys()).find((key) => key.endsWith(".1.0")) ?? ""
      disk.values.set(key, new TextEncoder().encode("hello"))
      const store = yield* disk.memories
      const error = yield* Effect.flip(store.load("a"))
      assert.instanceOf(error, MemoryError.MemoryStoreError)
      assert.deepInclude(error, { reason: "corrupt", operation: "load", conversation: "a" })
      assert.strictEqual(
        error.message,
        `load of conversation "a" failed (corrupt): key "${key}" cannot be read: it does not look like a record of this ` +
          "store. Bring it back from a copy, or remove all keys of this conversation"
      )
    }))

  it.effect("lists a conversation that cannot be read beside the others", () =>
    Effect.gen(function*() {
      const disk = new Disk()
      const store = yield* disk.memories
      for (const id of ["a", "b", "c"]) yield* store.append(id, 0, [entry(0)])
      const damaged = Array.from(disk.values.keys()).find((key) => key.endsWith(".0.0") && key.includes(".b."))
      assert.isDefined(damaged)
      disk.values.set(damaged!, new TextEncoder().encode("garbage"))
      const again = yield* disk.memories
      assert.deepStrictEqual(Array.from(yield* Stream.runCollect(again.list)).sort(), ["a", "b", "c"])
      assert.strictEqual((yield* Effect.flip(again.load("b"))).reason, "corrupt")
    }))

  it.effect("refuses a record of a newer version", () =>
    Effect.gen(function*() {
      const values = yield* made
      const disk = new Disk(values)
      for (const [key, value] of values) disk.values.set(key, Uint8Array.from([50, ...value.slice(1)]))
      const store = yield* disk.memories
      for (const refused of [store.load("a"), store.append("a", 22, [entry(22)]), Stream.runDrain(store.list)]) {
        const error = yield* Effect.flip(refused)
        assert.strictEqual(error.reason, "corrupt")
        assert.match(
          error.message,
          /key "memory\.\S+" cannot be read: it holds version 2, and version 1 is the newest that is known here: update/
        )
      }
      assert.strictEqual(disk.writes, 0)
    }))

  it.effect("names the field of a record that is not what it should be, never what it holds", () =>
    Effect.gen(function*() {
      const disk = new Disk()
      const store = yield* disk.memories
      yield* store.append("a", 0, [entry(0)])
      for (const [key, value] of disk.values) {
        if (!key.endsWith(".0.0") || key.startsWith("memory.list")) continue
        // Checksums tell accidents, not intent.
        const body = new TextDecoder().decode(value).slice(0, -1).split(" ").slice(3).join(" ")
          .replace("\"role\":\"user\"", "\"role\":\"bard\"")
        let hash = 0x811c9dc5
        for (let i = 0; i < body.length; i++) hash = Math.imul(hash ^ body.charCodeAt(i), 0x01000193)
        const checksum = (hash >>> 0).toString(16).padStart(8, "0")
        disk.values.set(key, new TextEncoder().encode(`1 ${body.length} ${checksum} ${body}\n`))
      }
      const error = yield* Effect.flip(Effect.flatMap(new Disk(disk.values).memories, ({ load }) => load("a")))
      assert.match(error.message, /a record in it is not what it should be at "event\.entries\.0\.message\S*"/)
      assert.notInclude(JSON.stringify(error), "日本")
    }))

  it.effect("what cannot be written as JSON is refused, and nothing is stored", () =>
    Effect.gen(function*() {
      const disk = new Disk()
      const store = yield* disk.memories
      yield* store.append("a", 0, [entry(0)])
      const { writes } = disk
      const odd = Message.user("secret", { own: { count: 1n } })
      const error = yield* Effect.flip(store.append("a", 1, [{ ...entry(1), message: odd }]))
      assert.strictEqual(error.operation, "append")
      assert.notInclude(JSON.stringify(error), "secret")
      assert.strictEqual((yield* Effect.flip(store.saveCounts("a", "n", new Map([[0, NaN]])))).operation, "saveCounts")
      assert.strictEqual(disk.writes, writes)
      yield* store.append("a", 1, [entry(1)])
      assert.strictEqual((yield* store.load("a")).nextSequence, 2)
    }))

  it.effect("a key-value store that fails is unavailable, with its error as the cause", () =>
    Effect.gen(function*() {
      const disk = new Disk(new Map(), { at: 1, cut: () => undefined, how: "fails" })
      const store = yield* disk.memories
      const error = yield* Effect.flip(store.append("a", 0, [entry(0)]))
      assert.deepInclude(error, { reason: "unavailable", operation: "append", conversation: "a" })
      assert.strictEqual(
        error.message,
        `append of conversation "a" failed (unavailable): the key-value store could not write "memory.list.0.0": see the ` +
          "cause, and try again"
      )
      assert.propertyVal(error.cause, "_tag", "SystemError")
      yield* store.append("a", 0, [entry(0)])
    }))

  it.effect("a segment that cannot be written does not fail the append", () =>
    Effect.gen(function*() {
      // The list, the head and sixteen records come before it.
      const disk = new Disk(new Map(), { at: 19, cut: (value) => value.slice(0, 9), how: "fails" })
      const store = yield* disk.memories
      for (let i = 0; i < 18; i++) yield* append("a")(store)
      assert.strictEqual((yield* store.load("a")).entries.length, 18)
      assert.strictEqual(Array.from(disk.values.keys()).filter((key) => key.endsWith(".1.0")).length, 1)
    }))

  it.effect("one bit of a record is enough", () =>
    Effect.gen(function*() {
      const values = yield* made
      const [key, value] = Array.from(values).find(([key]) => key.endsWith(".0.16")) ?? ["", new Uint8Array()]
      assert.isAbove(value.length, 100)
      for (let at = 0; at < value.length; at += 3) {
        const disk = new Disk(values)
        disk.values.set(key, value.map((byte, i) => i === at ? byte ^ 1 : byte))
        const error = yield* Effect.flip(Effect.flatMap(disk.memories, ({ history }) => Stream.runDrain(history("a"))))
        assert.strictEqual(error.reason, "corrupt", `byte ${at}`)
      }
    }))
})
