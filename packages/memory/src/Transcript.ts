/**
 * Sequences of messages: their rounds and groups.
 *
 * @since 0.1.0
 */
import { pair, type Pairing, type Span } from "./internal/pairing.js"
import type * as Message from "./Message.js"

/**
 * An assistant message with its calls and all their results, matched by id.
 *
 * @since 0.1.0
 * @category models
 */
export interface Group {
  /** Index of the assistant message. */
  readonly assistant: number
  /** Indices of the messages that hold results of its calls, ascending. */
  readonly results: ReadonlyArray<number>
  /** Calls that nobody has answered. */
  readonly unanswered: ReadonlyArray<Message.ToolCallPart>
}

/**
 * A user message and all that answers it, up to the next round. The messages before the first user message (the
 * preamble) are a round of their own.
 *
 * @since 0.1.0
 * @category models
 */
export interface Round {
  /** Index of its first message. */
  readonly start: number
  /** Index behind its last message. */
  readonly end: number
  /** Whether it is the preamble, which round limits do not count. */
  readonly preamble: boolean
  /** Its groups, in the order of their assistant messages. */
  readonly groups: ReadonlyArray<Group>
}

/**
 * The rounds of a sequence. A user message that comes while calls are open does not open a round if one of them is
 * answered later.
 *
 * @example
 * ```ts
 * import * as assert from "node:assert"
 * import { Message, Transcript } from "effect-memory"
 *
 * const call = Message.toolCall({ id: "c1", name: "add", params: { a: 1, b: 2 } })
 * const rounds = Transcript.rounds([
 *   Message.system("You add numbers."),
 *   Message.user("1 + 2?"),
 *   Message.assistant([call]),
 *   Message.user("Quick, please."),
 *   Message.tool([Message.toolResult({ id: "c1", name: "add", result: 3 })]),
 *   Message.assistant("3")
 * ])
 *
 * assert.deepStrictEqual(rounds.map(({ end, start }) => [start, end]), [[0, 1], [1, 6]])
 * assert.deepStrictEqual(rounds[1].groups[0], { assistant: 2, results: [4], unanswered: [] })
 * ```
 *
 * @since 0.1.0
 * @category rounds
 */
export const rounds = (messages: ReadonlyArray<Message.Message>): ReadonlyArray<Round> => {
  const { pairing, rounds } = pair(messages)
  return rounds.map((round) => ({ ...round, groups: groupsIn(messages, round, pairing) }))
}

const groupsIn = (messages: ReadonlyArray<Message.Message>, round: Span, pairing: Pairing): ReadonlyArray<Group> => {
  const groups: Array<Group> = []
  for (let i = round.start; i < round.end; i++) {
    if (messages[i].role !== "assistant") continue
    const calls = pairing.calls[i]
    const results = new Set(
      calls.flatMap((call) => call.answeredAt === undefined || call.answeredAt === i ? [] : [call.answeredAt])
    )
    groups.push({
      assistant: i,
      results: Array.from(results).sort((a, b) => a - b),
      unanswered: calls.filter((call) => call.answeredAt === undefined).map((call) => call.part)
    })
  }
  return groups
}
