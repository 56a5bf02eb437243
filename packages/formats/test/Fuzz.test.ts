import { assert, describe, it } from "@effect/vitest"
import { Format } from "@effect-memory/formats"
import { Effect } from "effect"
import { corpus } from "./corpus.js"
import * as fuzz from "./fuzz.js"
import { conversations, errors } from "./utilities.js"

describe("damaged texts", () => {
  for (const { id } of Format.all) {
    it.effect(`begin with a text of ${id} that is whole`, () =>
      Effect.gen(function*() {
        assert.deepStrictEqual(yield* errors(corpus[id]), [])
        assert.strictEqual((yield* conversations(corpus[id]))[0].format, id)
      }))
  }

  it("never crash a reader", () => {
    const outcomes = Array.from({ length: 3_000 }, (_, seed) => fuzz.run(seed))
    assert.deepStrictEqual(outcomes.filter(({ kind }) => kind === "crash"), [])
    // Damage that reads as nothing, or leaves everything whole, would test nothing.
    for (const kind of ["read", "refused", "unknown"]) {
      assert.isAbove(outcomes.filter((outcome) => outcome.kind === kind).length, 100, kind)
    }
  }, 120_000)
})
