/**
 * The wire form of Anthropic messages.
 */
import * as Schema from "effect/Schema"

const optional = <A, I>(schema: Schema.Schema<A, I>) => Schema.optional(Schema.NullOr(schema))

const Source = Schema.Struct({
  type: Schema.String,
  media_type: Schema.optional(Schema.String),
  data: Schema.optional(Schema.String),
  url: Schema.optional(Schema.String)
})

const text = Schema.Struct({ type: Schema.Literal("text"), text: Schema.String })

const media = Schema.Struct({
  type: Schema.Literal("image", "document"),
  source: Source,
  title: optional(Schema.String)
})

const call = Schema.Struct({
  type: Schema.Literal("tool_use", "server_tool_use", "mcp_tool_use"),
  id: Schema.String,
  name: Schema.String,
  input: Schema.Unknown
})

const result = Schema.Struct({
  type: Schema.Literal("tool_result"),
  tool_use_id: Schema.String,
  content: optional(Schema.Union(Schema.String, Schema.Array(Schema.Struct({ type: Schema.String })))),
  is_error: optional(Schema.Boolean)
})

const thinking = Schema.Struct({
  type: Schema.Literal("thinking"),
  thinking: Schema.String,
  signature: optional(Schema.String)
})

const redacted = Schema.Struct({ type: Schema.Literal("redacted_thinking"), data: Schema.String })

const compaction = Schema.Struct({ type: Schema.Literal("compaction"), content: Schema.NullOr(Schema.String) })

const KnownBlock = Schema.Union(text, media, call, result, thinking, redacted, compaction)

const known = [
  "text",
  "image",
  "document",
  "tool_use",
  "server_tool_use",
  "mcp_tool_use",
  "tool_result",
  "thinking",
  "redacted_thinking",
  "compaction"
]

const other = Schema.Struct({
  type: Schema.String.pipe(Schema.filter((type) => !known.includes(type))),
  tool_use_id: Schema.optional(Schema.String),
  content: Schema.optional(Schema.Unknown)
})

const Block = Schema.Union(KnownBlock, other)

/** @internal */
export type Block = typeof Block.Type

/** @internal */
export type KnownBlock = typeof KnownBlock.Type

/** @internal */
export type Call = typeof call.Type

/** @internal */
export type Result = typeof result.Type

/** @internal */
export type Media = typeof media.Type

/** @internal */
export type ServerResult = typeof other.Type & { readonly tool_use_id: string }

/** @internal */
export const isKnown = (block: Block): block is KnownBlock => known.includes(block.type)

/**
 * Whether a block is the result of a tool that the provider ran.
 *
 * @internal
 */
export const isServerResult = (block: Block): block is ServerResult =>
  !isKnown(block) && block.type.endsWith("_tool_result") && block.tool_use_id !== undefined

/** @internal */
export const Message = Schema.Struct({
  role: Schema.Literal("user", "assistant", "system"),
  content: Schema.Union(Schema.String, Schema.Array(Block))
})

/** @internal */
export type Message = typeof Message.Type

/** @internal */
export const System = Schema.Union(Schema.String, Schema.Array(text))

/** @internal */
export type System = typeof System.Type
