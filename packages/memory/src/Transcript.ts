/**
 * Sequences of messages: their rounds and groups, what a provider would refuse in them, and the form that it takes.
 *
 * @since 0.1.0
 */
import { dual } from "effect/Function"
import * as internalDiagnose from "./internal/diagnose.js"
import { pair, type Pairing, type Span } from "./internal/pairing.js"
import * as internalRepair from "./internal/repair.js"
import type * as internalRules from "./internal/rules.js"
import type * as Message from "./Message.js"

// =============================================================================
// Models
// =============================================================================

/**
 * What must hold before a sequence can be sent.
 *
 * - `pairing`: what all providers ask. Every call with its result right behind it, nothing empty, no id twice.
 * - `anthropic`: also roles that alternate from a first user message on, the system prompt at the front, text before
 *   calls, reasoning only with what it led to, and no white space at the end of a final assistant message.
 * - `openai`: also files in user messages only and reasoning only with what it led to.
 * - `gemini`: also roles that alternate, the system prompt at the front, and calls right behind a user message or
 *   results.
 * - `strict`: all of them, so that the sequence can go to any provider.
 *
 * @since 0.1.0
 * @category models
 */
export type Rules = internalRules.Rules

/**
 * Something that cannot be sent: `_tag` says what, `rule` which of the {@link Rules} it breaks, `message` and, where
 * there is one, `part` where it stands (indices), `callId` which call it is about, and `remedy` what to do. It never
 * quotes the conversation.
 *
 * About a call or result: `OrphanResult`, `RepeatedResult`, `UnansweredCall`, `OpenCall`, `DuplicateId`,
 * `ResultOutOfPlace`, `ResultInAssistant`, `PartialArguments`. About a part: `EmptyPart`, `IllFormed`, `TextAfterCall`,
 * `LooseReasoning`, `TrailingWhiteSpace`, `FileInAssistant`. About a message: `EmptyMessage`, `SystemNotFirst`,
 * `FirstNotUser`, `NoUser`, `RolesNotAlternating`, `CallNotAfterUser`.
 *
 * @since 0.1.0
 * @category models
 */
export type Finding = internalRules.Finding

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

// =============================================================================
// Rounds
// =============================================================================

/**
 * The rounds of a sequence. A user message that comes while calls are open does not open a round if one of them is
 * answered later.
 *
 * @example
 * ```ts
 * import { deepStrictEqual } from "node:assert"
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
 * deepStrictEqual(rounds.map(({ end, start }) => [start, end]), [[0, 1], [1, 6]])
 * deepStrictEqual(rounds[1].groups[0], { assistant: 2, results: [4], unanswered: [] })
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

// =============================================================================
// Rules
// =============================================================================

/**
 * What a provider would refuse in a sequence: empty when it can be sent. A call whose result may still come, since no
 * user message follows it, is an `OpenCall`, which a caller may tolerate while tools run.
 *
 * @example
 * ```ts
 * import { deepStrictEqual } from "node:assert"
 * import { Message, Transcript } from "effect-memory"
 *
 * const findings = Transcript.diagnose([
 *   Message.user("1 + 2?"),
 *   Message.tool([Message.toolResult({ id: "c1", name: "add", result: 3 })])
 * ], "pairing")
 *
 * deepStrictEqual(findings.map(({ _tag, message }) => [_tag, message]), [["OrphanResult", 1]])
 * ```
 *
 * @since 0.1.0
 * @category rules
 */
export const diagnose = (messages: ReadonlyArray<Message.Message>, rules: Rules): ReadonlyArray<Finding> =>
  internalDiagnose.diagnose(messages, rules)

/**
 * The sequence as it can be sent. Only what cannot be sent is changed: all other messages come back as the same
 * references, and repairing again changes nothing.
 *
 * Results move to their calls, calls that nobody answered are closed with a result that says so, orphans and what is
 * empty are left out, ids are made unique. Where the rules ask for it, neighbours of one role are merged, system
 * messages in the middle become user messages, and a user message is put first. Reasoning is kept as it is or left out,
 * never edited. Calls at the end of the newest round stay open.
 *
 * @example
 * ```ts
 * import { deepStrictEqual } from "node:assert"
 * import { Message, Transcript } from "effect-memory"
 *
 * const interrupted = [
 *   Message.user("1 + 2?"),
 *   Message.assistant([Message.toolCall({ id: "c1", name: "add", params: { a: 1, b: 2 } })]),
 *   Message.user("Never mind.")
 * ]
 * const repaired = Transcript.repair(interrupted, "pairing")
 *
 * deepStrictEqual(repaired.map((message) => message.role), ["user", "assistant", "tool", "user"])
 * deepStrictEqual(Transcript.diagnose(repaired, "pairing"), [])
 * ```
 *
 * @since 0.1.0
 * @category rules
 */
export const repair: {
  (rules: Rules): (messages: ReadonlyArray<Message.Message>) => ReadonlyArray<Message.Message>
  (messages: ReadonlyArray<Message.Message>, rules: Rules): ReadonlyArray<Message.Message>
} = dual(2, internalRepair.repair)
