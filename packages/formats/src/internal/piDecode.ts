/**
 * Sessions of pi into messages.
 */
import * as Either from "effect/Either"
import * as Schema from "effect/Schema"
import * as Message from "effect-memory/Message"
import type { Issue, Session } from "../Codec.js"
import type { Usage } from "../Conversation.js"
import * as decode from "./decode.js"
import * as envelope from "./envelope.js"
import * as json from "./json.js"
import { opaque } from "./media.js"
import * as options from "./options.js"

/** @internal */
export const format = "pi"

const text = Schema.Struct({ type: Schema.Literal("text"), text: Schema.String })

const image = Schema.Struct({ type: Schema.Literal("image"), data: Schema.String, mimeType: Schema.String })

const thinking = Schema.Struct({
  type: Schema.Literal("thinking"),
  thinking: Schema.String,
  thinkingSignature: Schema.optional(Schema.String)
})

const call = Schema.Struct({
  type: Schema.Literal("toolCall"),
  id: Schema.String,
  name: Schema.String,
  arguments: Schema.Unknown
})

const known = ["text", "image", "thinking", "toolCall"]

const KnownPart = Schema.Union(text, image, thinking, call)

const Part = Schema.Union(
  KnownPart,
  Schema.Struct({ type: Schema.String.pipe(Schema.filter((type) => !known.includes(type))) })
)

type Part = typeof Part.Type

const isKnown = (part: Part): part is typeof KnownPart.Type => known.includes(part.type)

const Content = Schema.Union(Schema.String, Schema.Array(Part))

type Content = typeof Content.Type

const PiMessage = Schema.Union(
  Schema.Struct({ role: Schema.Literal("user", "assistant"), content: Content }),
  Schema.Struct({
    role: Schema.Literal("toolResult"),
    toolCallId: Schema.String,
    toolName: Schema.String,
    content: Content,
    isError: Schema.optional(Schema.Boolean)
  })
)

type PiMessage = typeof PiMessage.Type

const checkMessage = decode.checker(Schema.Struct({ type: Schema.Literal("message"), message: PiMessage }))

const checkCompaction = decode.checker(Schema.Struct({ type: Schema.Literal("compaction"), summary: Schema.String }))

const roles = ["user", "assistant", "toolResult"]

const own = (marks: json.JsonRecord): Message.ProviderOptions => options.make({ [format]: marks })

const part = (one: Part): Message.AssistantPart => {
  if (!isKnown(one)) return opaque(format, one)
  switch (one.type) {
    case "text":
      return Message.text(one.text, own({ fields: json.unlessEmpty(json.rest(one, ["type", "text"])) }))
    case "image":
      return Message.file({
        mediaType: one.mimeType,
        data: one.data,
        options: own({ fields: json.unlessEmpty(json.rest(one, ["type", "data", "mimeType"])) })
      })
    case "thinking":
      return Message.reasoning(one.thinking, own({ fields: json.unlessEmpty(json.rest(one, ["type", "thinking"])) }))
    case "toolCall":
      return Message.toolCall({
        id: one.id,
        name: one.name,
        params: one.arguments,
        options: own({ fields: json.unlessEmpty(json.rest(one, ["type", "id", "name", "arguments"])) })
      })
  }
}

const parts = (content: Content): ReadonlyArray<Message.AssistantPart> =>
  typeof content === "string" ? [Message.text(content)] : content.map(part)

const userPart = (one: Message.AssistantPart, read: Part): Message.UserPart =>
  one.type === "text" || one.type === "file" ? one : opaque(format, read)

/** Text alone is the result itself, anything else the list as it stands. */
const resultOf = (content: Content): { readonly result: unknown; readonly form: string | undefined } => {
  if (typeof content === "string") return { result: content, form: "string" }
  const [only, ...more] = content
  return only !== undefined && more.length === 0 && isKnown(only) && only.type === "text" &&
      Object.keys(only).length === 2
    ? { result: only.text, form: undefined }
    : { result: content, form: undefined }
}

const message = (one: PiMessage, entry: json.JsonRecord | undefined): Message.Message => {
  const { content } = one
  const form = typeof content === "string" ? "string" : undefined
  if (one.role === "toolResult") {
    const found = resultOf(content)
    const fields = json.rest(one, ["role", "toolCallId", "toolName", "content", "isError"])
    return Message.tool([
      Message.toolResult({
        id: one.toolCallId,
        name: one.toolName,
        result: found.result,
        isFailure: one.isError === true,
        options: own({
          entry,
          fields: json.unlessEmpty(fields),
          content: found.form,
          flag: one.isError === undefined ? "none" : undefined
        })
      })
    ])
  }
  const marks = own({ entry, fields: json.unlessEmpty(json.rest(one, ["role", "content"])), content: form })
  if (one.role === "assistant") return Message.assistant(parts(content), marks)
  const read = typeof content === "string" ? [{ type: "text" as const, text: content }] : content
  return Message.user(parts(content).map((made, i) => userPart(made, read[i])), marks)
}

const usageOf = (one: PiMessage): Omit<Usage, "messages"> | undefined => {
  const { stopReason, usage } = one as json.JsonRecord
  if (stopReason === "aborted" || stopReason === "error") return undefined
  const found = envelope.usage(usage, { input: ["input", "cacheRead", "cacheWrite"], output: ["output"], at: "" })
  return found?.inputTokens === 0 ? undefined : found
}

/** @internal */
export const open = (): Session => {
  const messages: Array<Message.Message> = []
  const usage: Array<Usage> = []
  const skipped = options.ledger("skipped")
  let header: json.JsonRecord = {}

  const push = (value: unknown): Issue | undefined => {
    if (!json.isRecord(value) || !json.isString(value.type)) {
      return { field: "type", reason: "is missing", hint: "expected an entry of pi" }
    }
    if (value.type === "session") {
      header = value
      return undefined
    }
    if (value.type === "compaction") {
      return Either.match(checkCompaction(value), {
        onLeft: (issue) => issue,
        onRight: (entry) => {
          const marks = { compactSummary: true, entry: json.rest(entry, ["type", "summary"]) }
          messages.push(Message.user(entry.summary, own(marks)))
          return undefined
        }
      })
    }
    const role = json.isRecord(value.message) ? value.message.role : undefined
    if (value.type !== "message" || (json.isString(role) && !roles.includes(role))) {
      const kind = value.type === "message"
        ? `message of role "${String(role).slice(0, 40)}"`
        : `entry "${value.type.slice(0, 40)}"`
      skipped.add(kind)
      return undefined
    }
    return Either.match(checkMessage(value), {
      onLeft: (issue) => issue,
      onRight: (entry) => {
        const billed = entry.message.role === "assistant" ? usageOf(entry.message) : undefined
        if (billed !== undefined) usage.push({ messages: messages.length, ...billed })
        messages.push(message(entry.message, json.unlessEmpty(json.rest(entry, ["type", "message"]))))
        return undefined
      }
    })
  }

  return {
    push,
    end: () => [{
      messages,
      usage,
      notes: skipped.notes(),
      envelope: { at: "", fields: Object.keys(header).length === 0 ? {} : { session: header } }
    }]
  }
}
