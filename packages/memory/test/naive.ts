/**
 * The words of the design once more, as plainly as possible and without the library's functions: rounds, repaired form,
 * window. Slow, and meant to be.
 */
import type { Message } from "effect-memory"

/** A message as recorded. */
export interface Recorded {
  readonly message: Message.Message
  readonly protected: boolean
  /** Stands for others: it opens no round, whatever its role. */
  readonly standIn?: boolean
}

/** A message of the repaired form. */
export interface Placed {
  readonly message: Message.Message
  /** Index of the message it comes from. */
  readonly source: number
  readonly standIn: boolean
}

export interface Round {
  readonly start: number
  readonly end: number
  readonly preamble: boolean
  readonly protected: boolean
  readonly placed: ReadonlyArray<Placed>
}

interface Call {
  readonly id: string
  readonly name: string
  readonly at: number
  readonly index: number
  answer: { readonly at: number; readonly index: number } | undefined
  /** Index of the assistant message that gave it up. */
  givenUpAt: number | undefined
}

const isCall = (part: Message.Part): part is Message.ToolCallPart => part.type === "tool-call" && !part.providerExecuted

const isResult = (part: Message.Part): part is Message.ToolResultPart =>
  part.type === "tool-result" && !part.providerExecuted

const partsOf = (message: Message.Message): ReadonlyArray<Message.Part> =>
  message.role === "system" ? [] : message.content

/** All calls that are owed a result, with what became of them. */
const callsOf = (messages: ReadonlyArray<Message.Message>): ReadonlyArray<Call> => {
  const calls: Array<Call> = []
  const isOpen = (call: Call) => call.answer === undefined && call.givenUpAt === undefined
  messages.forEach((message, at) => {
    if (message.role === "assistant") {
      const open = calls.filter(isOpen)
      const interjected = open.some((call) => messages.slice(call.at, at).some(({ role }) => role === "user"))
      if (interjected) { for (const call of open) call.givenUpAt = at }
      partsOf(message).forEach((part, index) => {
        if (isCall(part)) {
          calls.push({ id: part.id, name: part.name, at, index, answer: undefined, givenUpAt: undefined })
        }
      })
    }
    if (message.role === "user" || message.role === "system") return
    partsOf(message).forEach((part, index) => {
      if (!isResult(part)) return
      const asked = calls.filter((call) => call.id === part.id && isOpen(call))
      const nearest = asked.filter((call) => call.at === asked[asked.length - 1].at)[0]
      if (nearest !== undefined) nearest.answer = { at, index }
    })
  })
  return calls
}

const opensRound = (messages: ReadonlyArray<Message.Message>, calls: ReadonlyArray<Call>, at: number): boolean =>
  messages[at].role === "user" && calls.every((call) => {
    const isSettledBefore = call.at > at || (call.answer !== undefined && call.answer.at < at) ||
      (call.givenUpAt !== undefined && call.givenUpAt < at)
    return isSettledBefore || call.givenUpAt !== undefined
  })

const isBlank = (part: Message.Part): boolean =>
  (part.type === "text" && part.text.trim() === "") ||
  (part.type === "reasoning" && part.text.trim() === "" && Object.keys(part.options).length === 0)

/** The same reference where nothing changes. */
const withParts = (
  message: Message.Message,
  change: (part: Message.Part, index: number) => Message.Part | undefined
): ReadonlyArray<Message.Message> => {
  if (message.role === "system") return message.content.trim() === "" ? [] : [message]
  const parts = message.content.map(change)
  if (parts.every((part) => part === undefined)) return []
  return parts.every((part, i) => part === partsOf(message)[i])
    ? [message]
    : [{ ...message, content: parts.filter((part) => part !== undefined) } as Message.Message]
}

const closing = (call: Call, id: string): Message.ToolResultPart => ({
  type: "tool-result",
  id,
  name: call.name,
  result: "No result: the call was interrupted.",
  isFailure: true,
  providerExecuted: false,
  options: { "effect-memory": { closes: "unanswered" } }
})

const nextId = (id: string, used: ReadonlySet<string>): string => {
  let n = 2
  while (used.has(`${id}-${n}`)) n++
  return `${id}-${n}`
}

const inert: Message.Message = { role: "system", content: "stands for others", options: {} }

/** The rounds of a log with their repaired form, those included of which nothing is left. */
export const allRounds = (log: ReadonlyArray<Recorded>, repair = true): ReadonlyArray<Round> => {
  const messages = log.map(({ message, standIn }) => standIn === true && message.role === "user" ? inert : message)
  const calls = callsOf(messages)
  const starts = messages.flatMap((_, i) => i === 0 || opensRound(messages, calls, i) ? [i] : [])
  const used = new Set<string>()
  return starts.map((start, n): Round => {
    const end = starts[n + 1] ?? messages.length
    const settled = n < starts.length - 1
    const placed = repair
      ? repairedRound(messages, calls, start, end, settled, used)
      : messages.slice(start, end).map((message, i) => ({ message, source: start + i }))
    return {
      start,
      end,
      preamble: messages[start].role !== "user",
      protected: log.slice(start, end).some((entry) => entry.protected),
      placed: placed.map(({ message, source }) => {
        const standIn = log[source].standIn === true
        return { message: message === inert ? log[source].message : message, source, standIn }
      })
    }
  })
}

