/**
 * Summarizing piece by piece, each piece together with the summary so far.
 */
import * as Effect from "effect/Effect"
import { SummarizeError, type TokenCountError } from "../MemoryError.js"
import type * as Message from "../Message.js"
import type * as Summarizer from "../Summarizer.js"
import * as chunk from "./chunk.js"
import * as render from "./render.js"
import * as prompt from "./summaryPrompt.js"

type Messages = ReadonlyArray<Message.Message>

/** Tokens of a request as it is sent. */
type Count = (request: Summarizer.Request) => Effect.Effect<number, SummarizeError>

/** @internal */
export const uncounted = (cause: TokenCountError): SummarizeError =>
  new SummarizeError({ reason: "provider", detail: "its input could not be counted: look at the cause", cause })

const addUsage = (
  a: Summarizer.Usage | undefined,
  b: Summarizer.Usage | undefined
): Summarizer.Usage | undefined =>
  a === undefined || b === undefined
    ? a ?? b
    : { inputTokens: a.inputTokens + b.inputTokens, outputTokens: a.outputTokens + b.outputTokens }

/** The longest version of these messages that fits, to within a sixteenth. */
const shortenToFit = Effect.fnUntraced(function*(
  messages: Messages,
  fits: (messages: Messages) => Effect.Effect<boolean, SummarizeError>
) {
  for (const shorten of [chunk.shorten, chunk.collapse]) {
    if (!(yield* fits(shorten(messages, 0)))) continue
    let length = 0
    let tooLong = render.transcript(messages).length
    while (tooLong - length > 1 + length / 16) {
      const middle = Math.floor((length + tooLong) / 2)
      if (yield* fits(shorten(messages, middle))) length = middle
      else tooLong = middle
    }
    return shorten(messages, length)
  }
  return undefined
})

/** The longest run of atoms, from `start`, that fits; a single one that does not is shortened. */
const takePiece = Effect.fnUntraced(function*(
  atoms: ReadonlyArray<Messages>,
  sizes: ReadonlyArray<number>,
  start: number,
  room: number,
  fits: (messages: Messages) => Effect.Effect<boolean, SummarizeError>
) {
  let end = start + 1
  for (let sum = sizes[start]; end < atoms.length && sum + sizes[end] <= room; end++) sum += sizes[end]
  // A sum of counts is an estimate: texts side by side may count for more than each alone.
  for (let fewer = 1;; fewer *= 2) {
    const messages = atoms.slice(start, end).flat()
    if (yield* fits(messages)) return { messages, end }
    if (end === start + 1) break
    end = Math.max(start + 1, end - fewer)
  }
  const messages = yield* shortenToFit(atoms[start], fits)
  return messages && { messages, end: start + 1 }
})

/** @internal */
export const summarizeInPieces = Effect.fnUntraced(function*(
  self: Summarizer.Service,
  request: Summarizer.Request,
  { counter, maxInputTokens }: Summarizer.ChunkOptions
) {
  const count: Count = (request) => {
    const { system, user } = prompt.call(request)
    return Effect.mapError(
      Effect.zipWith(counter.count(system), counter.count(user), (a, b) => counter.overhead + a + b),
      uncounted
    )
  }
  if ((yield* count(request)) <= maxInputTokens) return yield* self.summarize(request)

  const atoms = chunk.atoms(request.messages)
  const sizes = yield* Effect.forEach(
    atoms,
    (atom) => Effect.mapError(counter.count(`${render.transcript(atom)}\n`), uncounted)
  )
  let summary: Summarizer.Summary | undefined
  for (let start = 0; start < atoms.length;) {
    const soFar: Summarizer.Request = { ...request, messages: [], previous: summary?.text ?? request.previous }
    const fixed = yield* count(soFar)
    const piece = yield* takePiece(
      atoms,
      sizes,
      start,
      maxInputTokens - fixed,
      (messages) => Effect.map(count({ ...soFar, messages }), (tokens) => tokens <= maxInputTokens)
    )
    if (piece === undefined) {
      return yield* new SummarizeError({
        reason: "overflow",
        detail: `maxInputTokens is ${maxInputTokens}, and instructions and previous summary take ${fixed}: raise it, ` +
          `or allow shorter summaries`
      })
    }
    const next: Summarizer.Summary = yield* self.summarize({ ...soFar, messages: piece.messages })
    summary = { text: next.text, usage: addUsage(summary?.usage, next.usage) }
    start = piece.end
  }
  return summary ?? (yield* self.summarize(request))
})
