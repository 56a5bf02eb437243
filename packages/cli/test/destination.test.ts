import * as fs from "node:fs"
import * as path from "node:path"
import { Error as PlatformError, Terminal } from "@effect/platform"
import { NodeFileSystem, NodePath, NodeTerminal } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Fiber, Layer } from "effect"
import { teller, writing } from "../src/internal/destination.js"
import { Stderr } from "../src/Stderr.js"
import * as files from "./files.js"

const layer = Layer.mergeAll(NodeFileSystem.layer, NodePath.layer, NodeTerminal.layer)

/** What is in a folder of the test's own, by name. */
const contents = (folder: string) =>
  Object.fromEntries(fs.readdirSync(folder).map((name) => [name, files.read(path.join(folder, name))]))

const folder = (name: string): string => {
  fs.mkdirSync(files.at(name))
  fs.writeFileSync(files.at(`${name}/a`), "old")
  return files.at(name)
}

/** A terminal whose every write fails. */
const layerFailing = (code: string) =>
  Layer.merge(
    Layer.succeed(Stderr, { isTerminal: false, write: () => Effect.void }),
    Layer.succeed(Terminal.Terminal, {
      columns: Effect.succeed(120),
      rows: Effect.succeed(40),
      isTTY: Effect.succeed(false),
      readInput: Effect.die("not read"),
      readLine: Effect.die("not read"),
      display: () =>
        Effect.fail(
          new PlatformError.SystemError({ reason: "Unknown", module: "Terminal", method: "display", cause: { code } })
        )
    })
  )

describe("a teller", () => {
  const tell = (file: string | undefined, code: string) =>
    Effect.flatMap(teller(file), ({ tell }) => tell(["told"])).pipe(
      Effect.provide(layerFailing(code)),
      Effect.as("told"),
      Effect.catchAll((error) => Effect.succeed(error.code))
    )

  it.effect("minds a reader that goes away only where nothing else is written", () =>
    Effect.gen(function*() {
      assert.strictEqual(yield* tell("a", "EPIPE"), "told")
      assert.strictEqual(yield* tell("a", "ERR_STREAM_DESTROYED"), "told")
      assert.strictEqual(yield* tell("a", "ENOSPC"), "ENOSPC")
      assert.strictEqual(yield* tell(undefined, "EPIPE"), "EPIPE")
    }))
})

describe("a destination", () => {
  it.effect("is left as it is where nothing is written, and not made", () =>
    Effect.gen(function*() {
      const place = folder("nothing")
      yield* writing(path.join(place, "a"), () => Effect.void)
      yield* writing(path.join(place, "b"), () => Effect.void)
      assert.deepStrictEqual(contents(place), { a: "old" })
      yield* writing(path.join(place, "b"), (write) => write(""))
      assert.deepStrictEqual(contents(place), { a: "old", b: "" })
    }).pipe(Effect.provide(layer)))

  it.effect("takes the place of the old file in the end", () =>
    Effect.gen(function*() {
      const place = folder("done")
      yield* writing(path.join(place, "a"), (write) =>
        Effect.gen(function*() {
          yield* write("new ")
          assert.strictEqual(contents(place)["a"], "old")
          yield* write("text")
        }))
      assert.deepStrictEqual(contents(place), { a: "new text" })
    }).pipe(Effect.provide(layer)))

  it.effect("leaves the old file where writing fails", () =>
    Effect.gen(function*() {
      const place = folder("failed")
      const error = yield* Effect.flip(
        writing(path.join(place, "a"), (write) => Effect.zipRight(write("new"), Effect.fail("no")))
      )
      assert.strictEqual(error, "no")
      assert.deepStrictEqual(contents(place), { a: "old" })
    }).pipe(Effect.provide(layer)))

  it.effect("leaves the old file where writing is interrupted", () =>
    Effect.gen(function*() {
      const place = folder("interrupted")
      const begun = yield* Deferred.make<void>()
      const fiber = yield* Effect.fork(
        writing(path.join(place, "a"), (write) =>
          Effect.zipRight(write("new"), Effect.zipRight(Deferred.succeed(begun, undefined), Effect.never)))
      )
      yield* Deferred.await(begun)
      assert.lengthOf(fs.readdirSync(place), 2)
      yield* Fiber.interrupt(fiber)
      assert.deepStrictEqual(contents(place), { a: "old" })
    }).pipe(Effect.provide(layer)))

  it.effect("follows a link, and writes to a device as it is", () =>
    Effect.gen(function*() {
      const place = folder("linked")
      fs.symlinkSync("a", path.join(place, "link"))
      yield* writing(path.join(place, "link"), (write) => write("new"))
      assert.deepStrictEqual(contents(place), { a: "new", link: "new" })
      assert.isTrue(fs.lstatSync(path.join(place, "link")).isSymbolicLink())
      yield* writing("/dev/null", (write) => write("nowhere"))
      assert.isFalse(fs.statSync("/dev/null").isFile())
    }).pipe(Effect.provide(layer)))
})
