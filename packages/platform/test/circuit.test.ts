import { assert, describe, it } from "@effect/vitest"
import { Effect, FastCheck as fc } from "effect"
import * as circuit from "../src/internal/circuit.js"

const options = { failures: 3, cooldown: 100 }

type Step = { readonly event: "succeed" | "fail" | "release" | "off" | "wait"; readonly time: number }

const step: fc.Arbitrary<Step> = fc.record({
  event: fc.constantFrom("succeed", "fail", "fail", "fail", "release", "wait", "off"),
  time: fc.integer({ min: 0, max: 150 })
})

describe("circuit", () => {
  it.effect.prop("opens after failures in a row alone, and admits one probe a cooldown", {
    steps: fc.array(step, { maxLength: 40 })
  }, ({ steps }) =>
    Effect.sync(() => {
      let state = circuit.closed
      let [now, row, isOff] = [0, 0, false]
      let openedAt: number | undefined
      for (const { event, time } of steps) {
        now += time
        if (event === "off") {
          state = circuit.off
          isOff = true
        }
        const admitted = circuit.admits(state, now)
        const expected = !isOff && (openedAt === undefined || now >= openedAt + options.cooldown)
        assert.strictEqual(admitted, expected)
        if (!admitted || event === "wait" || event === "off") continue
        state = circuit.started(state)
        // While a probe runs, nobody else is admitted.
        if (openedAt !== undefined) assert.isFalse(circuit.admits(state, now))
        if (event === "succeed") {
          state = circuit.succeeded(state)
          row = 0
          openedAt = undefined
        } else if (event === "fail") {
          state = circuit.failed(state, now, options)
          row++
          if (openedAt !== undefined || row >= options.failures) openedAt = now
        } else {
          state = circuit.released(state, now)
          if (openedAt !== undefined) openedAt = now - options.cooldown
        }
      }
    }))

  it("learns nothing from stragglers while it is open", () => {
    const open = circuit.failed({ _tag: "Closed", failures: 2 }, 10, options)
    assert.deepStrictEqual(open, { _tag: "Open", until: 110 })
    assert.deepStrictEqual(circuit.failed(open, 90, options), open)
    assert.deepStrictEqual(circuit.released(open, 90), open)
    assert.deepStrictEqual(circuit.succeeded(open), circuit.closed)
  })
})
