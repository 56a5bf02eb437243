/**
 * The repaired form of one round under the rules that every provider asks: calls and results together, nothing empty,
 * no id twice.
 */
import * as Message from "../Message.js"
import type { Call, Pairing, Result } from "./pairing.js"
import * as tag from "./tag.js"

/** A message of the repaired form and the index of the message it comes from. @internal */
export interface Repaired {
  readonly message: Message.Message
  readonly source: number
}

const isEmptyPart = (part: Message.Part): boolean => {
  switch (part.type) {
    case "text":
      return part.text.trim() === ""
    case "reasoning":
      // Signatures and encrypted reasoning stand in the options.
      return part.text.trim() === "" && Object.keys(part.options).length === 0
    default:
      return false
  }
}

/** A message without its empty parts; the same reference where there are none, `undefined` where nothing is left. @internal */
export const withoutEmpty = (message: Message.Message): Message.Message | undefined => {
  if (message.role === "system") return message.content.trim() === "" ? undefined : message
  const parts = message.content as ReadonlyArray<Message.Part>
  if (parts.length === 0) return undefined
  return parts.some(isEmptyPart) ? withParts(message, parts.filter((part) => !isEmptyPart(part))) : message
}

/** @internal */
export const withParts = <M extends Exclude<Message.Message, Message.SystemMessage>>(
  message: M,
  content: ReadonlyArray<Message.Part>
): M | undefined => content.length === 0 ? undefined : { ...message, content }

/** What stands for the result that never came. @internal */
export const closingResult = (call: Message.ToolCallPart): Message.ToolResultPart =>
  Message.toolResult({
    id: call.id,
    name: call.name,
    isFailure: true,
    result: "No result: the call was interrupted.",
    options: tag.make("closes", "unanswered")
  })

/**
 * Repairs the messages `start` to `end`.
 *
 * `settled` tells whether later messages can still answer its calls. `used` holds the call ids of earlier rounds and
 * takes up those of this one.
 *
 * @internal
 */
export const repairRound = (
  messages: ReadonlyArray<Message.Message>,
  pairing: Pairing,
  round: { readonly start: number; readonly end: number },
  settled: boolean,
  used: Set<string>
): ReadonlyArray<Repaired> => {
  const lastUser = lastUserIndex(messages, round)
  const out: Array<Repaired> = []
  for (let i = round.start; i < round.end; i++) {
    const message = messages[i]
    if (message.role === "tool") continue // stands behind its call
    const calls = pairing.calls[i]
    const rest = withoutAnswers(message, pairing, i)
    const kept = rest === undefined ? undefined : withoutEmpty(rest)
    if (kept === undefined) continue
    if (calls.length === 0) {
      out.push({ message: kept, source: i })
      continue
    }
    const names = uniqueIds(calls, used)
    out.push({ message: rename(kept, calls, pairing.results[i], names), source: i })
    pushResults(out, messages, pairing, calls, names)
    const closed = calls.filter((call) =>
      call.answeredAt === undefined && (settled || call.givenUp || lastUser > call.message)
    )
    if (closed.length > 0) {
      out.push({
        message: Message.tool(
          closed.map((call) => closingResult({ ...call.part, id: names.get(call) ?? call.part.id }))
        ),
        source: i
      })
    }
  }
  return out
}

const lastUserIndex = (
  messages: ReadonlyArray<Message.Message>,
  round: { readonly start: number; readonly end: number }
): number => {
  for (let i = round.end - 1; i >= round.start; i--) {
    if (messages[i].role === "user" && !tag.isSummary(messages[i])) return i
  }
  return -1
}

/** An assistant message without results of calls that other messages made: those move to their calls. */
const withoutAnswers = (
  message: Message.Message,
  pairing: Pairing,
  index: number
): Message.Message | undefined => {
  const moved = new Set<Message.Part>(
    pairing.results[index].filter((result) => result.call?.message !== index).map((result) => result.part)
  )
  return moved.size === 0 || message.role === "system"
    ? message
    : withParts(message, (message.content as ReadonlyArray<Message.Part>).filter((part) => !moved.has(part)))
}

/** New ids for calls whose id an earlier call has. */
const uniqueIds = (calls: ReadonlyArray<Call>, used: Set<string>): ReadonlyMap<Call, string> => {
  const names = new Map<Call, string>()
  for (const call of calls) {
    let id = call.part.id
    for (let n = 2; used.has(id); n++) id = `${call.part.id}~${n}`
    used.add(id)
    if (id !== call.part.id) names.set(call, id)
  }
  return names
}

const rename = (
  message: Message.Message,
  calls: ReadonlyArray<Call>,
  results: ReadonlyArray<Result>,
  names: ReadonlyMap<Call, string>
): Message.Message => {
  if (names.size === 0 || message.role !== "assistant") return message
  // One reference may stand for two parts: each is taken once, in order.
  const renamed = new Map<Message.Part, Array<string>>()
  const queue = (part: Message.Part, call: Call) =>
    renamed.set(part, [...(renamed.get(part) ?? []), names.get(call) ?? call.part.id])
  for (const call of calls) queue(call.part, call)
  for (const { call, part } of results) if (call !== undefined) queue(part, call)
  return {
    ...message,
    content: message.content.map((part) => {
      const id = renamed.get(part)?.shift()
      return id === undefined || (part.type !== "tool-call" && part.type !== "tool-result") ? part : { ...part, id }
    })
  }
}

/** The results of these calls, message by message as they were recorded. */
const pushResults = (
  out: Array<Repaired>,
  messages: ReadonlyArray<Message.Message>,
  pairing: Pairing,
  calls: ReadonlyArray<Call>,
  names: ReadonlyMap<Call, string>
): void => {
  const wanted = new Set(calls)
  const sources = new Set<number>()
  for (const call of calls) {
    if (call.answeredAt !== undefined && call.answeredAt !== call.message) sources.add(call.answeredAt)
  }
  for (const source of Array.from(sources).sort((a, b) => a - b)) {
    const message = messages[source]
    const answers = pairing.results[source].filter((result) => result.call !== undefined && wanted.has(result.call))
    const parts = answers.map((result) => {
      const name = names.get(result.call!)
      return name === undefined ? result.part : { ...result.part, id: name }
    })
    const untouched = message.role === "tool" && parts.length === message.content.length &&
      parts.every((part, i) => part === message.content[i])
    out.push({ message: untouched ? message : Message.tool(parts, optionsOf(message)), source })
  }
}

const optionsOf = (message: Message.Message): Message.ProviderOptions => message.role === "tool" ? message.options : {}
