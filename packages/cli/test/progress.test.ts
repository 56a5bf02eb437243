import { Terminal } from "@effect/platform"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Ref, TestClock } from "effect"
import * as progress from "../src/internal/progress.js"
import { Stderr } from "../src/Stderr.js"

/** Runs a replay of 15 contexts, 50 ms each; answers what was written to standard error. */
const written = (
  terminals: {
    readonly stdout: boolean
    readonly stderr: boolean
    readonly printing?: boolean
    readonly clearing?: boolean
  }
) =>
  Effect.gen(function*() {
    const texts = yield* Ref.make<ReadonlyArray<string>>([])
    const layer = Layer.mergeAll(
      Layer.succeed(Stderr, {
        isTerminal: terminals.stderr,
        write: (text) => Ref.update(texts, (before) => [...before, text])
      }),
      Layer.succeed(Terminal.Terminal, {
        columns: Effect.succeed(80),
        rows: Effect.succeed(24),
        isTTY: Effect.succeed(terminals.stdout),
        readInput: Effect.die("not read"),
        readLine: Effect.die("not read"),
        display: () => Effect.void
      })
    )
    yield* Effect.gen(function*() {
      const { add, clear } = yield* progress.make({
        label: "Replaying a.jsonl",
        show: (contexts) => `${contexts} contexts`,
        printing: terminals.printing ?? true
      })
      for (let i = 0; i < 15; i++) {
        yield* TestClock.adjust("50 millis")
        yield* add(1)
        if (terminals.clearing === true) yield* clear
      }
    }).pipe(Effect.scoped, Effect.provide(layer))
    return yield* Ref.get(texts)
  })

describe("progress", () => {
  it.effect("appears after half a second, ten times a second at most, and goes away", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual(yield* written({ stdout: false, stderr: true }), [
        "\r\u001b[2KReplaying a.jsonl: 10 contexts",
        "\r\u001b[2KReplaying a.jsonl: 12 contexts",
        "\r\u001b[2KReplaying a.jsonl: 14 contexts",
        "\r\u001b[2K"
      ])
    }))

  it.effect("makes room for results", () =>
    Effect.gen(function*() {
      const texts = yield* written({ stdout: true, stderr: true, printing: false, clearing: true })
      assert.deepStrictEqual(texts.slice(0, 4), [
        "\r\u001b[2KReplaying a.jsonl: 10 contexts",
        "\r\u001b[2K",
        "\r\u001b[2KReplaying a.jsonl: 12 contexts",
        "\r\u001b[2K"
      ])
    }))

  it.effect("is for terminals", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual(yield* written({ stdout: false, stderr: false }), [])
    }))

  it.effect("appears beside a terminal where nothing is printed meanwhile", () =>
    Effect.gen(function*() {
      assert.lengthOf(yield* written({ stdout: true, stderr: true, printing: false }), 4)
    }))

  it.effect("leaves the terminal to the rows where they go there", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual(yield* written({ stdout: true, stderr: true }), [])
    }))
})
