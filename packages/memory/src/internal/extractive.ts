/**
 * A summary without a model: the most important lines that fit, in their order, and the facts that they leave out.
 */
import * as Effect from "effect/Effect"
import type { TokenCountError } from "../MemoryError.js"
import type * as Message from "../Message.js"
import { type Candidate, candidates, facts, factsLabel } from "./extractiveRank.js"
import { facts as factsIn } from "./extractiveText.js"
import * as json from "./json.js"
import * as render from "./render.js"

type Count = (text: string) => Effect.Effect<number, TokenCountError>

/** Lines in a row that do not fit before the room counts as full. */
const patience = 50

const factsLine = (names: ReadonlyArray<string>): ReadonlyArray<string> =>
  names.length === 0 ? [] : [`${factsLabel} ${names.join(", ")}`]

const join = (lines: ReadonlyArray<Candidate>, names: ReadonlyArray<string>): string =>
  [...Array.from(lines).sort((a, b) => a.place - b.place).map(({ text }) => text), ...factsLine(names)].join("\n")

/** Takes lines, the best first, as long as they fit; returns the room that is left. */
const fill = Effect.fnUntraced(function*(
  ranked: ReadonlyArray<Candidate>,
  taken: Set<Candidate>,
  room: number,
  count: Count
) {
  let left = room
  let misses = 0
  for (const candidate of ranked) {
    if (misses === patience) break
    if (taken.has(candidate)) continue
    const tokens = yield* count(`${candidate.text}\n`)
    if (tokens > left) {
      misses++
      continue
    }
    misses = 0
    left -= tokens
    taken.add(candidate)
  }
  return left
})

/** The largest number up to `most` for which a text fits, if it fits for 0. */
const largest = Effect.fnUntraced(function*(
  most: number,
  fits: (n: number) => Effect.Effect<boolean, TokenCountError>
) {
  if (yield* fits(most)) return most
  let fitting = 0
  let tooMany = most
  while (tooMany - fitting > 1) {
    const middle = Math.floor((fitting + tooMany) / 2)
    if (yield* fits(middle)) fitting = middle
    else tooMany = middle
  }
  return fitting
})

/** The beginning of a text that fits, cut between code points; empty if not even one fits. */
const cut = Effect.fnUntraced(function*(text: string, maxTokens: number, count: Count) {
  const points = Array.from(text)
  const beginning = (n: number) => points.slice(0, n).join("").trim()
  const n = yield* largest(points.length, (n) => Effect.map(count(beginning(n)), (tokens) => tokens <= maxTokens))
  return beginning(n)
})

/**
 * The most important lines that fit. The first of them is cut rather than left out; half of the room belongs to the
 * previous summary, so that each compaction keeps some of what came before.
 */
const chooseLines = Effect.fnUntraced(function*(ranked: ReadonlyArray<Candidate>, room: number, count: Count) {
  const [first, ...others] = ranked
  const half = Math.floor(room / 2)
  const roomForFirst = others.length === 0 ? room : Math.max(1, half - 1)
  const best = { ...first, text: yield* cut(first.text, roomForFirst, count) }
  const all = best.text === "" ? others : [best, ...others]
  const old = all.filter((candidate) => candidate.old)
  const taken = new Set<Candidate>()
  const saved = yield* fill(old, taken, half, count)
  const left = yield* fill(all.filter((candidate) => !candidate.old), taken, room - half + saved, count)
  yield* fill(old, taken, left, count)
  return all.filter((candidate) => taken.has(candidate))
})

/** The facts that no line mentions. */
const missingFrom = (lines: ReadonlyArray<Candidate>, names: ReadonlyArray<string>): ReadonlyArray<string> => {
  const present = new Set(lines.flatMap(({ text }) => factsIn(text)).map(({ text }) => text))
  return names.filter((name) => !present.has(name))
}

/**
 * A text of at most `maxTokens`; empty only if there is no text or no code point of it fits.
 *
 * @internal
 */
export const summarize = Effect.fnUntraced(function*(
  messages: ReadonlyArray<Message.Message>,
  before: string | undefined,
  maxTokens: number,
  count: Count
) {
  const fits = (text: string) => Effect.map(count(text), (tokens) => tokens <= maxTokens)
  const previous = before === undefined ? undefined : json.wellFormed(before)
  const names = facts(messages, previous)
  const ranked = candidates(messages, previous)
  if (ranked.length === 0) {
    const rest = factsLine(names).join("") || render.transcript(messages) || (previous ?? "").trim()
    return yield* cut(rest, maxTokens, count)
  }

  let lines = yield* chooseLines(ranked, maxTokens, count)
  const wanted = missingFrom(lines, names)
  if (wanted.length > 0) {
    const forFacts = Math.min(Math.floor(maxTokens / 4), yield* count(factsLine(wanted).join("")))
    lines = yield* chooseLines(ranked, maxTokens - forFacts, count)
  }
  // The sum of the counts is an estimate.
  while (lines.length > 0 && !(yield* fits(join(lines, [])))) lines = lines.slice(0, -1)
  if (lines.length === 0) return yield* cut(ranked[0].text, maxTokens, count)

  const missing = missingFrom(lines, names)
  const n = yield* largest(missing.length, (n) => fits(join(lines, missing.slice(0, n))))
  return join(lines, missing.slice(0, n))
})
