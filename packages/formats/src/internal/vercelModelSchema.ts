/**
 * The form of `ModelMessage`s.
 */
import * as Schema from "effect/Schema"

const text = Schema.Struct({ type: Schema.Literal("text", "reasoning"), text: Schema.String })

const file = Schema.Struct({
  type: Schema.Literal("file"),
  data: Schema.Unknown,
  mediaType: Schema.String,
  filename: Schema.optional(Schema.String)
})

const image = Schema.Struct({
  type: Schema.Literal("image"),
  image: Schema.Unknown,
  mediaType: Schema.optional(Schema.String)
})

const call = Schema.Struct({
  type: Schema.Literal("tool-call"),
  toolCallId: Schema.String,
  toolName: Schema.String,
  input: Schema.optional(Schema.Unknown),
  providerExecuted: Schema.optional(Schema.Boolean)
})

const result = Schema.Struct({
  type: Schema.Literal("tool-result"),
  toolCallId: Schema.String,
  toolName: Schema.String,
  output: Schema.Struct({ type: Schema.String, value: Schema.optional(Schema.Unknown) })
})

const known = ["text", "reasoning", "file", "image", "tool-call", "tool-result"]

const other = Schema.Struct({ type: Schema.String.pipe(Schema.filter((type) => !known.includes(type))) })

const KnownPart = Schema.Union(text, file, image, call, result)

const Part = Schema.Union(KnownPart, other)

/** @internal */
export type Part = typeof Part.Type

/** @internal */
export type Result = typeof result.Type

/** @internal */
export const isKnown = (part: Part): part is typeof KnownPart.Type => known.includes(part.type)

/** @internal */
export const Message = Schema.Union(
  Schema.Struct({ role: Schema.Literal("system"), content: Schema.String }),
  Schema.Struct({
    role: Schema.Literal("user", "assistant"),
    content: Schema.Union(Schema.String, Schema.Array(Part))
  }),
  Schema.Struct({ role: Schema.Literal("tool"), content: Schema.Array(Part) })
)

/** @internal */
export type Message = typeof Message.Type
