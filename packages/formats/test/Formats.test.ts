import { assert, describe, it } from "@effect/vitest"
import { Format } from "@effect-memory/formats"
import { Effect } from "effect"
import * as gen from "./generators.js"
import { assertStable } from "./utilities.js"

describe("every format", () => {
  it("has a name of its own", () => {
    assert.strictEqual(new Set(Format.all.map(({ id }) => id)).size, Format.all.length)
  })

  for (const { id } of Format.all) {
    it.effect.prop(
      `${id} gives back messages that went through it`,
      { messages: gen.messages },
      ({ messages }) => Effect.asVoid(assertStable(messages, id)),
      { fastCheck: { numRuns: 25 } }
    )
  }
})
