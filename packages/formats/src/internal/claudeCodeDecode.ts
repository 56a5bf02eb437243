/**
 * Session files of Claude Code into messages.
 */
import * as Either from "effect/Either"
import * as Schema from "effect/Schema"
import type * as Message from "effect-memory/Message"
import type { Decoded, Session } from "../Codec.js"
import type { Usage } from "../Conversation.js"
import * as anthropic from "./anthropicDecode.js"
import * as wire from "./anthropicSchema.js"
import { usage as anthropicUsage } from "./anthropicUsage.js"
import * as decode from "./decode.js"
import * as json from "./json.js"
import { append } from "./lists.js"
import * as options from "./options.js"

/** @internal */
export const format = "claude-code"

const Line = Schema.Struct({
  type: Schema.Literal("user", "assistant"),
  message: wire.Message,
  uuid: Schema.optional(Schema.NullOr(Schema.String)),
  isSidechain: Schema.optional(Schema.NullOr(Schema.Boolean))
})

type Line = typeof Line.Type

const decodeLine = decode.checker(Line)

/** A message, and the lines that it came in. */
interface Entry {
  readonly lines: Array<Line>
}

/** One thread of messages: the main one, or all side conversations. */
interface Thread {
  readonly entries: Array<Entry>
  readonly byId: Map<string, Entry>
  lines: number
}

const thread = (): Thread => ({ entries: [], byId: new Map(), lines: 0 })

const idOf = (line: Line): string | undefined => {
  const { id } = line.message as json.JsonRecord
  return line.type === "assistant" && json.isString(id) ? id : undefined
}

const add = (to: Thread, line: Line): void => {
  to.lines++
  const id = idOf(line)
  const known = id === undefined ? undefined : to.byId.get(id)
  if (known !== undefined) {
    known.lines.push(line)
    return
  }
  const entry = { lines: [line] }
  to.entries.push(entry)
  if (id !== undefined) to.byId.set(id, entry)
}

const blocksOf = (line: Line): ReadonlyArray<wire.Block> =>
  typeof line.message.content === "string" ? [{ type: "text", text: line.message.content }] : line.message.content

/** What is written around the content of a line. */
const frameOf = (line: Line): json.JsonRecord => ({
  ...json.rest(line, ["type", "message", "toolUseResult"]),
  message: json.rest(line.message, ["role", "content"])
})

const isSynthetic = (line: Line): boolean => (line.message as json.JsonRecord).model === "<synthetic>"

const messagesOf = ({ lines }: Entry, state: ReturnType<typeof anthropic.state>): ReadonlyArray<Message.Message> => {
  const [first] = lines
  const content = lines.length === 1 ? first.message.content : lines.flatMap(blocksOf)
  const marks = {
    lines: lines.map((line) => ({ blocks: blocksOf(line).length, ...frameOf(line) })),
    synthetic: isSynthetic(first) ? true : undefined,
    compactSummary: (first as json.JsonRecord).isCompactSummary === true ? true : undefined
  }
  return anthropic.messages({ role: first.message.role, content }, state).map((message, i) => ({
    ...message,
    options: options.make({
      ...message.options,
      [format]: { ...options.get(message, format), ...(i === 0 ? marks : {}) }
    })
  }))
}

const usageOf = ({ lines }: Entry): Omit<Usage, "messages"> | undefined => {
  // Earlier lines of a message carry placeholders.
  const last = lines[lines.length - 1]
  const found = anthropicUsage(last.message)
  return last.type === "user" || isSynthetic(last) || found?.inputTokens === 0 ? undefined : found
}

const decoded = (entries: ReadonlyArray<Entry>): Pick<Decoded, "messages" | "usage"> => {
  const state = anthropic.state(format)
  const messages: Array<Message.Message> = []
  const usage: Array<Usage> = []
  for (const entry of entries) {
    const billed = usageOf(entry)
    if (billed !== undefined) usage.push({ messages: messages.length, ...billed })
    append(messages, messagesOf(entry, state))
  }
  return { messages, usage }
}

/** @internal */
export const open = (): Session => {
  const main = thread()
  const side = thread()
  const skipped = options.ledger("skipped")
  const seen = new Set<string>()
  return {
    push: (value) => {
      if (!json.isRecord(value) || !json.isString(value.type)) {
        return { field: "type", reason: "is missing", hint: "expected a record of Claude Code" }
      }
      if (value.type !== "user" && value.type !== "assistant") {
        skipped.add(`record "${value.type.slice(0, 40)}"`)
        return undefined
      }
      const line = decodeLine(value)
      if (Either.isLeft(line)) return line.left
      if (json.isString(line.right.uuid) && seen.has(line.right.uuid)) {
        skipped.add("repeated record")
        return undefined
      }
      if (json.isString(line.right.uuid)) seen.add(line.right.uuid)
      if ("toolUseResult" in value) skipped.add("field \"toolUseResult\"")
      add(line.right.isSidechain === true ? side : main, line.right)
      return undefined
    },
    end: () => {
      // The file of a side conversation holds nothing else.
      const read = main.lines > 0 ? main : side
      if (read === main) skipped.add("record of a side conversation", side.lines)
      return [{ ...decoded(read.entries), notes: skipped.notes() }]
    }
  }
}
