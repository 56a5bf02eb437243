/**
 * What every context must be, told by what was recorded: plainly, and without the library's own functions.
 */
import { Message } from "effect-memory"
import { parts, sequenceIn } from "./conversations.js"

/** A message as recorded; its index is its sequence number. */
export interface Recorded {
  readonly message: Message.Message
  readonly protected: boolean
  /** Number of its round; 0 is the preamble. */
  readonly round: number
}

/** What a service was asked, and answered; nothing where it failed. */
export interface Counted {
  readonly messages: ReadonlySet<Message.Message>
  readonly tokens: number
  readonly exact: number | undefined
}

export interface Given {
  readonly context: ReadonlyArray<Message.Message>
  readonly log: ReadonlyArray<Recorded>
  /** How long the log was when the context was asked for, and when it came. */
  readonly between: readonly [number, number]
  readonly maxTokens: number
  readonly margin: number
  readonly overhead: number
  readonly count: (message: Message.Message) => number
  readonly counted: ReadonlyArray<Counted>
}

interface Summary {
  readonly from: number
  readonly upTo: number
  /** Index of its message. */
  readonly at: number
}

const summaryIn = (message: Message.Message, at: number): ReadonlyArray<Summary> => {
  const found: unknown = message.options["effect-memory"]?.["summary"]
  return typeof found === "object" && found !== null && "from" in found && "upTo" in found
    ? [{ from: Number(found.from), upTo: Number(found.upTo), at }]
    : []
}

const isSummaryText = (part: string): boolean => part.includes("Summary of prior context:")

/** A law that does not hold, in words; without what was recorded. */
class Broken {
  constructor(readonly law: string) {}
}

const must = (holds: boolean, law: string): ReadonlyArray<Broken> => holds ? [] : [new Broken(law)]

/** Calls with all their results right behind them; what is open stands at the end. */
const groupFaults = (context: ReadonlyArray<Message.Message>): ReadonlyArray<Broken> => {
  const owed = new Set<string>()
  const broken: Array<Broken> = []
  for (const message of context) {
    if (message.role !== "tool" && owed.size > 0) broken.push(new Broken("3: a call without its result"))
    if (message.role !== "tool") owed.clear()
    for (const { id } of Message.toolCalls(message)) owed.add(id)
    for (const { id } of Message.toolResults(message)) {
      if (!owed.delete(id)) broken.push(new Broken("3: a result without its call"))
    }
  }
  return broken
}

/** The largest sum that is expected to come to the limit, by what is known of another conversation. */
const allowed = (limit: number, tokens: number, exact: number): number =>
  Math.max(0, Math.min(limit * tokens / exact, limit - (exact - tokens)))

/** Whether the sum with its margin, or what a service has said, allows for a context. */
const isWithin = ({ context, count, counted, margin, maxTokens, overhead }: Given): boolean => {
  const tokens = context.reduce((sum, message) => sum + count(message), overhead)
  if (tokens * (1 + margin) <= maxTokens) return true
  const here = new Set(context)
  const most = (of: ReadonlySet<Message.Message>, sum: number, { exact = 0, ...known }: Counted): number => {
    let changed = 0
    for (const message of of) if (!known.messages.has(message)) changed += count(message)
    for (const message of known.messages) if (!of.has(message)) changed += count(message)
    return exact + sum - known.tokens + margin * changed
  }
  const answers = counted.filter(({ exact }) => exact !== undefined)
  return answers.some((known) =>
    most(here, tokens, known) <= maxTokens || tokens <= allowed(maxTokens, known.tokens, known.exact ?? Infinity)
  ) || counted.some((asked) =>
    asked.exact === undefined &&
    [asked.tokens * (1 + margin), ...answers.map((known) => most(asked.messages, asked.tokens, known))]
      .some((upper) => tokens <= allowed(maxTokens, asked.tokens, upper))
  )
}

/** Laws 1 to 7 that do not hold. */
export const faults = (given: Given): ReadonlyArray<string> => {
  const { between: [least, most], context, log } = given
  const summaries = context.flatMap(summaryIn)
  if (summaries.length > 1) return ["7: two summaries"]
  const [summary] = summaries
  const found = context.flatMap((message, at) =>
    parts(message).filter((part) => !isSummaryText(part)).map((part) => ({ part, at, sequence: sequenceIn(part) }))
  )
  const own = found.filter(({ sequence }) => sequence >= 0)
  const sequences = own.map(({ sequence }) => sequence)
  const there = new Set(sequences)
  const last = Math.max(-1, ...sequences)
  const prefix = log.slice(0, last + 1)
  const newest = prefix[prefix.length - 1]?.round ?? -1
  const isProtected = new Set(prefix.filter((entry) => entry.protected).map(({ round }) => round))
  // Behind the newest question, where roles must alternate, a summary is part of the message and does not tell its range.
  const isJoined = summary === undefined && context.flatMap(parts).some(isSummaryText)
  const isCovered = (sequence: number): boolean =>
    summary === undefined ? isJoined : sequence >= summary.from && sequence < summary.upTo
  const covered = (sequence: number): boolean => !there.has(sequence) && isCovered(sequence)
  const open = prefix.flatMap((entry, sequence) => covered(sequence) ? [] : [{ ...entry, sequence }])
  const staying = (round: number): boolean => round === 0 || round === newest || isProtected.has(round)
  const left = open.filter(({ round, sequence }) => !there.has(sequence) && !staying(round))
  const kept = new Set(open.filter(({ round, sequence }) => there.has(sequence) && !staying(round)).map((e) => e.round))
  const view = open.reduce((sum, { message }) => sum + given.count(message), given.overhead) +
    (summary === undefined ? 0 : given.count(context[summary.at]))
  const recorded = new Map(log.map(({ message }, sequence) => [sequence, parts(message)]))
  return [
    ...must(last + 1 >= least && last + 1 <= most, "9: what was recorded before is not there"),
    ...must(
      left.length === 0 || view * (1 + given.margin) > given.maxTokens,
      "1: the view is within budget, and something is left out"
    ),
    ...must(sequences.every((sequence, i) => i === 0 || sequence >= sequences[i - 1]), "2: out of order"),
    ...must(
      summary === undefined ||
        own.every(({ at, sequence }) => at < summary.at ? sequence < summary.from : sequence >= summary.from),
      "2: the summary is out of place"
    ),
    ...groupFaults(context),
    ...must(open.every(({ round, sequence }) => round !== newest || there.has(sequence)), "4: not the newest round"),
    ...must(
      isWithin(given) || own.every(({ sequence }) => staying(log[sequence].round)),
      "5: over the budget with what could have gone"
    ),
    ...must(
      prefix.every(({ round }, sequence) => !isProtected.has(round) && round !== 0 || there.has(sequence)),
      "6: something protected or of the preamble is missing"
    ),
    ...must(new Set(own.map(({ part }) => part)).size === own.length, "7: a part is there twice"),
    ...must(own.every(({ part, sequence }) => recorded.get(sequence)?.includes(part) === true), "7: not as recorded"),
    ...must(left.every(({ round }) => !kept.has(round)), "7: a round is there in part"),
    ...must(left.every(({ round }) => [...kept].every((other) => other > round)), "7: an older round was kept")
  ].map(({ law }) => law)
}
