/**
 * The schema of a message. Its type side is the normal form, its encoded side is safe as JSON.
 */
import * as ParseResult from "effect/ParseResult"
import * as Schema from "effect/Schema"
import * as json from "./json.js"

const Text = Schema.transform(
  Schema.String,
  Schema.String.pipe(Schema.filter((text) => text.isWellFormed() || "has lone surrogates")),
  { strict: true, decode: json.wellFormed, encode: (text) => text }
)

const isNormalJson = (value: unknown): boolean => {
  const normalized = json.normalize(value)
  return normalized.ok && Object.is(normalized.value, value)
}

const Json = Schema.transformOrFail(Schema.Unknown, Schema.Unknown.pipe(Schema.filter(isNormalJson)), {
  strict: true,
  decode: (value, _, ast) => {
    const normalized = json.normalize(value)
    return normalized.ok
      ? ParseResult.succeed(normalized.value)
      : ParseResult.fail(new ParseResult.Type(ast, undefined, normalized.why))
  },
  encode: ParseResult.succeed
})

const options = Schema.optionalWith(
  Schema.Record({
    key: Schema.String,
    value: Schema.UndefinedOr(Schema.Record({ key: Schema.String, value: Schema.Unknown }))
  }),
  { default: () => ({}) }
)

const flag = Schema.optionalWith(Schema.Boolean, { default: () => false })

const TaggedBytes = Schema.transform(
  Schema.Struct({ _tag: Schema.Literal("Uint8Array"), base64: Schema.Uint8ArrayFromBase64 }),
  Schema.Uint8ArrayFromSelf,
  {
    strict: true,
    decode: ({ base64 }) => base64,
    encode: (bytes) => ({ _tag: "Uint8Array" as const, base64: bytes })
  }
)

const TaggedUrl = Schema.transform(
  Schema.Struct({ _tag: Schema.Literal("URL"), href: Schema.URL }),
  Schema.URLFromSelf,
  { strict: true, decode: ({ href }) => href, encode: (href) => ({ _tag: "URL" as const, href }) }
)

const TextPart = Schema.Struct({ type: Schema.Literal("text"), text: Text, options })

const ReasoningPart = Schema.Struct({ type: Schema.Literal("reasoning"), text: Text, options })

const FilePart = Schema.Struct({
  type: Schema.Literal("file"),
  mediaType: Schema.String,
  fileName: Schema.optional(Schema.String),
  // Tagged forms stand first: encoding takes the first member that fits.
  data: Schema.Union(TaggedBytes, TaggedUrl, Schema.String, Schema.Uint8ArrayFromSelf, Schema.URLFromSelf),
  options
})

const ToolCallPart = Schema.Struct({
  type: Schema.Literal("tool-call"),
  id: Schema.String,
  name: Schema.String,
  params: Json,
  providerExecuted: flag,
  options
})

const ToolResultPart = Schema.Struct({
  type: Schema.Literal("tool-result"),
  id: Schema.String,
  name: Schema.String,
  isFailure: flag,
  result: Json,
  providerExecuted: flag,
  options
})

const orText = <A extends { readonly type: string }, I>(part: Schema.Schema<A, I>) =>
  Schema.Union(
    Schema.Array(part),
    Schema.transform(Schema.String, Schema.typeSchema(Schema.Tuple(TextPart)), {
      strict: true,
      decode: (text) => [{ type: "text" as const, text: json.wellFormed(text), options: {} }] as const,
      encode: ([part]) => part.text
    })
  )

const SystemMessage = Schema.Struct({ role: Schema.Literal("system"), content: Text, options })

const UserMessage = Schema.Struct({
  role: Schema.Literal("user"),
  content: orText(Schema.Union(TextPart, FilePart)),
  options
})

const AssistantMessage = Schema.Struct({
  role: Schema.Literal("assistant"),
  content: orText(Schema.Union(TextPart, FilePart, ReasoningPart, ToolCallPart, ToolResultPart)),
  options
})

const ToolMessage = Schema.Struct({
  role: Schema.Literal("tool"),
  content: Schema.Array(ToolResultPart),
  options
})

/** @internal */
export const Message = Schema.Union(SystemMessage, UserMessage, AssistantMessage, ToolMessage).annotations({
  identifier: "Message"
})

/** @internal */
export type MessageEncoded = typeof Message.Encoded
