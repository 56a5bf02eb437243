/**
 * A circuit breaker: it opens after repeated failures, lets one probe through when it has cooled down, and stays off where
 * there is nothing to ask.
 */

/** @internal */
export type State =
  | { readonly _tag: "Closed"; readonly failures: number }
  | { readonly _tag: "Open"; readonly until: number }
  | { readonly _tag: "Probing" }
  | { readonly _tag: "Off" }

/** @internal */
export interface Options {
  /** Failures in a row that open it. */
  readonly failures: number
  /** Milliseconds that it stays open. */
  readonly cooldown: number
}

/** @internal */
export const closed: State = { _tag: "Closed", failures: 0 }

/** @internal */
export const off: State = { _tag: "Off" }

/** Whether an attempt may start now. @internal */
export const admits = (state: State, now: number): boolean =>
  state._tag === "Closed" || (state._tag === "Open" && now >= state.until)

/** The state while an admitted attempt runs. @internal */
export const started = (state: State): State => state._tag === "Open" ? { _tag: "Probing" } : state

/** @internal */
export const succeeded = (state: State): State => state._tag === "Off" ? state : closed

/** @internal */
export const failed = (state: State, now: number, { cooldown, failures }: Options): State => {
  switch (state._tag) {
    case "Closed":
      return state.failures + 1 < failures
        ? { _tag: "Closed", failures: state.failures + 1 }
        : { _tag: "Open", until: now + cooldown }
    case "Probing":
      return { _tag: "Open", until: now + cooldown }
    default:
      return state
  }
}

/** An attempt was given up before it said anything: a probe makes room for the next one. @internal */
export const released = (state: State, now: number): State =>
  state._tag === "Probing" ? { _tag: "Open", until: now } : state
