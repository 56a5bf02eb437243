/**
 * Calls and results that stand in ShareGPT as text, without ids.
 */
import * as Either from "effect/Either"
import * as Message from "effect-memory/Message"
import * as json from "./json.js"

interface Owed {
  readonly id: string
  readonly name: string
}

/**
 * Calls that wait for their results, in groups that one observation answers.
 *
 * @internal
 */
export interface Open {
  /** Ids for new calls. */
  readonly next: (name: string) => Owed
  /** Begins a group. */
  readonly begin: () => void
  readonly add: (call: Owed) => void
  /** The oldest group, taken out. */
  readonly shift: () => ReadonlyArray<Owed>
  /** The oldest call, taken out; a name for no call where there is none. */
  readonly take: () => Owed
  readonly clear: () => void
}

/** @internal */
export const open = (): Open => {
  let groups: Array<Array<Owed>> = []
  let count = 0
  return {
    next: (name) => ({ id: `call_${count++}`, name }),
    begin: () => void groups.push([]),
    add: (call) => {
      if (groups.length === 0) groups.push([])
      groups[groups.length - 1].push(call)
    },
    shift: () => {
      groups = groups.filter((group) => group.length > 0)
      return groups.shift() ?? []
    },
    take: () => groups.find((group) => group.length > 0)?.shift() ?? { id: `call_${count++}`, name: "unknown" },
    clear: () => {
      groups = []
    }
  }
}

interface Called {
  readonly name: string
  readonly arguments: unknown
}

const isCalled = (value: unknown): value is Called =>
  json.isRecord(value) && json.isString(value.name) &&
  Object.keys(value).every((key) => key === "name" || key === "arguments") && "arguments" in value

/** The text of a call as it is written where nothing else was read. */
const text = (call: Called | ReadonlyArray<Called>): string => Either.getOrElse(json.stringify(call), () => "")

const isCalls = (value: unknown): value is ReadonlyArray<Called> =>
  Array.isArray(value) && value.length > 0 && value.every(isCalled)

const make = (call: Called, owed: Owed): Message.ToolCallPart => Message.toolCall({ ...owed, params: call.arguments })

/**
 * The calls of a `function_call`; `undefined` where it is no JSON of calls. `text` is there where it is not the text that
 * would be written.
 *
 * @internal
 */
export const read = (
  value: string,
  waiting: Open
): { readonly parts: ReadonlyArray<Message.ToolCallPart>; readonly text: string | undefined } | undefined => {
  const parsed = Either.getOrUndefined(json.parseInner(value))
  const found = isCalled(parsed) ? [parsed] : isCalls(parsed) ? parsed : undefined
  if (found === undefined) return undefined
  waiting.begin()
  const parts = found.map((call) => {
    const owed = waiting.next(call.name)
    waiting.add(owed)
    return make(call, owed)
  })
  return { parts, text: text(isCalled(parsed) ? parsed : found) === value ? undefined : value }
}

/**
 * One call, added to the current group.
 *
 * @internal
 */
export const one = (
  value: string,
  waiting: Open
): { readonly call: Message.ToolCallPart; readonly text: string | undefined } | undefined => {
  const parsed = Either.getOrUndefined(json.parseInner(value))
  if (!isCalled(parsed)) return undefined
  const owed = waiting.next(parsed.name)
  waiting.add(owed)
  return { call: make(parsed, owed), text: text(parsed) === value ? undefined : value }
}

/**
 * The results in an observation: one for each call that it answers. `undefined` where no call waits.
 *
 * @internal
 */
export const answer = (
  value: string,
  waiting: Open
): {
  readonly parts: ReadonlyArray<Message.ToolResultPart>
  readonly text: string | undefined
  readonly shared: boolean | undefined
} | undefined => {
  const owed = waiting.shift()
  if (owed.length === 0) return undefined
  if (owed.length === 1) {
    return { parts: [Message.toolResult({ ...owed[0], result: value })], text: undefined, shared: undefined }
  }
  const parsed = Either.getOrUndefined(json.parseInner(value))
  if (!Array.isArray(parsed) || parsed.length !== owed.length) {
    // One text for all: it stands with the first call, the others have no result of their own.
    const parts = owed.map((call, i) => Message.toolResult({ ...call, result: i === 0 ? value : null }))
    return { parts, text: undefined, shared: true }
  }
  const parts = owed.map((call, i) => Message.toolResult({ ...call, result: parsed[i] }))
  return { parts, text: JSON.stringify(parsed) === value ? undefined : value, shared: undefined }
}

/**
 * The text of calls: the one that was read, as long as it still means the same.
 *
 * @internal
 */
export const write = (calls: ReadonlyArray<Message.ToolCallPart>, read: unknown): string => {
  const called = calls.map((call): Called => ({ name: call.name, arguments: call.params }))
  const value = called.length === 1 ? called[0] : called
  if (!json.isString(read)) return text(value)
  const parsed = json.parseInner(read)
  // A list of one call is a list.
  const same = Either.isRight(parsed) && (json.same(parsed.right, value) || json.same(parsed.right, called))
  return same ? read : text(value)
}