const repairedRound = (
  messages: ReadonlyArray<Message.Message>,
  all: ReadonlyArray<Call>,
  start: number,
  end: number,
  settled: boolean,
  used: Set<string>
): ReadonlyArray<Omit<Placed, "standIn">> => {
  const out: Array<Omit<Placed, "standIn">> = []
  for (let at = start; at < end; at++) {
    const message = messages[at]
    if (message.role === "tool") continue
    const calls = all.filter((call) => call.at === at)
    const ids = new Map(calls.map((call): readonly [Call, string] => {
      const id = used.has(call.id) ? nextId(call.id, used) : call.id
      used.add(id)
      return [call, id]
    }))
    const rename = <P extends Message.ToolCallPart | Message.ToolResultPart>(part: P, call: Call): P =>
      part.id === ids.get(call) ? part : { ...part, id: ids.get(call)! }
    const own = withParts(message, (part, index) => {
      if (isBlank(part)) return undefined
      if (isCall(part)) return rename(part, calls.find((call) => call.index === index)!)
      if (!isResult(part)) return part
      const call = calls.find(({ answer }) => answer?.at === at && answer.index === index)
      return call === undefined ? undefined : rename(part, call)
    })
    out.push(...own.map((message) => ({ message, source: at })))
    for (let later = at + 1; later < messages.length; later++) {
      const answered = messages[later]
      const parts = partsOf(answered).flatMap((part, index) => {
        const call = calls.find(({ answer }) => answer?.at === later && answer.index === index)
        return call === undefined ? [] : [rename(part as Message.ToolResultPart, call)]
      })
      if (parts.length === 0) continue
      const isWhole = answered.role === "tool" && parts.length === answered.content.length &&
        parts.every((part, i) => part === answered.content[i])
      out.push({
        message: isWhole ? answered : {
          role: "tool",
          content: parts,
          options: answered.role === "tool" ? answered.options : {}
        },
        source: later
      })
    }
    const interjected = messages.slice(at, end).some(({ role }) => role === "user")
    const closed = calls.filter((call) =>
      call.answer === undefined && (settled || call.givenUpAt !== undefined || interjected)
    )
    if (closed.length > 0) {
      const content = closed.map((call) => closing(call, ids.get(call)!))
      out.push({ message: { role: "tool", content, options: {} }, source: at })
    }
  }
  return out
}

/** The rounds of which something is left; the last one is the newest. */
export const roundsOf = (log: ReadonlyArray<Recorded>, repair = true): ReadonlyArray<Round> =>
  allRounds(log, repair).filter(({ placed }) => placed.length > 0)

export const viewOf = (log: ReadonlyArray<Recorded>, repair = true): ReadonlyArray<Placed> =>
  roundsOf(log, repair).flatMap(({ placed }) => placed)

export interface Limits {
  readonly tokens: number
  readonly rounds: number
}

export type Count = (message: Message.Message) => number

const sum = (placed: ReadonlyArray<Placed>, count: Count): number =>
  placed.reduce((total, { message }) => total + count(message), 0)

const tokensOf = (rounds: ReadonlyArray<Round>, count: Count, overhead: number): number =>
  overhead + sum(rounds.flatMap(({ placed }) => placed), count)

export const countedRounds = (rounds: ReadonlyArray<Round>): number => rounds.filter(({ preamble }) => !preamble).length

export const isWithin = (rounds: ReadonlyArray<Round>, limits: Limits, count: Count, overhead: number): boolean =>
  tokensOf(rounds, count, overhead) <= limits.tokens && countedRounds(rounds) <= Math.max(1, limits.rounds)

/** Protected rounds, what stands for others, and the system messages of the preamble where the rule is to keep them. */
export const isPinned = (round: Round, { message, standIn }: Placed, system: "keep" | "trim"): boolean =>
  round.protected || standIn || (system === "keep" && round.preamble && message.role === "system")

/**
 * What the plain window keeps: leave out one round after the other, oldest first, until the rest fits or only the
 * newest round is left.
 */
export const windowOf = (
  rounds: ReadonlyArray<Round>,
  limits: Limits,
  count: Count,
  overhead: number,
  system: "keep" | "trim" = "keep"
): ReadonlyArray<Placed> => {
  for (let dropped = 0;; dropped++) {
    const left = rounds.map((round, i): Round =>
      i >= dropped ? round : { ...round, placed: round.placed.filter((place) => isPinned(round, place, system)) }
    )
    const remaining = left.filter((round, i) => i >= dropped || round.protected)
    const kept = left.flatMap(({ placed }) => placed)
    const fits = overhead + sum(kept, count) <= limits.tokens &&
      countedRounds(remaining) <= Math.max(1, limits.rounds)
    if (fits || dropped >= rounds.length - 1) return kept
  }
}

/**
 * What providers refuse in a sequence, in words; nothing if it can be sent. Calls may be open behind the last user
 * message only.
 */
export const unsendable = (messages: ReadonlyArray<Message.Message>): string | undefined => {
  const used = new Set<string>()
  /** Calls of the last assistant message that wait for a result, and those of earlier ones. */
  let open = new Set<string>()
  let left = false
  for (const [at, message] of messages.entries()) {
    if (message.role === "system" ? message.content.trim() === "" : message.content.length === 0) {
      return `message ${at} is empty`
    }
    if (partsOf(message).some(isBlank)) return `message ${at} has an empty part`
    if (message.role !== "tool") {
      left = left || open.size > 0
      open = new Set()
      if (message.role === "user" && left) return `calls before message ${at} are unanswered`
    }
    for (const { id } of partsOf(message).filter(isCall)) {
      if (used.has(id)) return `message ${at} uses an id again`
      used.add(id)
      open.add(id)
    }
    for (const { id } of partsOf(message).filter(isResult)) {
      if (!open.delete(id)) return `message ${at} holds a result without its call`
    }
  }
  return undefined
}
