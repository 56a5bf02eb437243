/**
 * Replays a recorded conversation through a memory: records message after message, asks for the context before each
 * reply as an agent would and once at the end, and reports what every context held and what it left out.
 *
 * @since 0.1.0
 */
import * as Native from "@effect-memory/formats/Native"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import * as Memory from "effect-memory/Memory"
import type * as MemoryError from "effect-memory/MemoryError"
import * as Message from "effect-memory/Message"
import * as TokenCounter from "effect-memory/TokenCounter"
import * as Transcript from "effect-memory/Transcript"
import * as contents from "./internal/contents.js"
import { exactly, remembering, total } from "./internal/totals.js"

// =============================================================================
// Models
// =============================================================================

/**
 * How much a sequence of messages holds. The preamble is no round.
 *
 * @since 0.1.0
 * @category models
 */
export const Size = Schema.Struct({
  messages: Schema.Number,
  rounds: Schema.Number,
  tokens: Schema.Number
})

/**
 * @since 0.1.0
 * @category models
 */
export type Size = typeof Size.Type

const variant = {
  /** What trims a conversation that is over the budget. */
  strategy: Schema.String,
  /** The budget. */
  maxTokens: Schema.Number
}

const rewritten = {
  /** Messages that a summary in the context stands for. */
  summarized: Schema.Number,
  /** Results in whose place stands a placeholder. */
  cleared: Schema.Number,
  /** Parts of which only head and tail are left. */
  shortened: Schema.Number
}

/**
 * One context: what a model would have been sent.
 *
 * @since 0.1.0
 * @category models
 */
export const Turn = Schema.TaggedStruct("Turn", {
  /** Place of the conversation in the file, from 1. */
  conversation: Schema.Number,
  ...variant,
  /** Place of the context in the conversation, from 1. */
  turn: Schema.Number,
  /** Role of the message that the model answers; `end` for the context after the last message, `none` before the first. */
  role: Schema.Literal("system", "user", "assistant", "tool", "end", "none"),
  /** Everything recorded so far. */
  recorded: Size,
  /** What the context holds of it. */
  context: Size,
  /** What it neither holds nor summarizes. Of tokens, those that it is smaller by. */
  leftOut: Size,
  /** Tokens of the context as the service of the counter counts the whole of it. None where there is no answer. */
  exact: Schema.optional(Schema.Number),
  ...rewritten,
  /** Whether the context before is not the beginning of this one, so that a provider's prompt cache starts anew. */
  moved: Schema.Boolean
})

/**
 * @since 0.1.0
 * @category models
 */
export type Turn = typeof Turn.Type

const figures = {
  /** Messages recorded. */
  messages: Schema.Number,
  /** Rounds recorded. */
  rounds: Schema.Number,
  /** Tokens recorded. */
  tokens: Schema.Number,
  /** How often a context was asked for. */
  contexts: Schema.Number,
  /** Tokens of the largest context, as the service of the counter counts it where there is one. */
  largest: Schema.Number,
  /** Tokens of all contexts together: what was sent. */
  sent: Schema.Number,
  /** Tokens that were not sent because the contexts left them out. */
  saved: Schema.Number,
  /** How often the context before was not the beginning of the next one. */
  moved: Schema.Number,
  /** Rounds that the last context leaves out. */
  leftOut: Schema.Number,
  /** Of the last context. */
  ...rewritten,
  /** What is wrong with the recorded sequence, by kind of finding. */
  findings: Schema.Record({ key: Schema.String, value: Schema.Number })
}

const noFigures = {
  messages: 0,
  rounds: 0,
  tokens: 0,
  contexts: 0,
  largest: 0,
  sent: 0,
  saved: 0,
  moved: 0,
  leftOut: 0,
  summarized: 0,
  cleared: 0,
  shortened: 0
}

/**
 * One conversation, replayed.
 *
 * @since 0.1.0
 * @category models
 */
export const Summary = Schema.TaggedStruct("Summary", {
  /** Place of the conversation in the file, from 1. */
  conversation: Schema.Number,
  ...variant,
  ...figures
})

/**
 * @since 0.1.0
 * @category models
 */
export type Summary = typeof Summary.Type

/**
 * All conversations of a file, replayed.
 *
 * @since 0.1.0
 * @category models
 */
export const Totals = Schema.TaggedStruct("Totals", {
  /** Number of conversations. */
  conversations: Schema.Number,
  ...variant,
  ...figures
})

/**
 * @since 0.1.0
 * @category models
 */
export type Totals = typeof Totals.Type

// =============================================================================
// Replaying
// =============================================================================

/** Record so far, then ask. */
interface Step {
  readonly from: number
  readonly to: number
  readonly role: Turn["role"]
}

/** A step for each assistant message, up to where it stands, and one for the end. */
const stepsOf = (messages: ReadonlyArray<Message.Message>): ReadonlyArray<Step> => {
  const steps: Array<Step> = []
  let from = 0
  messages.forEach((message, to) => {
    if (message.role !== "assistant") return
    steps.push({ from, to, role: messages[to - 1]?.role ?? "none" })
    from = to
  })
  steps.push({ from, to: messages.length, role: "end" })
  return steps
}

const sameMessage = Schema.equivalence(Schema.typeSchema(Message.Message))

/** Whether a provider that has cached the first context can go on from there. */
const isPrefix = (before: ReadonlyArray<Message.Message>, after: ReadonlyArray<Message.Message>): boolean =>
  before.length <= after.length &&
  before.every((message, i) => message === after[i] || sameMessage(message, after[i]))

/**
 * Records messages one after another; those that `Native.isProtected` as protected.
 *
 * @since 0.1.0
 * @category replaying
 */
