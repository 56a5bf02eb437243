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
  /** Index among the parts of that message. */
  readonly index: number
  /** Index of the message that answers it. */
  answeredAt: number | undefined
  answer: Result | undefined
  /** Given up: an assistant message followed an interjection while the call was open. */
  givenUp: boolean
}

/** A result and the call it answers; none for an orphan. @internal */
export interface Result {
  readonly part: Message.ToolResultPart
  readonly message: number
  /** Index among the parts of that message. */
  readonly index: number
  readonly call: Call | undefined
  /** Whether the call had been answered already. */
  readonly repeated: boolean
}

/** Whether a message is the user's own, not one that stands for other messages. @internal */
export const isTurn = (message: Message.Message): boolean => message.role === "user" && !tag.isStandIn(message)

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
  /** Open calls by id, the one to be answered first at the end. */
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
    if (isTurn(message)) return this.pushUser(index)
    const opened = message.role === "assistant" ? this.giveUp() : []
    this.calls.push(message.role === "assistant" ? this.openCalls(message, index) : [])
    this.results.push(
      message.role === "assistant" || message.role === "tool" ? this.takeResults(message.content, index) : []
    )
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

  private openCalls(message: Message.AssistantMessage, at: number): ReadonlyArray<Call> {
    const calls: Array<Call> = []
    message.content.forEach((part, index) => {
      if (!Message.isToolCall(part) || part.providerExecuted) return
      calls.push({ part, message: at, index, answeredAt: undefined, answer: undefined, givenUp: false })
    })
    // An id used twice: the nearest message that makes the call is meant, its calls in order.
    for (let i = calls.length - 1; i >= 0; i--) {
      const same = this.open.get(calls[i].part.id)
      if (same === undefined) this.open.set(calls[i].part.id, [calls[i]])
      else same.push(calls[i])
    }
    return calls
  }

  private takeResults(parts: ReadonlyArray<Message.Part>, at: number): ReadonlyArray<Result> {
    const results: Array<Result> = []
    parts.forEach((part, index) => {
      if (Message.isToolResult(part) && !part.providerExecuted) results.push(this.answer(part, at, index))
    })
    return results
  }

  private answer(part: Message.ToolResultPart, message: number, index: number): Result {
    const same = this.open.get(part.id)
    const call = same?.pop()
    const result: Result = { part, message, index, call, repeated: call === undefined && this.answered.has(part.id) }
    if (same === undefined || call === undefined) return result
    if (same.length === 0) this.open.delete(part.id)
    call.answeredAt = message
    call.answer = result
    this.answered.add(part.id)
    this.undecided = []
    if (!this.hasOpenCalls) this.interjected = false
    return result
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
  for (const message of messages) {
    for (const start of pairing.push(message)) starts.push(start)
  }
  const rounds: Array<Span> = []
  if (messages.length > 0 && starts[0] !== 0) {
    rounds.push({ start: 0, end: starts[0] ?? messages.length, preamble: true })
  }
  starts.forEach((start, i) => rounds.push({ start, end: starts[i + 1] ?? messages.length, preamble: false }))
  return { pairing, rounds }
}
