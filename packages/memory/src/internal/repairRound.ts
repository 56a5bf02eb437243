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

/** Call ids that are taken. @internal */
export interface UsedIds {
  readonly has: (id: string) => boolean
  readonly add: (id: string) => unknown
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
  used: UsedIds
): ReadonlyArray<Repaired> => {
  const lastTurn = lastTurnIndex(messages, round)
  const out: Array<Repaired> = []
  for (let i = round.start; i < round.end; i++) {
    if (messages[i].role === "tool") continue // stands behind its call
    const calls = pairing.calls[i]
    const ids = calls.length === 0 ? noIds : uniqueIds(calls, used)
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

/**
 * The last message of a round that is no tool message, and whether it stands in the repaired form as it is, with nothing
 * behind it but its results.
 *
 * @internal
 */
export interface Caller {
  readonly index: number
  readonly isLast: boolean
}

/**
 * Whether the last message is the only thing that it adds to the repaired form of a round that goes on: nothing before it
 * changes, and it stands behind everything as it is. Takes up its call ids if so.
 *
 * @internal
 */
export const onlyAdds = (
  message: Message.Message,
  at: number,
  pairing: Pairing,
  hadOpenCalls: boolean,
  caller: Caller,
  used: UsedIds
): boolean => {
  const calls = pairing.calls[at]
  const results = pairing.results[at]
  if (message.role === "tool") {
    // Results stand behind their calls: behind all else if it is the last caller that they answer.
    return caller.isLast && results.length > 0 && results.length === message.content.length &&
      results.every(({ call }) => call?.message === caller.index)
  }
  const isPlain = !hadOpenCalls && withoutEmpty(message) === message &&
    results.every(({ call }) => call?.message === at) &&
    calls.every(({ part }) => !used.has(part.id)) && new Set(calls.map(({ part }) => part.id)).size === calls.length
  if (isPlain) calls.forEach(({ part }) => used.add(part.id))
  return isPlain
}

const noIds: ReadonlyMap<Call, string> = new Map()

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
const uniqueIds = (calls: ReadonlyArray<Call>, used: UsedIds): ReadonlyMap<Call, string> => {
  let ids: Map<Call, string> | undefined
  for (const call of calls) {
    const id = used.has(call.part.id) ? freeId(call.part.id, used) : call.part.id
    used.add(id)
    if (id !== call.part.id) ids = (ids ?? new Map<Call, string>()).set(call, id)
  }
  return ids ?? noIds
}

/** Doubles the suffix and halves the gap, so that an id used a hundred thousand times costs some thirty look-ups. */
const freeId = (id: string, used: UsedIds): string => {
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
  const answers = calls.flatMap(({ answer, message }) =>
    answer === undefined || answer.message === message ? [] : [answer]
  ).sort((a, b) => a.message - b.message || a.index - b.index)
  for (let from = 0, to = 0; from < answers.length; from = to) {
    const source = answers[from].message
    while (to < answers.length && answers[to].message === source) to++
    const message = messages[source]
    const parts = answers.slice(from, to).map(({ call, part }) => {
      const id = ids.get(call!)
      return id === undefined ? part : { ...part, id }
    })
    const untouched = message.role === "tool" && parts.length === message.content.length &&
      parts.every((part, i) => part === message.content[i])
    out.push({ message: untouched ? message : Message.tool(parts, optionsOf(message)), source })
  }
}

const optionsOf = (message: Message.Message): Message.ProviderOptions => message.role === "tool" ? message.options : {}
