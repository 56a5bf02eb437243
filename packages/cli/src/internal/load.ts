/**
 * Parts of the program that are loaded on use, so that what needs none of them starts fast.
 */
import * as Effect from "effect/Effect"
import { BrokenInstallation } from "../CliError.js"

/** @internal */
export const load = <Module>(
  part: string,
  imported: () => Promise<Module>
): Effect.Effect<Module, BrokenInstallation> =>
  Effect.tryPromise({ try: imported, catch: (cause) => new BrokenInstallation({ part, cause }) })
