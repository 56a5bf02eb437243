/**
 * What every store must do, as a list of cases to run against it. It knows no test runner: a case is an effect.
 *
 * @example
 * ```ts
 * import { strictEqual } from "node:assert"
 * import { Effect } from "effect"
 * import { MemoryStore, MemoryStoreConformance } from "effect-memory"
 *
 * const passed = Effect.forEach(MemoryStoreConformance.cases, ({ name, run }) => Effect.as(run, name)).pipe(
 *   Effect.provide(MemoryStore.layerMemory)
 * )
 *
 * strictEqual((await Effect.runPromise(passed)).length, MemoryStoreConformance.cases.length)
 * ```
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import * as Random from "effect/Random"
import * as Schema from "effect/Schema"
import { appending } from "./internal/conformance/appending.js"
import type * as check from "./internal/conformance/check.js"
import { compacting, counting } from "./internal/conformance/compacting.js"
import { conversations } from "./internal/conformance/conversations.js"
import { racing } from "./internal/conformance/racing.js"
import type { MemoryStoreError } from "./MemoryError.js"
import * as MemoryStore from "./MemoryStore.js"

/**
 * A store does not do what it must.
 *
 * @since 0.1.0
 * @category errors
 */
export class ConformanceError
  extends Schema.TaggedError<ConformanceError>("effect-memory/MemoryStoreConformance/ConformanceError")(
    "ConformanceError",
    {
      /** What was looked at. */
      subject: Schema.String,
      /** What should be there, as text. */
      expected: Schema.String,
      /** What is there, as text. */
      found: Schema.String
    }
  )
{
  /**
   * @since 0.1.0
   */
  override get message(): string {
    return `${this.subject}: expected ${this.expected}, found ${this.found}`
  }
}

/**
 * @since 0.1.0
 * @category models
 */
export interface Case {
  /** What the store must do, as the name of a test. */
  readonly name: string
  /** Uses conversations of its own, so that cases can share a store and run at the same time. */
  readonly run: Effect.Effect<void, ConformanceError | MemoryStoreError, MemoryStore.MemoryStore>
}

const toCase = ({ check, name }: check.Case): Case => ({
  name,
  run: Effect.gen(function*() {
    const store = yield* MemoryStore.MemoryStore
    const unique = yield* Random.nextIntBetween(0, Number.MAX_SAFE_INTEGER)
    yield* Effect.mapError(
      check(store, `conformance-${unique}`),
      (error) => error._tag === "Mismatch" ? new ConformanceError(error) : error
    )
  })
})

/**
 * All cases.
 *
 * @since 0.1.0
 * @category cases
 */
export const cases: ReadonlyArray<Case> = [appending, compacting, counting, conversations, racing].flat().map(toCase)
