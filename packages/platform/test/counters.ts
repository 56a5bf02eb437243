/**
 * Every counter with the server that it is for.
 */
import {
  AnthropicTokenCounter,
  GeminiTokenCounter,
  LlamaCppTokenCounter,
  OpenAiTokenCounter,
  type RemotePolicy,
  type RemoteTokenCounter,
  TgiTokenCounter,
  VllmTokenCounter
} from "@effect-memory/platform"
import { Redacted } from "effect"
import { anthropic } from "./servers/anthropic.js"
import { gemini } from "./servers/gemini.js"
import { llamaCpp, tgi, vllm } from "./servers/local.js"
import { openai } from "./servers/openai.js"

export interface Given extends RemoteTokenCounter.Options {
  readonly baseUrl?: string | undefined
  readonly policy?: RemotePolicy.Options | undefined
  readonly model?: string | undefined
  readonly apiKey?: string | undefined
}

const with_ = <K extends string>({ apiKey, model, ...given }: Given, key: string, name: K) => ({
  ...given,
  apiKey: Redacted.make(apiKey ?? key),
  model: model ?? name
})

export const counters = [
  {
    name: "AnthropicTokenCounter",
    key: "sk-ant-valid",
    service: "anthropic",
    server: anthropic("strict"),
    path: "",
    make: (given: Given = {}) => AnthropicTokenCounter.make(with_(given, "sk-ant-valid", "claude-sonnet-4-5"))
  },
  {
    name: "OpenAiTokenCounter",
    key: "sk-valid",
    service: "openai",
    server: openai,
    path: "/v1",
    make: (given: Given = {}) => OpenAiTokenCounter.make(with_(given, "sk-valid", "gpt-5"))
  },
  {
    name: "GeminiTokenCounter",
    key: "AIza-valid",
    service: "gemini",
    server: gemini,
    path: "/v1beta",
    make: (given: Given = {}) => GeminiTokenCounter.make(with_(given, "AIza-valid", "gemini-2.5-pro"))
  },
  {
    name: "VllmTokenCounter",
    key: "vllm-key",
    service: "vllm",
    server: vllm,
    path: "",
    make: (given: Given = {}) => VllmTokenCounter.make(with_(given, "vllm-key", "local"))
  },
  {
    name: "LlamaCppTokenCounter",
    key: "llama-key",
    service: "llama.cpp",
    server: llamaCpp,
    path: "",
    make: (given: Given = {}) => LlamaCppTokenCounter.make(with_(given, "llama-key", "local"))
  },
  {
    name: "TgiTokenCounter",
    key: "tgi-key",
    service: "tgi",
    server: tgi,
    path: "",
    make: (given: Given = {}) => TgiTokenCounter.make(with_(given, "tgi-key", "local"))
  }
] as const
