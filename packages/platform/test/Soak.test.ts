import { KeyValueStore } from "@effect/platform"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { fibersLeft } from "../benchmark/soak/leftovers.js"
import { run } from "../benchmark/soak/run.js"
import { countFaults, counting, summarizing, summaryFaults } from "../benchmark/soak/services.js"
import { client } from "./servers/server.js"

/** Time limits that a test has the time for. */
const policy = {
  attemptTimeout: "100 millis",
  deadline: "300 millis",
  backoff: "5 millis",
  breakerCooldown: "200 millis"
} as const

/** The soak without sockets, and a short one. */
const soak = (seed: number) =>
  Effect.scoped(Effect.gen(function*() {
    const scripts = { counting: countFaults(seed, 0.3), summarizing: summaryFaults(seed, 0.3) }
    const counts = yield* client(counting, scripts.counting.faults)
    const summaries = yield* client(summarizing, scripts.summarizing.faults)
    return yield* run({
      conversations: 8,
      turns: 12,
      readers: 3,
      seed,
      maxTokens: 1200,
      pause: 100,
      backoff: "50 millis",
      slack: 0,
      counting: {
        ...counts,
        url: "http://localhost:1",
        script: scripts.counting,
        policy: { ...policy, requestsPerMinute: 150 }
      },
      summarizing: {
        ...summaries,
        url: "http://localhost:2/v1",
        script: scripts.summarizing,
        policy: { ...policy, requestsPerMinute: 60 }
      },
      values: yield* KeyValueStore.KeyValueStore
    })
  })).pipe(Effect.provide(KeyValueStore.layerMemory))

describe("a soak", () => {
  it.live("holds over services that fail in three of ten requests, while fibers are interrupted", () =>
    Effect.gen(function*() {
      const [{ figures, violations }, fibers] = yield* fibersLeft(soak(1))
      assert.deepStrictEqual(violations, [])
      assert.strictEqual(fibers, 0)
      // It did happen.
      assert.strictEqual(figures.turns, 96)
      for (
        const what of [
          "contexts with a summary",
          "fibers interrupted",
          "counts",
          "counts that failed",
          "CountFailed",
          "TrimFailed",
          "CompactionCommitted"
        ]
      ) {
        assert.isAbove(figures[what] ?? 0, 0, what)
      }
    }))
})
