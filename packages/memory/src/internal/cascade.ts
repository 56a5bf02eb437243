/**
 * Several strategies, one after the other, until the budget holds.
 */
import * as Effect from "effect/Effect"
import { type TokenCountError, TrimError } from "../MemoryError.js"
import type * as TrimStrategy from "../TrimStrategy.js"
import { countAll } from "./counting.js"
import { faultOf, originsOf } from "./settle.js"
import { limitsOf, linesOf, type SystemRule } from "./windowDrop.js"

type Stage = (input: TrimStrategy.TrimInput) => Effect.Effect<TrimStrategy.TrimResult, TrimError>

/** What the stages so far have made of the input. */
interface Progress {
  readonly input: TrimStrategy.TrimInput
  /** For each message the index of the first stage's input that it is or rewrites, −1 for a new one. */
  readonly origin: ReadonlyArray<number>
  /** Inputs of the first stage that new messages stand for. */
  readonly covers: ReadonlyArray<number>
  readonly replace: boolean
  readonly actions: ReadonlyArray<TrimStrategy.TrimAction>
}

const fits = (input: TrimStrategy.TrimInput, system: SystemRule): boolean => {
  const lines = linesOf(input, system)
  const limits = limitsOf(input.budget)
  const tokens = lines.reduce((sum, line) => sum + line.tokens, input.counter.overhead)
  const rounds = new Set(lines.filter((line) => line.counted).map((line) => line.round)).size
  return tokens <= limits.tokens && rounds <= limits.rounds
}

const advance = (
  before: Progress,
  result: TrimStrategy.TrimResult,
  system: SystemRule
): Effect.Effect<Progress, TokenCountError> => {
  const { input } = before
  const origins = originsOf(input.messages, result)
  const placed = result.messages.map((message, i) => ({ message, origin: origins[i] }))
  const known = (i: number) => i >= 0 && input.messages[i] !== undefined
  const returned = new Set(origins)
  const covered = result.replace
    ? result.covers ?? input.messages.flatMap((_, i) => returned.has(i) ? [] : [i])
    : []
  const standIns = new Set(input.standIns)
  return Effect.map(
    countAll(input.counter, placed.map(({ message }) => message)),
    (counts): Progress => ({
      input: {
        ...input,
        messages: placed.map(({ message }) => message),
        counts: counts.map((tokens, i) => system === "free" && placed[i].message.role === "system" ? 0 : tokens),
        // What a stage has made stands for others, and no later stage may leave it out.
        standIns: placed.flatMap(({ origin }, at) => !known(origin) || standIns.has(origin) ? [at] : []),
        newest: newestOf(placed, input.newest),
        rounds: roundsOf(placed, input.rounds)
      },
      origin: placed.map(({ origin }) => known(origin) ? before.origin[origin] : -1),
      covers: [...before.covers, ...covered.map((i) => before.origin[i]).filter((i) => i >= 0)],
      replace: before.replace || result.replace,
      actions: [
        ...before.actions,
        ...(result.actions ?? []).map((action) => ({ ...action, index: before.origin[action.index] ?? -1 }))
          .filter(({ index }) => index >= 0)
      ]
    })
  )
}

/** What is new stands in the round of what is behind it. */
const roundsOf = (
  placed: ReadonlyArray<{ readonly origin: number }>,
  rounds: ReadonlyArray<number> | undefined
): ReadonlyArray<number> | undefined => {
  if (rounds === undefined) return undefined
  let round = rounds.at(-1) ?? 0
  return placed.map(({ origin }) => origin).reverse().map((origin) => round = rounds[origin] ?? round).reverse()
}

const newestOf = (placed: ReadonlyArray<{ readonly origin: number }>, newest: number): number => {
  const at = placed.findIndex(({ origin }) => origin >= newest)
  return at < 0 ? placed.length : at
}

/** @internal */
export const cascade = Effect.fnUntraced(function*(
  input: TrimStrategy.TrimInput,
  stages: ReadonlyArray<Stage>,
  system: SystemRule
): Effect.fn.Return<TrimStrategy.TrimResult, TrimError | TokenCountError> {
  let progress: Progress = {
    input,
    origin: input.messages.map((_, i) => i),
    covers: [],
    replace: false,
    actions: []
  }
  for (const stage of stages) {
    if (fits(progress.input, system)) break
    const result = yield* stage(progress.input)
    const fault = faultOf(result, progress.input.messages)
    if (fault !== undefined) return yield* new TrimError({ reason: fault })
    progress = yield* advance(progress, result, system)
  }
  const { actions, covers, origin, replace } = progress
  return { messages: progress.input.messages, origin, covers, replace, actions }
})
