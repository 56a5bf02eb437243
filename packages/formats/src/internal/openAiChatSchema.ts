/**
 * The wire form of OpenAI chat messages.
 */
import * as Schema from "effect/Schema"

const text = Schema.Struct({ type: Schema.Literal("text"), text: Schema.String })

const refusal = Schema.Struct({ type: Schema.Literal("refusal"), refusal: Schema.String })

const image = Schema.Struct({
  type: Schema.Literal("image_url"),
  image_url: Schema.Struct({ url: Schema.String })
})

const audio = Schema.Struct({
  type: Schema.Literal("input_audio"),
  input_audio: Schema.Struct({ data: Schema.String, format: Schema.String })
})

const file = Schema.Struct({
  type: Schema.Literal("file"),
  file: Schema.Struct({ file_data: Schema.optional(Schema.String), filename: Schema.optional(Schema.String) })
})

const known = ["text", "refusal", "image_url", "input_audio", "file"]

const other = Schema.Struct({ type: Schema.String.pipe(Schema.filter((type) => !known.includes(type))) })

const KnownPart = Schema.Union(text, refusal, image, audio, file)

const Part = Schema.Union(KnownPart, other)

/** @internal */
export type Part = typeof Part.Type

/** @internal */
export type KnownPart = typeof KnownPart.Type

/** @internal */
export const isKnown = (part: Part): part is KnownPart => known.includes(part.type)

const called = Schema.Struct({ name: Schema.String, arguments: Schema.optional(Schema.Unknown) })

const ToolCall = Schema.Struct({
  id: Schema.optional(Schema.NullOr(Schema.String)),
  type: Schema.optional(Schema.NullOr(Schema.String)),
  function: Schema.optional(called),
  custom: Schema.optional(Schema.Struct({ name: Schema.String, input: Schema.String }))
}).pipe(
  Schema.filter((call) =>
    call.function !== undefined || call.custom !== undefined ? undefined : { path: ["function"], message: "missing" }
  )
)

/** @internal */
export type ToolCall = typeof ToolCall.Type

const optional = <A, I>(schema: Schema.Schema<A, I>) => Schema.optional(Schema.NullOr(schema))

/** @internal */
export const Message = Schema.Struct({
  role: Schema.Literal("system", "developer", "user", "assistant", "tool", "function"),
  content: optional(Schema.Union(Schema.String, Schema.Array(Part))),
  refusal: optional(Schema.String),
  reasoning_content: optional(Schema.String),
  tool_calls: optional(Schema.Array(ToolCall)),
  function_call: optional(called),
  tool_call_id: optional(Schema.String),
  tool_call_ids: optional(Schema.Array(Schema.String)),
  name: optional(Schema.String)
})

/** @internal */
export type Message = typeof Message.Type
