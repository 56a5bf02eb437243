/**
 * Messages into an OpenAssistant tree of one branch.
 */
import type * as Message from "effect-memory/Message"
import type { Encoded } from "../Codec.js"
import type { Conversation } from "../Conversation.js"
import * as envelope from "./envelope.js"
import * as json from "./json.js"
import { format } from "./oasst.js"
import * as options from "./options.js"

const node = (message: Message.UserMessage | Message.AssistantMessage, lost: options.Ledger): json.JsonRecord => {
  const parts: ReadonlyArray<Message.Part> = message.content
  lost.add("part that is no text", parts.filter((part) => part.type !== "text").length)
  const { fields } = options.get(message, format)
  return {
    ...(json.isRecord(fields) ? fields : {}),
    text: parts.flatMap((part) => part.type === "text" ? [part.text] : []).join("\n"),
    role: message.role === "user" ? "prompter" : "assistant"
  }
}

type Spoken = Message.UserMessage | Message.AssistantMessage

const isSpoken = (message: Message.Message): message is Spoken =>
  message.role === "user" || message.role === "assistant"

/** A tree whose every node has one reply. */
const nested = (nodes: ReadonlyArray<json.JsonRecord>): json.JsonRecord | undefined =>
  nodes.reduceRight<json.JsonRecord | undefined>(
    (reply, one) => ({ ...one, replies: reply === undefined ? [] : [reply] }),
    undefined
  )

/** Nodes that name the one before them as their parent, under the names that they were read with. */
const linked = (nodes: ReadonlyArray<json.JsonRecord>, conversation: number): ReadonlyArray<json.JsonRecord> => {
  let parent: unknown = null
  return nodes.map((one, i) => {
    const seed = json.isString(one.user_message_id)
    const id = seed ? one.user_message_id : one.message_id ?? `${conversation}.${i}`
    const found = seed
      ? { ...one, parent_message_id: parent }
      : { ...one, message_id: id, parent_id: parent }
    parent = id
    return found
  })
}

/** @internal */
export const encode = (conversation: Conversation): Encoded => {
  const lost = options.ledger("lost")
  const { at, fields } = envelope.own(conversation, format, "", lost)
  const nodes = conversation.messages.filter(isSpoken).map((message) => node(message, lost))
  for (const message of conversation.messages) {
    if (!isSpoken(message)) lost.add(`${message.role} message`)
  }
  const prompt = at === "prompt" ? nested(nodes) : undefined
  const values = prompt === undefined ? linked(nodes, conversation.index) : [{ ...fields, prompt }]
  return { values, notes: lost.notes() }
}
