/**
 * Which result answers which call, and which user messages open a round. One pass, message by message.
 */
import * as Message from "../Message.js"
import * as tag from "./tag.js"

/** A call that is owed a result. @internal */
export interface Call {
  readonly part: Message.ToolCallPart
  /** Index of the message that makes the call. */
  readonly message: number
  /** Index of the message that answers it. */
  answeredAt: number | undefined
  /** Given up: an assistant message followed an interjection while the call was open. */
  givenUp: boolean
}

/** A result and the call it answers; none for an orphan. @internal */
export interface Result {
  readonly part: Message.ToolResultPart
  readonly message: number
  readonly call: Call | undefined
  /** Whether the call had been answered already. */
  readonly repeated: boolean
}

/**
 * A user message opens a round unless a call before it is answered after it, or is still open with no assistant message
 * since; an assistant message after such an interjection gives up the calls still open.
 *
 * @internal
 */
export class Pairing {
  /** Calls of each message. */
  readonly calls: Array<ReadonlyArray<Call>> = []
  /** Results in each message. */
  readonly results: Array<ReadonlyArray<Result>> = []
  private readonly open = new Map<string, Array<Call>>()
  private readonly answered = new Set<string>()
  /** User messages that open a round if the calls before them are given up. */
  private undecided: Array<number> = []
  private interjected = false

  /**
   * Takes the next message and returns the indices of the user messages that are now known to open a round.
   */
  push(message: Message.Message): ReadonlyArray<number> {
    const index = this.calls.length
    if (message.role === "user" && !tag.isSummary(message)) return this.pushUser(index)
    const opened = message.role === "assistant" ? this.giveUp() : []
    const calls = Message.toolCalls(message).map((part): Call => ({
      part,
      message: index,
      answeredAt: undefined,
      givenUp: false
    }))
    this.calls.push(calls)
    for (const call of calls) {
      const same = this.open.get(call.part.id)
      if (same === undefined) this.open.set(call.part.id, [call])
      else same.push(call)
    }
    this.results.push(Message.toolResults(message).map((part) => this.answer(part, index)))
    return opened
  }

  /** Whether some call still waits for its result. */
  get hasOpenCalls(): boolean {
    return this.open.size > 0
  }

  private pushUser(index: number): ReadonlyArray<number> {
    this.calls.push([])
    this.results.push([])
    if (!this.hasOpenCalls) return [index]
    this.undecided.push(index)
    this.interjected = true
    return []
  }

  private giveUp(): ReadonlyArray<number> {
    if (!this.interjected) return []
    for (const calls of this.open.values()) {
      for (const call of calls) call.givenUp = true
    }
    const opened = this.undecided
    this.open.clear()
    this.undecided = []
    this.interjected = false
    return opened
  }

  private answer(part: Message.ToolResultPart, index: number): Result {
    const same = this.open.get(part.id)
    if (same === undefined) {
      return { part, message: index, call: undefined, repeated: this.answered.has(part.id) }
    }
    // An id used twice: the nearest message that makes the call is meant, its calls in order.
    const nearest = same[same.length - 1].message
    const [call] = same.splice(same.findIndex((candidate) => candidate.message === nearest), 1)
    if (same.length === 0) this.open.delete(part.id)
    call.answeredAt = index
    this.answered.add(part.id)
    this.undecided = []
    if (!this.hasOpenCalls) this.interjected = false
    return { part, message: index, call, repeated: false }
  }
}

/** @internal */
export interface Span {
  readonly start: number
  readonly end: number
  readonly preamble: boolean
}

/**
 * The rounds of a list, in order, and who answers whom in it.
 *
 * @internal
 */
export const pair = (
  messages: ReadonlyArray<Message.Message>
): { readonly pairing: Pairing; readonly rounds: ReadonlyArray<Span> } => {
  const pairing = new Pairing()
  const starts: Array<number> = []
  for (const message of messages) starts.push(...pairing.push(message))
  const rounds: Array<Span> = []
  if (messages.length > 0 && starts[0] !== 0) {
    rounds.push({ start: 0, end: starts[0] ?? messages.length, preamble: true })
  }
  starts.forEach((start, i) => rounds.push({ start, end: starts[i + 1] ?? messages.length, preamble: false }))
  return { pairing, rounds }
}
