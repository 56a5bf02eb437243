/**
 * The wire form of Gemini contents.
 */
import * as Schema from "effect/Schema"

const FunctionCall = Schema.Struct({
  id: Schema.optional(Schema.String),
  name: Schema.String,
  args: Schema.optional(Schema.Unknown)
})

/** @internal */
export const FunctionResponse = Schema.Struct({
  id: Schema.optional(Schema.String),
  name: Schema.String,
  response: Schema.optional(Schema.Unknown)
})

/** @internal */
export type FunctionResponse = typeof FunctionResponse.Type

const Inline = Schema.Struct({
  mimeType: Schema.optional(Schema.String),
  data: Schema.String,
  displayName: Schema.optional(Schema.String)
})

const Stored = Schema.Struct({
  mimeType: Schema.optional(Schema.String),
  fileUri: Schema.String,
  displayName: Schema.optional(Schema.String)
})

const Executed = Schema.Struct({ id: Schema.optional(Schema.String) })

/** @internal */
export const Part = Schema.Struct({
  text: Schema.optional(Schema.String),
  thought: Schema.optional(Schema.Boolean),
  functionCall: Schema.optional(FunctionCall),
  functionResponse: Schema.optional(FunctionResponse),
  inlineData: Schema.optional(Inline),
  fileData: Schema.optional(Stored),
  executableCode: Schema.optional(Executed),
  codeExecutionResult: Schema.optional(Executed),
  toolCall: Schema.optional(Executed),
  toolResponse: Schema.optional(Executed)
})

/** @internal */
export type Part = typeof Part.Type

/** @internal */
export const Content = Schema.Struct({
  role: Schema.optional(Schema.Literal("user", "model", "function", "tool", "system")),
  parts: Schema.optional(Schema.Array(Part))
})

/** @internal */
export type Content = typeof Content.Type
