/**
 * Messages into session files of Claude Code.
 */
import type * as Message from "effect-memory/Message"
import type { Encoded } from "../Codec.js"
import type { Conversation } from "../Conversation.js"
import * as anthropic from "./anthropicEncode.js"
import { format } from "./claudeCodeDecode.js"
import * as envelope from "./envelope.js"
import * as json from "./json.js"
import * as options from "./options.js"

const line = (wire: anthropic.Wire, content: unknown, frame: unknown): json.JsonRecord => {
  const { blocks: _, message, ...fields } = json.isRecord(frame) ? frame : {}
  return {
    ...fields,
    type: wire.role,
    message: { ...(json.isRecord(message) ? message : {}), ...wire, content }
  }
}

/** The lines that a message came in, where its blocks are still as many. */
const lines = (wire: anthropic.Wire, read: unknown): ReadonlyArray<json.JsonRecord> => {
  const frames: ReadonlyArray<unknown> = Array.isArray(read) ? read : []
  if (frames.length < 2 || !Array.isArray(wire.content)) return [line(wire, wire.content, frames[0])]
  const blocks: ReadonlyArray<unknown> = wire.content
  const sizes = frames.map((frame) => json.isRecord(frame) && typeof frame.blocks === "number" ? frame.blocks : 0)
  if (sizes.reduce((sum, size) => sum + size, 0) !== blocks.length) return [line(wire, blocks, frames[0])]
  let from = 0
  return frames.map((frame, i) => line(wire, blocks.slice(from, from += sizes[i]), frame))
}

const isSystem = (message: Message.Message): boolean => message.role === "system"

/** @internal */
export const encode = (conversation: Conversation): Encoded => {
  const lost = options.ledger("lost")
  envelope.own(conversation, format, "", lost)
  lost.add("system message", conversation.messages.filter(isSystem).length)
  const context = { format, lost }
  const messages = conversation.messages.filter((message) => !isSystem(message))
  const values = anthropic.groups(messages, format).flatMap((group) =>
    anthropic.wire(group, context).flatMap((wire, i) =>
      lines(wire, i === 0 ? options.get(group[0], format).lines : undefined)
    )
  )
  return { values, notes: lost.notes() }
}
