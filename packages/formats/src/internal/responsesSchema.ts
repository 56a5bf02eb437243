/**
 * The wire form of OpenAI Responses items.
 */
import * as Schema from "effect/Schema"

const optional = <A, I>(schema: Schema.Schema<A, I>) => Schema.optional(Schema.NullOr(schema))

const Part = Schema.Struct({
  type: Schema.String,
  text: Schema.optional(Schema.String),
  refusal: Schema.optional(Schema.String),
  image_url: optional(Schema.String),
  file_id: optional(Schema.String),
  file_data: optional(Schema.String),
  file_url: optional(Schema.String),
  filename: optional(Schema.String)
})

/** @internal */
export type Part = typeof Part.Type

/** @internal */
export const Message = Schema.Struct({
  type: Schema.optional(Schema.Literal("message")),
  role: Schema.Literal("system", "developer", "user", "assistant"),
  content: Schema.Union(Schema.String, Schema.Array(Part))
})

/** @internal */
export type Message = typeof Message.Type

/** @internal */
export const Reasoning = Schema.Struct({
  type: Schema.Literal("reasoning"),
  summary: optional(Schema.Array(Schema.Struct({ text: Schema.String }))),
  content: optional(Schema.Array(Schema.Struct({ text: Schema.optional(Schema.String) })))
})

/** @internal */
export type Reasoning = typeof Reasoning.Type

/** @internal */
export const FunctionCall = Schema.Struct({
  type: Schema.Literal("function_call"),
  call_id: Schema.String,
  name: Schema.String,
  arguments: Schema.String
})

/** @internal */
export const CustomCall = Schema.Struct({
  type: Schema.Literal("custom_tool_call"),
  call_id: Schema.String,
  name: Schema.String,
  input: Schema.String
})

/** @internal */
export const Output = Schema.Struct({
  type: Schema.Literal("function_call_output", "custom_tool_call_output"),
  call_id: Schema.String,
  output: Schema.Union(Schema.String, Schema.Array(Schema.Struct({ type: Schema.String })))
})

/** @internal */
export type Output = typeof Output.Type

/**
 * An item of any other type: those that call a tool are known by their name.
 *
 * @internal
 */
export const Other = Schema.Struct({
  type: Schema.String,
  call_id: optional(Schema.String),
  id: optional(Schema.String),
  name: optional(Schema.String),
  role: optional(Schema.String),
  execution: optional(Schema.String)
})

/** @internal */
export type Other = typeof Other.Type