export const record = (
  messages: ReadonlyArray<Message.Message>
): Effect.Effect<void, MemoryError.InvalidMessage | MemoryError.MemoryStoreError, Memory.Memory> =>
  Effect.flatMap(Memory.Memory, (memory) =>
    Effect.forEach(
      messages,
      (message) => Native.isProtected(message) ? memory.recordProtected(message) : memory.record(message),
      { discard: true }
    ))

interface State {
  readonly recorded: Size
  readonly turn: number
  readonly context: ReadonlyArray<Message.Message>
}

/**
 * @since 0.1.0
 * @category models
 */
export interface Options {
  /** Place of the conversation in the file, from 1. */
  readonly conversation: number
  /** Name of the memory's strategy. */
  readonly strategy: string
  /** The budget of the memory. */
  readonly maxTokens: number
}

/**
 * The contexts of one conversation: one before each assistant message, and one after the last message. A message that
 * `Native.isProtected` is recorded as protected.
 *
 * The memory must be empty, and nobody else may use it. Fails as the memory does.
 *
 * @since 0.1.0
 * @category replaying
 */
export const turns = (
  messages: ReadonlyArray<Message.Message>,
  options: Options
): Stream.Stream<
  Turn,
  Memory.ContextError | MemoryError.InvalidMessage,
  Memory.Memory | TokenCounter.TokenCounter
> =>
  Stream.unwrap(Effect.gen(function*() {
    const memory = yield* Memory.Memory
    const counter = remembering(yield* TokenCounter.TokenCounter)
    const known = contents.recorded(messages)

    const take = Effect.fnUntraced(function*(before: State, step: Step) {
      const added = messages.slice(step.from, step.to)
      yield* record(added)
      const context = yield* memory.context
      const recorded: Size = {
        messages: step.to,
        rounds: known.rounds(step.to),
        tokens: before.recorded.tokens + (yield* total(counter, added))
      }
      const held = known.contents(context)
      const size: Size = {
        messages: context.length,
        rounds: held.rounds,
        tokens: counter.overhead + (yield* total(counter, context))
      }
      const exact = yield* exactly(counter, context)
      const turn = Turn.make({
        ...options,
        turn: before.turn + 1,
        role: step.role,
        recorded,
        context: size,
        leftOut: contents.leftOut(recorded, size, held),
        summarized: held.summarized.messages,
        cleared: held.cleared,
        shortened: held.shortened,
        ...exact,
        moved: !isPrefix(before.context, context)
      })
      return [{ recorded, turn: turn.turn, context } satisfies State, turn] as const
    })

    const start: State = { recorded: { messages: 0, rounds: 0, tokens: counter.overhead }, turn: 0, context: [] }
    // One by one, so that a turn can be shown before the next one is asked for.
    return Stream.mapAccumEffect(Stream.rechunk(Stream.fromIterable(stepsOf(messages)), 1), start, take)
  }))

// =============================================================================
// Summaries
// =============================================================================

type Findings = Summary["findings"]

const addFindings = (left: Findings, right: Findings): Findings =>
  Object.entries(right).reduce((sum, [kind, n]) => ({ ...sum, [kind]: (sum[kind] ?? 0) + n }), left)

/** A call that is still open at the end may get its result yet. */
const findingsOf = (messages: ReadonlyArray<Message.Message>, rules: Transcript.Rules): Findings =>
  Transcript.diagnose(messages, rules)
    .filter(({ _tag }) => _tag !== "OpenCall")
    .reduce<Findings>((findings, { _tag }) => addFindings(findings, { [_tag]: 1 }), {})

/**
 * The summary of a conversation before its first turn. What is wrong with it is asked of the rules; default `pairing`.
 *
 * @since 0.1.0
 * @category summaries
 */
export const begin = (
  messages: ReadonlyArray<Message.Message>,
  options: Options,
  rules: Transcript.Rules = "pairing"
): Summary => Summary.make({ ...noFigures, ...options, findings: findingsOf(messages, rules) })

/**
 * Takes up the next turn.
 *
 * @since 0.1.0
 * @category summaries
 */
export const addTurn = (summary: Summary, turn: Turn): Summary =>
  Summary.make({
    ...summary,
    ...turn.recorded,
    contexts: summary.contexts + 1,
    largest: Math.max(summary.largest, turn.exact ?? turn.context.tokens),
    sent: summary.sent + turn.context.tokens,
    saved: summary.saved + turn.leftOut.tokens,
    moved: summary.moved + (turn.moved ? 1 : 0),
    leftOut: turn.leftOut.rounds,
    summarized: turn.summarized,
    cleared: turn.cleared,
    shortened: turn.shortened
  })

/**
 * The totals before the first conversation.
 *
 * @since 0.1.0
 * @category summaries
 */
export const nothing = (options: Omit<Options, "conversation">): Totals =>
  Totals.make({ ...noFigures, ...options, conversations: 0, findings: {} })

/**
 * Takes up the next conversation.
 *
 * @since 0.1.0
 * @category summaries
 */
export const addSummary = (totals: Totals, summary: Summary): Totals =>
  Totals.make({
    strategy: totals.strategy,
    maxTokens: totals.maxTokens,
    conversations: totals.conversations + 1,
    messages: totals.messages + summary.messages,
    rounds: totals.rounds + summary.rounds,
    tokens: totals.tokens + summary.tokens,
    contexts: totals.contexts + summary.contexts,
    largest: Math.max(totals.largest, summary.largest),
    sent: totals.sent + summary.sent,
    saved: totals.saved + summary.saved,
    moved: totals.moved + summary.moved,
    leftOut: totals.leftOut + summary.leftOut,
    summarized: totals.summarized + summary.summarized,
    cleared: totals.cleared + summary.cleared,
    shortened: totals.shortened + summary.shortened,
    findings: addFindings(totals.findings, summary.findings)
  })
