/**
 * The repaired form of one round under the rules that every provider asks: calls and results together, nothing empty,
 * no id twice.
 */
import * as Message from "../Message.js"
import { type Call, isTurn, type Pairing, type Result } from "./pairing.js"
import * as tag from "./tag.js"

/** A message of the repaired form and the index of the message it comes from. @internal */
export interface Repaired {
  readonly message: Message.Message
  readonly source: number
}

/** @internal */
export const isEmptyPart = (part: Message.Part): boolean => {
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

/** A message without its empty parts; the same reference where there are none, `undefined` where nothing is left. */
const withoutEmpty = (message: Message.Message): Message.Message | undefined => {
  if (message.role === "system") return message.content.trim() === "" ? undefined : message
  const parts = message.content as ReadonlyArray<Message.Part>
  if (parts.length === 0) return undefined
  return parts.some(isEmptyPart) ? withParts(message, parts.filter((part) => !isEmptyPart(part))) : message
}

const withParts = <M extends Exclude<Message.Message, Message.SystemMessage>>(
  message: M,
  content: ReadonlyArray<Message.Part>
): M | undefined => content.length === 0 ? undefined : { ...message, content }

/** What stands for the result that never came. */
const closingResult = (call: Message.ToolCallPart): Message.ToolResultPart =>
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
  const lastTurn = lastTurnIndex(messages, round)
  const out: Array<Repaired> = []
  for (let i = round.start; i < round.end; i++) {
    if (messages[i].role === "tool") continue // stands behind its call
    const calls = pairing.calls[i]
    const ids = uniqueIds(calls, used)
    const kept = settle(messages[i], pairing.results[i], i, ids)
    if (kept !== undefined) out.push({ message: kept, source: i })
    if (calls.length === 0) continue
    pushResults(out, messages, calls, ids)
    const closed = calls.filter((call) =>
      call.answeredAt === undefined && (settled || call.givenUp || lastTurn > call.message)
    )
    if (closed.length > 0) {
      out.push({
        message: Message.tool(closed.map((call) => closingResult({ ...call.part, id: ids.get(call) ?? call.part.id }))),
        source: i
      })
    }
  }
  return out
}

const lastTurnIndex = (
  messages: ReadonlyArray<Message.Message>,
  round: { readonly start: number; readonly end: number }
): number => {
  for (let i = round.end - 1; i >= round.start; i--) {
    if (isTurn(messages[i])) return i
  }
  return -1
}

/** New ids for calls whose id an earlier call has. */
const uniqueIds = (calls: ReadonlyArray<Call>, used: Set<string>): ReadonlyMap<Call, string> => {
  const ids = new Map<Call, string>()
  for (const call of calls) {
    const id = used.has(call.part.id) ? freeId(call.part.id, used) : call.part.id
    used.add(id)
    if (id !== call.part.id) ids.set(call, id)
  }
  return ids
}

/** Doubles the suffix and halves the gap, so that an id used a hundred thousand times costs some thirty look-ups. */
const freeId = (id: string, used: ReadonlySet<string>): string => {
  let taken = 1
  let free = 2
  while (used.has(`${id}-${free}`)) {
    taken = free
    free *= 2
  }
  while (free - taken > 1) {
    const middle = Math.floor((taken + free) / 2)
    if (used.has(`${id}-${middle}`)) taken = middle
    else free = middle
  }
  return `${id}-${free}`
}

/** The message with its new ids, without empty parts and without results that are no answers to its own calls. */
const settle = (
  message: Message.Message,
  results: ReadonlyArray<Result>,
  at: number,
  ids: ReadonlyMap<Call, string>
): Message.Message | undefined => {
  const isOwn = ({ call }: Result) => call?.message === at
  if (message.role !== "assistant" || (ids.size === 0 && results.every(isOwn))) return withoutEmpty(message)
  const moved = new Set(results.filter((result) => !isOwn(result)).map(({ index }) => index))
  const renamed = new Map<number, string>()
  for (const [{ answer, index }, id] of ids) {
    renamed.set(index, id)
    if (answer?.message === at) renamed.set(answer.index, id)
  }
  return withoutEmpty({
    ...message,
    content: message.content.flatMap((part, index) => {
      if (moved.has(index)) return []
      const id = renamed.get(index)
      return id === undefined ? [part] : [{ ...part, id } as Message.AssistantPart]
    })
  })
}

/** The results of these calls, message by message as they were recorded. */
const pushResults = (
  out: Array<Repaired>,
  messages: ReadonlyArray<Message.Message>,
  calls: ReadonlyArray<Call>,
  ids: ReadonlyMap<Call, string>
): void => {
  const bySource = new Map<number, Array<Result>>()
  for (const { answer, message } of calls) {
    if (answer === undefined || answer.message === message) continue
    const same = bySource.get(answer.message)
    if (same === undefined) bySource.set(answer.message, [answer])
    else same.push(answer)
  }
  for (const [source, answers] of Array.from(bySource).sort(([a], [b]) => a - b)) {
    const message = messages[source]
    const parts = answers.sort((a, b) => a.index - b.index).map(({ call, part }) => {
      const id = ids.get(call!)
      return id === undefined ? part : { ...part, id }
    })
    const untouched = message.role === "tool" && parts.length === message.content.length &&
      parts.every((part, i) => part === message.content[i])
    out.push({ message: untouched ? message : Message.tool(parts, optionsOf(message)), source })
  }
}

const optionsOf = (message: Message.Message): Message.ProviderOptions => message.role === "tool" ? message.options : {}
