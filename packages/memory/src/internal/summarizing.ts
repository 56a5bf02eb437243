/**
 * Asking for a summary, and making sure that it fits the room that was planned for it.
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Metric from "effect/Metric"
import { SummarizeError, type TokenCountError, TrimError } from "../MemoryError.js"
import * as MemoryMetrics from "../MemoryMetrics.js"
import type * as Message from "../Message.js"
import type * as Summarizer from "../Summarizer.js"
import type * as TokenCounter from "../TokenCounter.js"
import type * as TrimStrategy from "../TrimStrategy.js"
import { originalOf } from "./rewriting.js"
import * as summaries from "./summarize.js"
import * as target from "./target.js"

/** @internal */
export interface Settings {
  readonly maxSummaryTokens: number
  readonly prompt: string | undefined
  readonly target: TrimStrategy.Target | undefined
  readonly role: "system" | "user"
  readonly system: "keep" | "trim"
}

/** A result, or nothing where a summary could not make room. @internal */
export type Attempt = Effect.Effect<TrimStrategy.TrimResult | undefined, TrimError | TokenCountError>

const planned = Effect.fnUntraced(function*(
  input: TrimStrategy.TrimInput,
  settings: Settings
): Effect.fn.Return<summaries.Plan | undefined, TrimError | TokenCountError> {
  const { maxSummaryTokens, role, system } = settings
  const to = yield* target.resolve(settings.target, input.budget)
  const prefixTokens = yield* input.counter.countMessage(summaries.blank[role])
  return summaries.plan(input, { system, target: to, maxSummaryTokens, prefixTokens })
})

/**
 * What a summary would take over, without asking for it. Nothing where it could not make room.
 *
 * @internal
 */
export const plan = (input: TrimStrategy.TrimInput, settings: Settings): Attempt =>
  Effect.map(planned(input, settings), (plan) => plan === undefined ? undefined : takeOver(input, plan, []))

const takeOver = (
  input: TrimStrategy.TrimInput,
  { taken }: summaries.Plan,
  summary: ReadonlyArray<Message.Message>
): TrimStrategy.TrimResult => {
  const covers = [...taken, ...input.standIns]
  const gone = new Set(covers)
  const kept = input.messages.flatMap((_, i) => gone.has(i) ? [] : [i])
  return {
    messages: [...summary, ...kept.map((i) => input.messages[i])],
    origin: [...summary.map(() => -1), ...kept],
    covers,
    replace: true,
    actions: taken.map((index) => ({ index, strategy: "summarize", action: "summarized" }))
  }
}

/** @internal */
export const trim = Effect.fnUntraced(function*(
  input: TrimStrategy.TrimInput,
  settings: Settings,
  summarizer: Summarizer.Service
): Effect.fn.Return<TrimStrategy.TrimResult | undefined, TrimError | TokenCountError> {
  const plan = yield* planned(input, settings)
  if (plan === undefined) return undefined
  const previous = input.standIns.map((i) => summaries.textOf(input.messages[i])).join("\n\n")
  const reply = yield* summarizer.summarize({
    messages: plan.taken.map((i) => originalOf(input.messages[i])),
    previous: previous === "" ? undefined : previous,
    maxTokens: plan.cap,
    prompt: settings.prompt
  }).pipe(
    Effect.withSpan("Summarizer.summarize", {
      captureStackTrace: false,
      attributes: { messages: plan.taken.length, tokens: plan.tokens }
    }),
    Metric.trackDuration(MemoryMetrics.summarizerLatency),
    Effect.mapError(failed)
  )
  const provenance = {
    messages: plan.taken.length,
    tokensBefore: plan.tokens,
    at: yield* Clock.currentTimeMillis,
    counter: input.counter.id,
    usage: reply.usage
  }
  const text = reply.text.trim()
  if (text === "") {
    return yield* failed(new SummarizeError({ reason: "empty", detail: "no text came back: use another model" }))
  }
  const fitted = yield* fitting(
    text,
    plan.room,
    input.counter,
    (text) => summaries.message(settings.role, text, provenance)
  )
  if (fitted === undefined) {
    return yield* failed(
      new SummarizeError({
        reason: "truncated",
        detail: `nothing of it fits into ${plan.room} tokens, its prefix included: raise maxSummaryTokens or the budget`
      })
    )
  }
  const { message, tokens } = fitted
  if (tokens >= plan.tokens) {
    return yield* failed(
      new SummarizeError({
        reason: "grew",
        detail: `${tokens} tokens for ${plan.tokens}: ask for a shorter summary, or raise the budget`
      })
    )
  }
  return takeOver(input, plan, [message])
})

const failed = (cause: SummarizeError): TrimError => new TrimError({ reason: cause.message, cause })

interface Fitted {
  readonly message: Message.Message
  readonly tokens: number
}

/**
 * The longest beginning of a text, cut between code points, whose message takes no more than `room` tokens; nothing
 * where not one code point fits.
 */
const fitting = Effect.fnUntraced(function*(
  text: string,
  room: number,
  counter: TokenCounter.Service,
  make: (text: string) => Message.Message
): Effect.fn.Return<Fitted | undefined, TokenCountError> {
  const count = (message: Message.Message) =>
    Effect.map(counter.countMessage(message), (tokens): Fitted => ({ message, tokens }))
  const whole = yield* count(make(text))
  if (whole.tokens <= room) return whole
  const points = Array.from(text)
  let low = 0
  let high = points.length
  let fitted: Fitted | undefined
  // Not every counter is monotone: what is returned has been counted.
  while (low + 1 < high) {
    const middle = (low + high) >>> 1
    const beginning = yield* count(make(points.slice(0, middle).join("")))
    if (beginning.tokens <= room) {
      low = middle
      fitted = beginning
    } else high = middle
  }
  return fitted
})
