/**
 * Standard input, which is read where a file is named `-`.
 *
 * @since 0.1.0
 */
import type { PlatformError } from "@effect/platform/Error"
import * as Context from "effect/Context"
import type * as Stream from "effect/Stream"

/**
 * @since 0.1.0
 * @category models
 */
export interface Service {
  /** Whether a person may be typing. */
  readonly isTerminal: boolean
  /** What is there, to the end. It can be read once. */
  readonly bytes: Stream.Stream<Uint8Array, PlatformError>
}

/**
 * @since 0.1.0
 * @category tags
 */
export class Stdin extends Context.Tag("@effect-memory/cli/Stdin")<Stdin, Service>() {}
