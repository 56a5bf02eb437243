/**
 * OpenAI's `responses/input_tokens`, and chat messages as its compatible servers take them.
 */
import { type Asked, count, type Handler, isRecord, records, type Reply, unknownFields } from "./server.js"

type Json = { readonly [key: string]: unknown }

export const error = (
  status: number,
  type: string,
  message: string,
  code: string | null = null,
  headers: Reply["headers"] = {}
): Reply => ({
  status,
  headers: { "x-request-id": "req_abc", ...headers },
  body: { error: { message, type, param: null, code } }
})

const refused = (message: string): Reply => error(400, "invalid_request_error", message)

const partTypes: { readonly [role: string]: ReadonlyArray<string> } = {
  user: ["input_text", "input_image", "input_file"],
  system: ["input_text"],
  developer: ["input_text"],
  assistant: ["output_text", "refusal"]
}

const itemFault = (item: Json, at: number): string | undefined => {
  if (item.type === undefined || item.type === "message") {
    if (typeof item.role !== "string" || !(item.role in partTypes)) return `Invalid value: 'input[${at}].role'.`
    if (typeof item.content === "string") return undefined
    const parts = records(item.content)
    if (parts.length === 0) return `Invalid 'input[${at}].content': empty array.`
    const wrong = parts.find(({ type }) => !partTypes[String(item.role)].includes(String(type)))
    return wrong === undefined ? undefined : `Invalid value: '${String(wrong.type)}'.`
  }
  if (item.type === "function_call") {
    return typeof item.name === "string" && typeof item.arguments === "string" &&
        typeof item.call_id === "string"
      ? undefined
      : `Missing required parameter: 'input[${at}].arguments'.`
  }
  if (item.type === "function_call_output") {
    return typeof item.output === "string" || Array.isArray(item.output)
      ? undefined
      : `Invalid type for 'input[${at}].output'.`
  }
  return undefined
}

const pairFault = (items: ReadonlyArray<Json>): string | undefined => {
  const ids = (type: string) => items.filter((item) => item.type === type).map((item) => String(item.call_id))
  const [calls, outputs] = [ids("function_call"), ids("function_call_output")]
  const missing = calls.find((id) => !outputs.includes(id))
  if (missing !== undefined) return `No tool output found for function call ${missing}.`
  for (const [at, { call_id, type }] of items.entries()) {
    const before = items.slice(0, at).some((item) => item.type === "function_call" && item.call_id === call_id)
    if (type === "function_call_output" && !before) {
      return `No tool call found for function call output with call_id ${String(call_id)}.`
    }
  }
  const loose = items.findIndex(({ type }, at) => {
    const next = items[at + 1]
    return type === "reasoning" && (next === undefined || next.role === "user" || next.type === "function_call_output")
  })
  if (loose >= 0) {
    return `Item '${String(items[loose].id)}' of type 'reasoning' was provided without its required following item.`
  }
}

/** Answers as the service does, to the key `sk-valid` and models of the name gpt. */
export const openai: Handler = ({ body, headers, path }: Asked) => {
  if (path !== "/v1/responses/input_tokens") return error(404, "invalid_request_error", `Invalid URL (POST ${path})`)
  if (headers.authorization !== "Bearer sk-valid") {
    return error(401, "invalid_request_error", "Incorrect API key provided: sk-…", "invalid_api_key")
  }
  if (!isRecord(body)) return refused("We could not parse the JSON body of your request.")
  const unknown = unknownFields(body, ["model", "input", "instructions", "tools", "tool_choice", "reasoning", "text"])
  if (unknown.length > 0) return refused(`Unknown parameter: '${unknown[0]}'.`)
  if (typeof body.model !== "string" || !body.model.startsWith("gpt-")) {
    return error(
      400,
      "invalid_request_error",
      `The requested model '${String(body.model)}' does not exist.`,
      "model_not_found"
    )
  }
  if (!Array.isArray(body.input)) return refused("Missing required parameter: 'input'.")
  const items = records(body.input)
  const found = items.map(itemFault).find((each) => each !== undefined) ?? pairFault(items)
  return found === undefined
    ? { status: 200, body: { object: "response.input_tokens", input_tokens: count(body) } }
    : refused(found)
}

const contentFault = (message: Json, at: number): string | undefined => {
  const { content, role, tool_calls } = message
  if (role === "assistant" && (content === null || content === undefined)) {
    return records(tool_calls).length > 0 ? undefined : `Invalid value for 'content': expected a string, got null.`
  }
  if (typeof content === "string") return undefined
  const types = role === "user" ? ["text", "image_url", "input_audio", "file"] : ["text", "refusal"]
  return records(content).length > 0 && records(content).every(({ type }) => types.includes(String(type)))
    ? undefined
    : `Invalid 'messages[${at}]'. Content blocks are expected to be either text or image_url type.`
}

/** What a chat server refuses in messages. */
export const chatFault = (messages: ReadonlyArray<Json>): string | undefined => {
  let open: ReadonlyArray<string> = []
  for (const [at, message] of messages.entries()) {
    if (message.role === "tool") {
      const id = String(message.tool_call_id)
      if (!open.includes(id)) {
        return "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'."
      }
      open = open.filter((each) => each !== id)
    } else if (open.length > 0) break
    if (!["system", "developer", "user", "assistant", "tool"].includes(String(message.role))) {
      return `Invalid value: '${String(message.role)}'.`
    }
    const found = contentFault(message, at)
    if (found !== undefined) return found
    if (message.role === "assistant") open = records(message.tool_calls).map(({ id }) => String(id))
  }
  if (open.length > 0) {
    return "An assistant message with 'tool_calls' must be followed by tool messages responding to each " +
      `'tool_call_id'. The following tool_call_ids did not have response messages: ${open.join(", ")}`
  }
}
