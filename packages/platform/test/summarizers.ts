/**
 * The summarizers of all services, and services that write what they are told to.
 */
import { AnthropicSummarizer, GeminiSummarizer, OpenAiSummarizer, type RemotePolicy } from "@effect-memory/platform"
import { Redacted } from "effect"
import * as anthropic from "./servers/anthropic.js"
import * as openai from "./servers/openai.js"
import { type Asked, type Handler, isRecord, type Reply, unknownFields } from "./servers/server.js"

/** How a model ends. */
export type Ending =
  | "stop"
  | "length"
  | "refusal"
  | "reasoning only"
  | "thought too long"
  | "no usage"
  | "odd usage"

export interface Given {
  readonly baseUrl?: string | undefined
  readonly policy?: RemotePolicy.Options | undefined
}

type Json = { readonly [key: string]: unknown }

const numberIn = (value: unknown): boolean => typeof value === "number" && Number.isInteger(value) && value > 0

const ok = (body: unknown): Reply => ({ status: 200, headers: { "retry-after": "59" }, body })

const anthropicAnswer = (text: string, ending: Ending): Json => ({
  id: "msg_1",
  type: "message",
  role: "assistant",
  content: [
    { type: "thinking", thinking: "hm", signature: "c2ln" },
    ...(ending === "reasoning only" || ending === "thought too long" || text === "" ? [] : [{ type: "text", text }])
  ],
  stop_reason: ending === "length" || ending === "thought too long"
    ? "max_tokens"
    : ending === "refusal"
    ? "refusal"
    : "end_turn",
  ...(ending === "no usage" ? {} : {
    usage: ending === "odd usage" ? { input_tokens: "3", output_tokens: -1 } : {
      input_tokens: 3,
      cache_creation_input_tokens: null,
      cache_read_input_tokens: 97,
      output_tokens: 7
    }
  })
})

const openaiAnswer = (text: string, ending: Ending): Json => ({
  id: "chatcmpl-1",
  object: "chat.completion",
  choices: [{
    index: 0,
    message: ending === "refusal"
      ? { role: "assistant", content: null, refusal: "I cannot." }
      : ending === "reasoning only"
      ? { role: "assistant", content: "", reasoning_content: "hm" }
      : { role: "assistant", content: ending === "thought too long" ? null : text, refusal: null },
    finish_reason: ending === "length" || ending === "thought too long" ? "length" : "stop"
  }],
  ...(ending === "no usage" ? { usage: null } : {
    usage: ending === "odd usage" ? { prompt_tokens: null } : {
      prompt_tokens: 100,
      completion_tokens: 7,
      prompt_tokens_details: { cached_tokens: 97 }
    }
  })
})

const geminiAnswer = (text: string, ending: Ending): Json => ({
  ...(ending === "refusal" ? { promptFeedback: { blockReason: "PROHIBITED_CONTENT" } } : {
    candidates: [{
      ...(ending === "thought too long"
        ? { content: { role: "model" } }
        : {
          content: {
            role: "model",
            parts: [{ text: "hm", thought: true }, ...(ending === "reasoning only" ? [] : [{ text }])]
          }
        }),
      finishReason: ending === "length" || ending === "thought too long" ? "MAX_TOKENS" : "STOP"
    }]
  }),
  ...(ending === "no usage" ? {} : {
    usageMetadata: ending === "odd usage"
      ? { promptTokenCount: 1.5, candidatesTokenCount: 2 }
      : { promptTokenCount: 100, candidatesTokenCount: 5, thoughtsTokenCount: 2 }
  })
})

const record = (value: unknown): Json => isRecord(value) ? value : {}

const anthropicHandler = (text: string, ending: Ending): Handler => ({ body, headers, path }: Asked) => {
  const asked = record(body)
  const unknown = unknownFields(asked, ["model", "max_tokens", "system", "messages"])
  if (path !== "/v1/messages") return anthropic.error(404, "not_found_error", "Not Found")
  if (headers["x-api-key"] !== "sk-ant-valid" || headers["anthropic-version"] !== "2023-06-01") {
    return anthropic.error(401, "authentication_error", "invalid x-api-key")
  }
  return unknown.length > 0 || !numberIn(asked.max_tokens)
    ? anthropic.error(400, "invalid_request_error", "max_tokens: Field required")
    : ok(anthropicAnswer(text, ending))
}

const openaiHandler = (text: string, ending: Ending): Handler => ({ body, headers, path }: Asked) => {
  const asked = record(body)
  const unknown = unknownFields(asked, ["model", "messages", "max_tokens", "max_completion_tokens"])
  if (path !== "/v1/chat/completions") return openai.error(404, "invalid_request_error", `Invalid URL (POST ${path})`)
  if (headers.authorization !== "Bearer sk-valid") {
    return openai.error(401, "invalid_request_error", "Incorrect API key provided", "invalid_api_key")
  }
  return unknown.length > 0 || numberIn(asked.max_tokens) === numberIn(asked.max_completion_tokens)
    ? openai.error(400, "invalid_request_error", "Unsupported parameter")
    : ok(openaiAnswer(text, ending))
}

const geminiHandler = (text: string, ending: Ending): Handler => ({ body, headers, path }: Asked) => {
  const asked = record(body)
  const unknown = unknownFields(asked, ["contents", "systemInstruction", "generationConfig"])
  const refused = (code: number, status: string): Reply => ({
    status: code,
    body: { error: { code, status, message: status } }
  })
  if (path !== "/v1beta/models/gemini-2.5-flash-lite:generateContent") return refused(404, "NOT_FOUND")
  if (headers["x-goog-api-key"] !== "AIza-valid") return refused(400, "INVALID_ARGUMENT")
  return unknown.length > 0 || !numberIn(record(asked.generationConfig).maxOutputTokens)
    ? refused(400, "INVALID_ARGUMENT")
    : ok(geminiAnswer(text, ending))
}

export const summarizers = [
  {
    name: "AnthropicSummarizer",
    key: "sk-ant-valid",
    path: "",
    server: anthropicHandler,
    make: (given: Given = {}, key = "sk-ant-valid") =>
      AnthropicSummarizer.make({ apiKey: Redacted.make(key), model: "claude-haiku-4-5", ...given })
  },
  {
    name: "OpenAiSummarizer",
    key: "sk-valid",
    path: "/v1",
    server: openaiHandler,
    make: (given: Given = {}, key = "sk-valid") =>
      OpenAiSummarizer.make({ apiKey: Redacted.make(key), model: "gpt-4.1-mini", ...given })
  },
  {
    name: "GeminiSummarizer",
    key: "AIza-valid",
    path: "/v1beta",
    server: geminiHandler,
    make: (given: Given = {}, key = "AIza-valid") =>
      GeminiSummarizer.make({ apiKey: Redacted.make(key), model: "gemini-2.5-flash-lite", ...given })
  }
] as const
