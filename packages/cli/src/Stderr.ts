/**
 * Standard error, where errors and the progress line go.
 *
 * @since 0.1.0
 */
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"

/**
 * @since 0.1.0
 * @category models
 */
export interface Service {
  /** Whether a person may be watching. */
  readonly isTerminal: boolean
  /** Writes a text as it is. */
  readonly write: (text: string) => Effect.Effect<void>
}

/**
 * @since 0.1.0
 * @category tags
 */
export class Stderr extends Context.Tag("@effect-memory/cli/Stderr")<Stderr, Service>() {}
