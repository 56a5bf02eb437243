/**
 * The plain window: which rounds to leave out so that the rest fits. One binary search on running sums.
 */

/** Tokens and rounds that must go before the rest fits; not positive where everything fits. @internal */
export interface Excess {
  readonly tokens: number
  readonly rounds: number
}

/**
 * How far below the budget a trim goes. The budget is trimmed in steps of what lies between the two, so that the
 * oldest kept round stays the same until another step's worth has arrived.
 *
 * @internal
 */
export interface Target {
  readonly tokens: number | undefined
  readonly rounds: number | undefined
}

const roundUp = (excess: number, limit: number, target: number | undefined): number => {
  if (excess <= 0 || target === undefined || target >= limit) return excess
  const step = limit - target
  return Math.ceil(excess / step) * step
}

/** @internal */
export const stepped = (
  excess: Excess,
  limit: { readonly tokens: number; readonly rounds: number },
  target: Target
): Excess => ({
  tokens: roundUp(excess.tokens, limit.tokens, target.tokens),
  rounds: roundUp(excess.rounds, limit.rounds, target.rounds)
})

/**
 * The first round to keep: the least `r` such that the droppable tokens and rounds before it make up for the excess,
 * `count` if even all of them do not.
 *
 * `tokensBefore` and `roundsBefore` never decrease.
 *
 * @internal
 */
export const firstKept = (
  tokensBefore: ReadonlyArray<number>,
  roundsBefore: ReadonlyArray<number>,
  count: number,
  excess: Excess
): number => {
  let low = 0
  let high = count
  while (low < high) {
    const middle = (low + high) >>> 1
    if (tokensBefore[middle] >= excess.tokens && roundsBefore[middle] >= excess.rounds) high = middle
    else low = middle + 1
  }
  return low
}

/** One message as the window sees it. @internal */
export interface Line {
  readonly tokens: number
  /** Ordinal of its round; never decreases from line to line. */
  readonly round: number
  /** Stays while its round goes. */
  readonly pinned: boolean
  /** Whether round limits count its round. */
  readonly counted: boolean
}

/** @internal */
export interface Limits {
  readonly tokens: number
  readonly rounds: number
}

/**
 * The lines that the window keeps, as indices: pinned ones, and everything from the first kept round on. Lines from
 * `newest` on are the newest round.
 *
 * @internal
 */
export const keptLines = (
  lines: ReadonlyArray<Line>,
  newest: number,
  limits: Limits,
  overhead: number,
  target: Target
): ReadonlyArray<number> => {
  let tokens = overhead
  let rounds = 0
  let dropTokens = 0
  let dropRounds = 0
  const starts: Array<number> = []
  const tokensBefore: Array<number> = []
  const roundsBefore: Array<number> = []
  for (let start = 0; start < lines.length;) {
    const { counted, round } = lines[start]
    let end = start
    let droppable = 0
    let pinned = true
    for (; end < lines.length && lines[end].round === round; end++) {
      tokens += lines[end].tokens
      if (lines[end].pinned) continue
      droppable += lines[end].tokens
      pinned = false
    }
    if (counted) rounds++
    if (start < newest) {
      starts.push(start)
      tokensBefore.push(dropTokens)
      roundsBefore.push(dropRounds)
      dropTokens += droppable
      if (counted && !pinned) dropRounds++
    }
    start = end
  }
  const excess = stepped({ tokens: tokens - limits.tokens, rounds: rounds - limits.rounds }, limits, target)
  const first = firstKept(tokensBefore, roundsBefore, starts.length, excess)
  const from = starts[first] ?? newest
  return lines.flatMap((line, i) => i >= from || line.pinned ? [i] : [])
}
