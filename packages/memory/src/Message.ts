/**
 * Provider-neutral messages: plain values with the roles and parts of `@effect/ai`'s `Prompt`, so that a context goes
 * into `Prompt.make` as it is.
 *
 * Every message has one normal form: a system message holds text, all others hold a list of parts. Constructors and
 * the {@link Message} schema bring text and JSON into that form.
 *
 * @example
 * ```ts
 * import { deepStrictEqual } from "node:assert"
 * import { Message } from "effect-memory"
 *
 * deepStrictEqual(Message.user("What is the weather?"), {
 *   role: "user",
 *   content: [{ type: "text", text: "What is the weather?", options: {} }],
 *   options: {}
 * })
 * ```
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import { describeIssue } from "./internal/invalidMessage.js"
import * as json from "./internal/json.js"
import * as schema from "./internal/messageSchema.js"
import * as tag from "./internal/tag.js"
import { InvalidMessage } from "./MemoryError.js"

// =============================================================================
// Models
// =============================================================================

/**
 * Provider-specific settings of a message or part, by provider name. Kept verbatim.
 *
 * @since 0.1.0
 * @category models
 */
export interface ProviderOptions {
  readonly [provider: string]: { readonly [key: string]: unknown } | undefined
}

/**
 * @since 0.1.0
 * @category models
 */
export interface TextPart {
  readonly type: "text"
  /** Well-formed text. */
  readonly text: string
  readonly options: ProviderOptions
}

/**
 * What a model thought. Signatures and encrypted forms live in `options` and are never edited.
 *
 * @since 0.1.0
 * @category models
 */
export interface ReasoningPart {
  readonly type: "reasoning"
  /** Well-formed text. */
  readonly text: string
  readonly options: ProviderOptions
}

/**
 * @since 0.1.0
 * @category models
 */
export interface FilePart {
  readonly type: "file"
  /** Media type, such as `image/png`. */
  readonly mediaType: string
  readonly fileName?: string | undefined
  /** Bytes, a base64 string, or where to find them. */
  readonly data: string | Uint8Array | URL
  readonly options: ProviderOptions
}

/**
 * @since 0.1.0
 * @category models
 */
export interface ToolCallPart {
  readonly type: "tool-call"
  /** Matches the call with its result. */
  readonly id: string
  /** Name of the tool. */
  readonly name: string
  /** Arguments: a JSON value. */
  readonly params: unknown
  /** Whether the provider runs the tool itself, in which case no result is owed to it. */
  readonly providerExecuted: boolean
  readonly options: ProviderOptions
}

/**
 * @since 0.1.0
 * @category models
 */
export interface ToolResultPart {
  readonly type: "tool-result"
  /** Id of the call this answers. */
  readonly id: string
  /** Name of the tool. */
  readonly name: string
  /** Whether the tool failed. */
  readonly isFailure: boolean
  /** What the tool returned: a JSON value. */
  readonly result: unknown
  readonly providerExecuted: boolean
  readonly options: ProviderOptions
}

/**
 * @since 0.1.0
 * @category models
 */
export type UserPart = TextPart | FilePart

/**
 * @since 0.1.0
 * @category models
 */
export type AssistantPart = TextPart | FilePart | ReasoningPart | ToolCallPart | ToolResultPart

/**
 * @since 0.1.0
 * @category models
 */
export type Part = AssistantPart

/**
 * @since 0.1.0
 * @category models
 */
export interface SystemMessage {
  readonly role: "system"
  readonly content: string
  readonly options: ProviderOptions
}

/**
 * @since 0.1.0
 * @category models
 */
export interface UserMessage {
  readonly role: "user"
  readonly content: ReadonlyArray<UserPart>
  readonly options: ProviderOptions
}

/**
 * @since 0.1.0
 * @category models
 */
export interface AssistantMessage {
  readonly role: "assistant"
  readonly content: ReadonlyArray<AssistantPart>
  readonly options: ProviderOptions
}

/**
 * @since 0.1.0
 * @category models
 */
export interface ToolMessage {
  readonly role: "tool"
  readonly content: ReadonlyArray<ToolResultPart>
  readonly options: ProviderOptions
}

/**
 * One entry of a conversation.
 *
 * @since 0.1.0
 * @category models
 */
export type Message = SystemMessage | UserMessage | AssistantMessage | ToolMessage

// =============================================================================
// Schemas
// =============================================================================

/**
 * A message as it stands in JSON: `options` and flags may be absent, a list of parts may be a plain string, bytes and
 * URLs are tagged. Raw bytes and URLs are accepted too, but never produced.
 *
 * @since 0.1.0
 * @category models
 */
export type MessageEncoded = schema.MessageEncoded

/**
 * Decodes JSON, or a message in any accepted shape, into the normal form. Its encoded side is safe as JSON.
 *
 * @example
 * ```ts
 * import { deepStrictEqual } from "node:assert"
 * import { Schema } from "effect"
 * import { Message } from "effect-memory"
 *
 * const message = Schema.decodeSync(Message.Message)({ role: "user", content: "hi" })
 *
 * deepStrictEqual(message, Message.user("hi"))
 * ```
 *
 * @since 0.1.0
 * @category schemas
 */
export const Message: Schema.Schema<Message, MessageEncoded> = schema.Message

const isNormal = Schema.is(Schema.typeSchema(Message))

const decodeUnknown = Schema.decodeUnknown(Message)

/**
 * Brings any value into the normal form; a value in normal form is returned as it is.
 *
 * Fails with `InvalidMessage`, which names the field at fault.
 *
 * @example
 * ```ts
 * import { strictEqual } from "node:assert"
 * import { Effect } from "effect"
 * import { Message } from "effect-memory"
 *
 * const error = Effect.runSync(Effect.flip(Message.fromUnknown({ role: "bot", content: "hi" })))
 *
 * strictEqual(error.field, "role")
 * ```
 *
 * @since 0.1.0
 * @category constructors
 */
