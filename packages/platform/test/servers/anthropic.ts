/**
 * Anthropic's `count_tokens`: strict as the oldest models and proxies are, or lenient as the newest ones.
 */
import { type Asked, count, type Handler, isRecord, records, type Reply, unknownFields } from "./server.js"

type Json = { readonly [key: string]: unknown }

export const error = (status: number, type: string, message: string, headers: Reply["headers"] = {}): Reply => ({
  status,
  headers: { "request-id": "req_011CS", ...headers },
  body: { type: "error", error: { type, message, details: null }, request_id: "req_011CS" }
})

const refused = (message: string): Reply => error(400, "invalid_request_error", message, { "x-should-retry": "false" })

const blocksOf = (content: unknown): ReadonlyArray<Json> =>
  typeof content === "string" ? [{ type: "text", text: content }] : records(content)

const idsOf = (blocks: ReadonlyArray<Json>, type: string, field: string): ReadonlyArray<string> =>
  blocks.filter((block) => block.type === type).map((block) => String(block[field]))

const markers = (value: unknown): number =>
  Array.isArray(value)
    ? value.reduce((sum, each) => sum + markers(each), 0)
    : isRecord(value)
    ? ("cache_control" in value ? 1 : 0) + markers(value.content)
    : 0

/** What may stand behind a call in its message. */
const follows = ["tool_use", "thinking", "redacted_thinking"]

const blockFault = (at: number, role: unknown, blocks: ReadonlyArray<Json>, previous: ReadonlyArray<Json>) => {
  const asked = idsOf(previous, "tool_use", "id")
  const answered = idsOf(blocks, "tool_result", "tool_use_id")
  const missing = asked.filter((id) => !answered.includes(id))
  if (missing.length > 0) {
    return `messages.${at - 1}: \`tool_use\` ids were found without \`tool_result\` blocks immediately after: ${
      missing.join(", ")
    }. Each \`tool_use\` block must have a corresponding \`tool_result\` block in the next message.`
  }
  for (const [m, block] of blocks.entries()) {
    if (block.type === "tool_result" && !asked.includes(String(block.tool_use_id))) {
      return `messages.${at}.content.${m}: unexpected \`tool_use_id\` found in \`tool_result\` blocks: ${
        String(block.tool_use_id)
      }. Each \`tool_result\` block must have a corresponding \`tool_use\` block in the previous message.`
    }
    if (block.type === "tool_result" && Array.isArray(block.content) && block.content.length === 0) {
      return `messages.${at}.content.${m}.content: list should have at least 1 item`
    }
    if (block.type === "text" && String(block.text).trim() === "") {
      return "messages: text content blocks must be non-empty"
    }
    if (block.type === "thinking" && (typeof block.signature !== "string" || block.signature === "")) {
      return `messages.${at}.content.${m}.thinking.signature: Field required`
    }
    if (block.type === "tool_use" && !isRecord(block.input)) {
      return `messages.${at}.content.${m}.tool_use.input: Input should be a valid dictionary`
    }
    if (block.type === "tool_use" && role !== "assistant") return `messages.${at}: \`tool_use\` blocks are assistant's`
  }
  if (new Set(answered).size < answered.length) {
    return `messages.${at}: each tool_use must have a single result. Found multiple \`tool_result\` blocks`
  }
  const lastResult = blocks.map((block) => block.type).lastIndexOf("tool_result")
  if (blocks.slice(0, Math.max(0, lastResult)).some((block) => block.type !== "tool_result")) {
    return `messages.${at}: \`tool_result\` blocks must come first`
  }
  const firstCall = blocks.findIndex((block) => block.type === "tool_use")
  if (firstCall >= 0 && blocks.slice(firstCall).some(({ type }) => !follows.includes(String(type)))) {
    return `messages.${at}: \`tool_use\` ids were found without \`tool_result\` blocks immediately after`
  }
}

const fault = (body: Json, strict: boolean): string | undefined => {
  const unknown = unknownFields(body, ["model", "messages", "system", "tools", "tool_choice", "thinking"])
  if (unknown.length > 0) return `${unknown[0]}: Extra inputs are not permitted`
  const messages = records(body.messages)
  if (messages.length === 0) return "messages: at least one message is required"
  if (markers(body.system) + markers(messages) > 4) {
    return "A maximum of 4 blocks with cache_control may be provided. Found 5."
  }
  if (blocksOf(body.system).some((block) => block.type !== "text" || String(block.text).trim() === "")) {
    return "system: text content blocks must be non-empty"
  }
  const ids = messages.flatMap(({ content }) => idsOf(blocksOf(content), "tool_use", "id"))
  if (new Set(ids).size < ids.length) return "messages: `tool_use` ids must be unique"
  if (strict && messages[0].role !== "user") return "messages: first message must use the \"user\" role"
  let previous: ReadonlyArray<Json> = []
  for (const [at, { content, role }] of messages.entries()) {
    if (role !== "user" && role !== "assistant") return `messages.${at}.role: unexpected role`
    if (strict && at > 0 && messages[at - 1].role === role) {
      return "messages: roles must alternate between \"user\" and \"assistant\", but found multiple " +
        `"${role}" roles in a row`
    }
    const blocks = blocksOf(content)
    if (blocks.length === 0) {
      return `messages.${at}: all messages must have non-empty content except for the optional final assistant message`
    }
    if (blocks.every((block) => block.type === "thinking" || block.type === "redacted_thinking")) {
      return `messages.${at}: messages must hold more than thinking`
    }
    const found = blockFault(at, role, blocks, previous)
    if (found !== undefined) return found
    previous = blocks
  }
  const open = idsOf(previous, "tool_use", "id")
  if (open.length > 0) {
    return `messages.${messages.length - 1}: \`tool_use\` ids were found without \`tool_result\` blocks immediately ` +
      `after: ${
        open.join(", ")
      }. Each \`tool_use\` block must have a corresponding \`tool_result\` block in the next ` +
      "message."
  }
  if (strict && messages[messages.length - 1].role === "assistant") {
    return "This model does not support assistant message prefill. The conversation must end with a user message."
  }
}

const serverTools = /^(web_search|web_fetch|code_execution|tool_search|advisor)/

/** Answers as the service does, to the key `sk-ant-valid` and models of the name claude. */
export const anthropic = (mode: "strict" | "lenient" = "strict"): Handler => ({ body, headers, path }: Asked) => {
  if (path !== "/v1/messages/count_tokens") return error(404, "not_found_error", "Not Found")
  if (headers["anthropic-version"] !== "2023-06-01") return refused("anthropic-version: header is required")
  if (headers["x-api-key"] !== "sk-ant-valid") return error(401, "authentication_error", "invalid x-api-key")
  if (!isRecord(body)) return refused("body: Input should be a valid dictionary")
  const { messages, model, system, tools } = body
  if (typeof model !== "string") return refused("model: Field required")
  if (!model.startsWith("claude-") || model.includes("not-exist")) {
    return error(404, "not_found_error", `model: ${model}`)
  }
  const found = fault(body, mode === "strict")
  if (found !== undefined) return refused(found)
  const own = records(tools).find(({ type }) => typeof type === "string" && serverTools.test(type))
  if (own !== undefined) return refused("tools.0: Server tools are not supported in the count tokens endpoint.")
  return {
    status: 200,
    headers: { "retry-after": "59", "request-id": "req_011CS" },
    body: { input_tokens: count(system, messages, tools), context_management: { original_input_tokens: 1 } }
  }
}
