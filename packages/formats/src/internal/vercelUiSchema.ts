/**
 * The form of `UIMessage`s.
 */
import * as Schema from "effect/Schema"

const Part = Schema.Struct({
  type: Schema.String,
  text: Schema.optional(Schema.String),
  mediaType: Schema.optional(Schema.String),
  url: Schema.optional(Schema.String),
  filename: Schema.optional(Schema.String),
  toolCallId: Schema.optional(Schema.String),
  toolName: Schema.optional(Schema.String),
  state: Schema.optional(Schema.String),
  input: Schema.optional(Schema.Unknown),
  output: Schema.optional(Schema.Unknown),
  errorText: Schema.optional(Schema.String),
  providerExecuted: Schema.optional(Schema.Boolean)
})

/** @internal */
export type Part = typeof Part.Type

/** @internal */
export const Message = Schema.Struct({
  id: Schema.optional(Schema.String),
  role: Schema.Literal("system", "user", "assistant"),
  parts: Schema.Array(Part)
})

/** @internal */
export type Message = typeof Message.Type
