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
export interface Options {
  /** What goes on, such as `Replaying a.jsonl`. */
  readonly label: string
  /** What is counted, such as `context`. */
  readonly unit: string
  /** Whether results appear on standard output meanwhile. */
  readonly printing: boolean
}

/** @internal */
export interface Progress {
  /** One more is done. */
  readonly advance: Effect.Effect<void>
}

/** @internal */
export const make: (
  options: Options
) => Effect.Effect<Progress, never, Scope.Scope | Stderr | Terminal.Terminal> = Effect.fnUntraced(
  function*({ label, printing, unit }: Options) {
    const stderr = yield* Stderr
    const terminal = yield* Terminal.Terminal
    if (!stderr.isTerminal || (printing && (yield* terminal.isTTY))) return { advance: Effect.void }

    const start = yield* Clock.currentTimeMillis
    const state = yield* Ref.make({ done: 0, next: start + patienceMillis, shown: false })
    yield* Effect.addFinalizer(() =>
      Effect.flatMap(Ref.get(state), ({ shown }) => shown ? stderr.write(clearLine) : Effect.void)
    )
    const advance = Effect.gen(function*() {
      const now = yield* Clock.currentTimeMillis
      const due = yield* Ref.modify(state, ({ done, next, shown }) =>
        now < next
          ? [undefined, { done: done + 1, next, shown }]
          : [done + 1, { done: done + 1, next: now + intervalMillis, shown: true }])
      if (due !== undefined) yield* stderr.write(`${clearLine}${label}: ${plural(due, unit)}`)
    })
    return { advance }
  }
)
