/**
 * The progress line: on standard error, where a person watches it.
 */
import * as Terminal from "@effect/platform/Terminal"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Ref from "effect/Ref"
import type * as Scope from "effect/Scope"
import { Stderr } from "../Stderr.js"

/** Short runs show nothing. */
const patienceMillis = 500

const intervalMillis = 100

const clearLine = "\r\u001b[2K"

/** @internal */
export interface Options {
  /** What goes on, such as `Replaying a.jsonl`. */
  readonly label: string
  /** How far it is, such as `3 contexts`. */
  readonly show: (done: number) => string
  /** Whether results go by on standard output meanwhile, so that nobody needs the line where they are seen. */
  readonly printing: boolean
}

/** @internal */
export interface Progress {
  /** So many more are done. */
  readonly add: (more: number) => Effect.Effect<void>
  /** Makes room for something else on the terminal. */
  readonly clear: Effect.Effect<void>
  /** Says something on standard error, where no line is in the way. */
  readonly say: (sentence: string) => Effect.Effect<void>
}

/** @internal */
export const make: (
  options: Options
) => Effect.Effect<Progress, never, Scope.Scope | Stderr | Terminal.Terminal> = Effect.fnUntraced(
  function*({ label, printing, show }: Options) {
    const stderr = yield* Stderr
    const terminal = yield* Terminal.Terminal
    const write = (sentence: string) => stderr.write(`${sentence}\n`)
    if (!stderr.isTerminal || (printing && (yield* terminal.isTTY))) {
      return { add: () => Effect.void, clear: Effect.void, say: write }
    }

    const start = yield* Clock.currentTimeMillis
    const state = yield* Ref.make({ done: 0, next: start + patienceMillis, shown: false })
    const clear = Effect.flatMap(
      Ref.getAndUpdate(state, (now) => ({ ...now, shown: false })),
      ({ shown }) => shown ? stderr.write(clearLine) : Effect.void
    )
    yield* Effect.addFinalizer(() => clear)
    const add = Effect.fnUntraced(function*(more: number) {
      const now = yield* Clock.currentTimeMillis
      const due = yield* Ref.modify(state, (before) => {
        const done = before.done + more
        return now < before.next
          ? [undefined, { ...before, done }]
          : [done, { done, next: now + intervalMillis, shown: true }]
      })
      if (due !== undefined) yield* stderr.write(`${clearLine}${label}: ${show(due)}`)
    })
    return { add, clear, say: (sentence) => Effect.zipRight(clear, write(sentence)) }
  }
)
