/**
 * What a context holds of what was recorded, and in which form.
 */
import * as Message from "effect-memory/Message"
import * as Transcript from "effect-memory/Transcript"

type Messages = ReadonlyArray<Message.Message>

/** @internal */
export interface Contents {
  /** Rounds that it holds. */
  readonly rounds: number
  /** What its summaries stand for. */
  readonly summarized: { readonly messages: number; readonly rounds: number }
  /** Messages that are such summaries. */
  readonly summaries: number
  /** Results in whose place stands a placeholder. */
  readonly cleared: number
  /** Parts of which only head and tail are left. */
  readonly shortened: number
}

/** @internal */
export interface Size {
  readonly messages: number
  readonly rounds: number
  readonly tokens: number
}

/** What is left of everything without a context and without what its summaries stand for. @internal */
export const leftOut = (all: Size, context: Size, { summaries, summarized }: Contents): Size => ({
  messages: Math.max(0, all.messages - (context.messages - summaries) - summarized.messages),
  rounds: Math.max(0, all.rounds - context.rounds - summarized.rounds),
  tokens: Math.max(0, all.tokens - context.tokens)
})

/** @internal */
export interface Recorded {
  /** Rounds in the first so many messages. */
  readonly rounds: (messages: number) => number
  readonly contents: (context: Messages) => Contents
}

const marksOf = ({ options }: Message.Message | Message.Part): { readonly [key: string]: unknown } =>
  options["effect-memory"] ?? {}

/** The range that a summary stands for. */
const rangeOf = (message: Message.Message): readonly [from: number, upTo: number] | undefined => {
  const summary = marksOf(message)["summary"] as { readonly from?: number; readonly upTo?: number } | undefined
  return summary === undefined ? undefined : [summary.from ?? 0, summary.upTo ?? 0]
}

/** A message that nobody recorded. */
const isOwn = (message: Message.Message): boolean => {
  const marks = marksOf(message)
  return marks["summary"] !== undefined || marks["context"] !== undefined
}

/** What of a part can be shortened. */
const valueOf = (part: Message.Part): unknown => {
  switch (part.type) {
    case "text":
      return part.text
    case "tool-call":
      return part.params
    case "tool-result":
      return part.result
    default:
      return undefined
  }
}

/** The forms in which repair hands on what was recorded. */
const formsOf = (message: Message.Message): ReadonlyArray<unknown> =>
  message.role === "system"
    ? [message.content]
    : Message.parts(message).flatMap((part) =>
      part.type === "text" ? [part.text, part.text.trimEnd()] : [valueOf(part)]
    )

/**
 * Messages and parts are known by reference: a context hands them on as they were recorded, unless it rewrites them.
 *
 * @internal
 */
export const recorded = (messages: Messages): Recorded => {
  const roundOf: Array<number> = []
  const indexOf = new Map<Message.Message | Message.Part, number>()
  const known = new Set<unknown>()
  let rounds = 0
  for (const { end, preamble, start } of Transcript.rounds(messages)) {
    if (!preamble) rounds++
    for (let i = start; i < end; i++) {
      roundOf.push(rounds)
      indexOf.set(messages[i], i)
      for (const part of Message.parts(messages[i])) indexOf.set(part, i)
      for (const form of formsOf(messages[i])) if (form !== undefined) known.add(form)
    }
  }

  const isShortened = (part: Message.Part): boolean => {
    const value = valueOf(part)
    return value !== undefined && !known.has(value) && !indexOf.has(part) && !isRepaired(part)
  }

  /** A result that closes a call nobody answered, or arguments that were made an object. */
  const isRepaired = (part: Message.Part): boolean =>
    marksOf(part)["closes"] !== undefined ||
    (part.type === "tool-call" && known.has((part.params as { readonly input?: unknown } | null)?.input))

  /** The recorded messages that a message hands on; several where they were merged. */
  const sourcesOf = (message: Message.Message): ReadonlyArray<number> =>
    [message, ...Message.parts(message)].flatMap((one) => indexOf.get(one) ?? [])

  const contents = (context: Messages): Contents => {
    const held = new Set(context.flatMap(sourcesOf))
    const heldRounds = new Set(Array.from(held, (i) => roundOf[i]).filter((round) => round > 0))
    const rewritten = Transcript.rounds(context)
      .map(({ end, start }) => context.slice(start, end).filter((message) => !isOwn(message)))
      .filter((round) => round[0]?.role === "user" && round.every((message) => sourcesOf(message).length === 0))
    const ranges = context.flatMap((message) => {
      const range = rangeOf(message)
      return range === undefined || indexOf.has(message) ? [] : [range]
    })
    const summarized = ranges
      .flatMap(([from, upTo]) => Array.from({ length: upTo - from }, (_, i) => from + i))
      .filter((i) => !held.has(i))
    const parts = context.filter((message) => !indexOf.has(message) && !isOwn(message)).flatMap(Message.parts)
    const isCleared = (part: Message.Part) => marksOf(part)["cleared"] !== undefined && !indexOf.has(part)
    return {
      rounds: heldRounds.size + rewritten.length,
      summarized: {
        messages: summarized.length,
        rounds: new Set(summarized.map((i) => roundOf[i]).filter((round) => round > 0 && !heldRounds.has(round))).size
      },
      summaries: ranges.length,
      cleared: parts.filter(isCleared).length,
      shortened: parts.filter((part) => !isCleared(part) && isShortened(part)).length
    }
  }

  return { rounds: (messages) => messages === 0 ? 0 : roundOf[messages - 1], contents }
}
