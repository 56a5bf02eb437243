/**
 * The progress line: on standard error, where a person watches it and sees no rows go by.
 */
import * as Terminal from "@effect/platform/Terminal"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Ref from "effect/Ref"
import type * as Scope from "effect/Scope"
import { Stderr } from "../Stderr.js"
import { plural } from "./numbers.js"

/** Short runs show nothing. */
const patienceMillis = 500

const intervalMillis = 100

const clearLine = "\r\u001b[2K"

/** @internal */
export interface Progress {
  /** One more context is done. */
  readonly advance: Effect.Effect<void>
}

/** @internal */
export const make: (label: string) => Effect.Effect<Progress, never, Scope.Scope | Stderr | Terminal.Terminal> = Effect
  .fnUntraced(function*(label: string) {
    const stderr = yield* Stderr
    const terminal = yield* Terminal.Terminal
    if (!stderr.isTerminal || (yield* terminal.isTTY)) return { advance: Effect.void }

    const start = yield* Clock.currentTimeMillis
    const state = yield* Ref.make({ contexts: 0, next: start + patienceMillis, shown: false })
    yield* Effect.addFinalizer(() =>
      Effect.flatMap(Ref.get(state), ({ shown }) => shown ? stderr.write(clearLine) : Effect.void)
    )
    const advance = Effect.gen(function*() {
      const now = yield* Clock.currentTimeMillis
      const due = yield* Ref.modify(state, ({ contexts, next, shown }) =>
        now < next
          ? [undefined, { contexts: contexts + 1, next, shown }]
          : [contexts + 1, { contexts: contexts + 1, next: now + intervalMillis, shown: true }])
      if (due !== undefined) yield* stderr.write(`${clearLine}${label}: ${plural(due, "context")}`)
    })
    return { advance }
  })