export const fromUnknown = (input: unknown): Effect.Effect<Message, InvalidMessage> =>
  isNormal(input)
    ? Effect.succeed(input)
    : Effect.mapError(decodeUnknown(input), (error) => new InvalidMessage(describeIssue(error, input)))

// =============================================================================
// Constructors
// =============================================================================

const asParts = <P>(content: string | ReadonlyArray<P>): ReadonlyArray<P | TextPart> =>
  typeof content === "string" ? [text(content)] : content

/**
 * @since 0.1.0
 * @category constructors
 */
export const system = (content: string, options: ProviderOptions = {}): SystemMessage => ({
  role: "system",
  content: json.wellFormed(content),
  options
})

/**
 * @since 0.1.0
 * @category constructors
 */
export const user = (content: string | ReadonlyArray<UserPart>, options: ProviderOptions = {}): UserMessage => ({
  role: "user",
  content: asParts(content),
  options
})

/**
 * @example
 * ```ts
 * import { deepStrictEqual } from "node:assert"
 * import { Message } from "effect-memory"
 *
 * const message = Message.assistant([
 *   Message.text("Let me look."),
 *   Message.toolCall({ id: "c1", name: "weather", params: { city: "Oslo" } })
 * ])
 *
 * deepStrictEqual(message.content.map((part) => part.type), ["text", "tool-call"])
 * ```
 *
 * @since 0.1.0
 * @category constructors
 */
export const assistant = (
  content: string | ReadonlyArray<AssistantPart>,
  options: ProviderOptions = {}
): AssistantMessage => ({ role: "assistant", content: asParts(content), options })

/**
 * @since 0.1.0
 * @category constructors
 */
export const tool = (results: ReadonlyArray<ToolResultPart>, options: ProviderOptions = {}): ToolMessage => ({
  role: "tool",
  content: results,
  options
})

/**
 * @since 0.1.0
 * @category constructors
 */
export const text = (content: string, options: ProviderOptions = {}): TextPart => ({
  type: "text",
  text: json.wellFormed(content),
  options
})

/**
 * @since 0.1.0
 * @category constructors
 */
export const reasoning = (content: string, options: ProviderOptions = {}): ReasoningPart => ({
  type: "reasoning",
  text: json.wellFormed(content),
  options
})

/**
 * @since 0.1.0
 * @category constructors
 */
export const file = (file: {
  readonly mediaType: string
  readonly data: string | Uint8Array | URL
  readonly fileName?: string | undefined
  readonly options?: ProviderOptions | undefined
}): FilePart => ({ type: "file", ...file, options: file.options ?? {} })

/**
 * @since 0.1.0
 * @category constructors
 */
export const toolCall = (call: {
  readonly id: string
  readonly name: string
  readonly params: unknown
  readonly providerExecuted?: boolean | undefined
  readonly options?: ProviderOptions | undefined
}): ToolCallPart => ({
  type: "tool-call",
  ...call,
  params: json.normalizeOrKeep(call.params),
  providerExecuted: call.providerExecuted ?? false,
  options: call.options ?? {}
})

/**
 * @since 0.1.0
 * @category constructors
 */
export const toolResult = (result: {
  readonly id: string
  readonly name: string
  readonly result: unknown
  readonly isFailure?: boolean | undefined
  readonly providerExecuted?: boolean | undefined
  readonly options?: ProviderOptions | undefined
}): ToolResultPart => ({
  type: "tool-result",
  ...result,
  result: json.normalizeOrKeep(result.result),
  isFailure: result.isFailure ?? false,
  providerExecuted: result.providerExecuted ?? false,
  options: result.options ?? {}
})

// =============================================================================
// Guards and accessors
// =============================================================================

/**
 * Whether a value is a message in normal form.
 *
 * @since 0.1.0
 * @category guards
 */
export const isMessage = (value: unknown): value is Message => isNormal(value)

/**
 * @since 0.1.0
 * @category guards
 */
export const isToolCall = (part: Part): part is ToolCallPart => part.type === "tool-call"

/**
 * @since 0.1.0
 * @category guards
 */
export const isToolResult = (part: Part): part is ToolResultPart => part.type === "tool-result"

/**
 * Whether a message is a summary that this library made: it stands for others, and says in its `options` which ones.
 *
 * @since 0.1.0
 * @category guards
 */
export const isSummary = (message: Message): boolean => tag.isSummary(message)

/**
 * The parts of a message; the text of a system message counts as one.
 *
 * @since 0.1.0
 * @category accessors
 */
export const parts = (message: Message): ReadonlyArray<Part> =>
  Predicate.isString(message.content) ? [text(message.content)] : message.content

/**
 * The calls of a message that are owed a result: calls that the provider runs itself are not among them.
 *
 * @since 0.1.0
 * @category accessors
 */
export const toolCalls = (message: Message): ReadonlyArray<ToolCallPart> =>
  message.role === "assistant"
    ? message.content.filter((part): part is ToolCallPart => isToolCall(part) && !part.providerExecuted)
    : []

/**
 * The results in a message that answer such calls.
 *
 * @since 0.1.0
 * @category accessors
 */
export const toolResults = (message: Message): ReadonlyArray<ToolResultPart> =>
  message.role === "assistant" || message.role === "tool"
    ? (message.content as ReadonlyArray<AssistantPart>).filter((part): part is ToolResultPart =>
      isToolResult(part) && !part.providerExecuted
    )
    : []
