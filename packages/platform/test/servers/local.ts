/**
 * Servers of local models: vLLM, llama.cpp, Text Generation Inference.
 */
import { chatFault } from "./openai.js"
import { type Asked, count, type Handler, isRecord, records, type Reply, unknownFields } from "./server.js"

const tokens = (of: unknown): ReadonlyArray<number> => Array.from({ length: count(of) }, (_, i) => i)

const fault = (body: unknown, known: ReadonlyArray<string>): string | undefined => {
  if (!isRecord(body)) return "not an object"
  const unknown = unknownFields(body, known)
  if (unknown.length > 0) return `Extra inputs are not permitted: ${unknown[0]}`
  return records(body.messages).length === 0 ? "messages: empty" : chatFault(records(body.messages))
}

const vllmError = (code: number, type: string, message: string): Reply => ({
  status: code,
  body: { error: { message, type, param: null, code } }
})

export const vllm: Handler = ({ body, path }: Asked) => {
  if (path !== "/tokenize") return { status: 404, body: { detail: "Not Found" } }
  if (isRecord(body) && body.model !== undefined && body.model !== "local") {
    return vllmError(404, "NotFoundError", `The model \`${String(body.model)}\` does not exist.`)
  }
  const found = fault(body, ["model", "messages", "tools", "add_generation_prompt"])
  if (found !== undefined) return vllmError(400, "BadRequestError", found)
  const list = tokens(body)
  return { status: 200, body: { count: list.length, max_model_len: 4096, tokens: list, token_strs: null } }
}

export const llamaCppLoading: Reply = {
  status: 503,
  body: { error: { code: 503, message: "Loading model", type: "unavailable_error" } }
}

export const llamaCpp: Handler = ({ body, path }: Asked) => {
  if (path !== "/v1/chat/completions/input_tokens") {
    return { status: 404, body: { error: { code: 404, message: "File Not Found", type: "not_found_error" } } }
  }
  const found = fault(body, ["model", "messages", "tools"])
  return found === undefined
    ? { status: 200, body: { object: "response.input_tokens", input_tokens: count(body) } }
    : { status: 400, body: { error: { code: 400, message: found, type: "invalid_request_error" } } }
}

export const tgiSlow: Reply = {
  status: 404,
  body: { error: "No fast tokenizer available", error_type: "no_fast_tokenizer" }
}

export const tgi: Handler = ({ body, path }: Asked) => {
  if (path !== "/chat_tokenize") return { status: 404, body: "" }
  const found = fault(body, ["model", "messages", "tools"])
  if (found !== undefined) return { status: 422, body: { error: found, error_type: "validation" } }
  const list = tokens(body).map((id) => ({ id, text: "t", start: 0, stop: 1 }))
  return { status: 200, body: { tokenize_response: list, templated_text: "<s>" } }
}
