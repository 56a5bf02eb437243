/** Recorded requests with what the provider billed for them, where the data folder stands beside the checkout. */
import { existsSync, readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import type { TiktokenCounter } from "@effect-memory/tiktoken"
import { Predicate } from "effect"
import { Message } from "effect-memory"

export interface Billed {
  readonly provider: string
  readonly model: string
  readonly messages: ReadonlyArray<Message.Message>
  readonly tools: ReadonlyArray<TiktokenCounter.ToolDefinition>
  /** Whether something is in it that a counter cannot see, such as a file behind an id or a tool of the provider. */
  readonly isOpaque: boolean
  /** Tokens of the prompt. */
  readonly tokens: number
}

const folder = fileURLToPath(new URL("../../../../../shared/data/", import.meta.url))

export const isPresent: boolean = existsSync(folder)

const get = (value: unknown, ...path: ReadonlyArray<string | number>): unknown =>
  path.reduce<unknown>(
    (at, key) => Predicate.isObject(at) ? (at as Record<PropertyKey, unknown>)[key] : undefined,
    value
  )

const list = (value: unknown): ReadonlyArray<unknown> =>
  Array.isArray(value) ? value : value === undefined ? [] : [value]

const string = (value: unknown): string => typeof value === "string" ? value : ""

const number = (value: unknown): number => typeof value === "number" ? value : 0

const lines = (file: string): ReadonlyArray<unknown> =>
  readFileSync(folder + file, "utf8").split("\n").filter((line) => line.trim() !== "").map((line) => JSON.parse(line))

const parseArguments = (json: unknown): unknown => {
  try {
    return JSON.parse(string(json))
  } catch {
    return json
  }
}

const image = (url: string): Message.FilePart =>
  Message.file({ mediaType: "image/png", data: url.startsWith("data:") ? url : new URL(url) })

// -----------------------------------------------------------------------------
// OpenAI
// -----------------------------------------------------------------------------

const openAiMessage = (message: unknown): Message.Message => {
  const parts = list(get(message, "content")).flatMap((part): ReadonlyArray<Message.UserPart> => {
    if (typeof part === "string") return [Message.text(part)]
    if (get(part, "type") === "image_url") return [image(string(get(part, "image_url", "url")))]
    return [Message.text(string(get(part, "text")))]
  })
  const text = parts.map((part) => part.type === "text" ? part.text : "").join("")
  switch (get(message, "role")) {
    case "user":
      return Message.user(parts)
    case "assistant":
      return Message.assistant([
        ...parts,
        ...list(get(message, "tool_calls")).map((call) =>
          Message.toolCall({
            id: string(get(call, "id")),
            name: string(get(call, "function", "name")),
            params: parseArguments(get(call, "function", "arguments"))
          })
        )
      ])
    case "tool":
      return Message.tool([Message.toolResult({ id: string(get(message, "tool_call_id")), name: "", result: text })])
    default:
      return Message.system(text)
  }
}

const openAi = (record: unknown): Billed => ({
  provider: "OpenAI",
  model: string(get(record, "request", "model")),
  messages: list(get(record, "request", "messages")).map(openAiMessage),
  tools: list(get(record, "request", "tools")).map((tool) => ({
    name: string(get(tool, "function", "name")),
    description: string(get(tool, "function", "description")),
    parameters: get(tool, "function", "parameters")
  })),
  isOpaque: get(record, "request", "response_format") !== undefined ||
    JSON.stringify(get(record, "request", "messages")).includes("\"file\""),
  tokens: number(get(record, "usage", "prompt_tokens"))
})

// -----------------------------------------------------------------------------
// Anthropic
// -----------------------------------------------------------------------------

const anthropicText = (content: unknown): string =>
  list(content).map((block) => typeof block === "string" ? block : string(get(block, "text"))).join("")

/** The messages that stand in one of Anthropic's: results of tools come in those of the user. */
const anthropicMessages = (role: unknown, content: unknown): ReadonlyArray<Message.Message> => {
  const blocks = list(content)
  const texts = blocks
    .map((block) => typeof block === "string" ? block : get(block, "type") === "text" ? string(get(block, "text")) : "")
    .filter((text) => text !== "")
    .map((text) => Message.text(text))
  const calls = blocks.filter((block) => get(block, "type") === "tool_use").map((block) =>
    Message.toolCall({ id: string(get(block, "id")), name: string(get(block, "name")), params: get(block, "input") })
  )
  const results = blocks.filter((block) => get(block, "type") === "tool_result").map((block) =>
    Message.toolResult({
      id: string(get(block, "tool_use_id")),
      name: "",
      result: anthropicText(get(block, "content"))
    })
  )
  if (role === "assistant") return [Message.assistant([...texts, ...calls])]
  return [
    ...(results.length > 0 ? [Message.tool(results)] : []),
    ...(texts.length > 0 ? [Message.user(texts)] : [])
  ]
}

const anthropicTokens = (usage: unknown): number =>
  number(get(usage, "input_tokens")) + number(get(usage, "cache_creation_input_tokens")) +
  number(get(usage, "cache_read_input_tokens"))

const anthropicOpaque =
  /server_tool|mcp|"document"|"image"|container|advisor|thinking|tool_search|compaction|context_management|tool_addition/

const anthropic = (record: unknown): Billed => {
  const request = get(record, "request")
  const system = anthropicText(get(request, "system"))
  return {
    provider: "Anthropic",
    model: string(get(request, "model")),
    messages: [
      ...(system === "" ? [] : [Message.system(system)]),
      ...list(get(request, "messages")).flatMap((message) =>
        anthropicMessages(get(message, "role"), get(message, "content"))
      )
    ],
    tools: list(get(request, "tools")).map((tool) => ({
      name: string(get(tool, "name")),
      description: string(get(tool, "description")),
      parameters: get(tool, "input_schema")
    })),
    isOpaque: anthropicOpaque.test(JSON.stringify(request)) ||
      list(get(request, "tools")).some((tool) => get(tool, "input_schema") === undefined),
    tokens: anthropicTokens(get(record, "usage"))
  }
}

// -----------------------------------------------------------------------------
// Gemini
// -----------------------------------------------------------------------------

const geminiMessage = (content: unknown): Message.Message => {
  const parts = list(get(content, "parts")).flatMap((part): ReadonlyArray<Message.TextPart | Message.ToolCallPart> => {
    if (get(part, "functionCall") !== undefined) {
      return [Message.toolCall({
        id: "",
        name: string(get(part, "functionCall", "name")),
        params: get(part, "functionCall", "args")
      })]
    }
    const response = get(part, "functionResponse", "response")
    return [Message.text(response === undefined ? string(get(part, "text")) : JSON.stringify(response))]
  })
  return Message.assistant(parts)
}

const gemini = (record: unknown): Billed => {
  const request = get(record, "request")
  const system = list(get(request, "systemInstruction", "parts")).map((part) => string(get(part, "text"))).join("")
  return {
    provider: "Gemini",
    model: string(get(record, "url")).replace(/^.*models\/|:.*$/g, ""),
    messages: [
      ...(system === "" ? [] : [Message.system(system)]),
      ...list(get(request, "contents")).map(geminiMessage)
    ],
    tools: list(get(request, "tools")).flatMap((tool) => list(get(tool, "functionDeclarations"))).map((tool) => ({
      name: string(get(tool, "name")),
      description: string(get(tool, "description")),
      parameters: get(tool, "parameters") ?? get(tool, "parametersJsonSchema") ?? get(tool, "parameters_json_schema")
    })),
    isOpaque: /inlineData|fileData|executableCode|thoughtSignature/.test(JSON.stringify(request)) ||
      list(get(request, "tools")).some((tool) => get(tool, "functionDeclarations") === undefined),
    tokens: number(get(record, "usage", "promptTokenCount")) || number(get(record, "usage", "totalTokens"))
  }
}

// -----------------------------------------------------------------------------

const read = (file: string, convert: (record: unknown) => Billed): ReadonlyArray<Billed> =>
  lines(`${file}/recorded-requests-with-usage.jsonl`)
    .filter((record) => get(record, "status") === 200)
    .map(convert)
    .filter((billed) => billed.tokens > 0)

export const openAiRequests = (): ReadonlyArray<Billed> => read("openai-chat", openAi)
export const anthropicRequests = (): ReadonlyArray<Billed> => read("anthropic-messages", anthropic)
export const geminiRequests = (): ReadonlyArray<Billed> => read("gemini-contents", gemini)

/** What was added between two requests of a Claude Code session, and by how many tokens the prompt grew. */
export const claudeCodeGrowth = (): ReadonlyArray<Billed> =>
  [
    "cc-compact-summary-synthetic",
    "cc-interrupted-unpaired-tool-use",
    "cc-small-thinking",
    "cc-two-records-on-one-line"
  ]
    .flatMap((session) => growthOf(readFileSync(`${folder}claude-code-jsonl/${session}.jsonl`, "utf8")))

const growthOf = (session: string): ReadonlyArray<Billed> => {
  const records = session.split("\n").map(parseArguments).filter((record) =>
    Predicate.isRecord(record) && get(record, "isSidechain") !== true &&
    get(record, "message", "model") !== "<synthetic>"
  )
  // The lines of a message repeat its usage; only that of the last one is final.
  const usages = new Map(records.map((record) => [get(record, "message", "id"), get(record, "message", "usage")]))
  const growth: Array<Billed> = []
  let added: Array<Message.Message> = []
  let previous = 0
  let current: unknown
  for (const record of records) {
    const id = get(record, "message", "id")
    if (get(record, "type") === "assistant" && id !== current) {
      current = id
      const tokens = anthropicTokens(usages.get(id))
      if (previous > 0 && tokens > previous) {
        growth.push({
          provider: "Anthropic",
          model: string(get(record, "message", "model")),
          messages: added,
          tools: [],
          isOpaque: false,
          tokens: tokens - previous
        })
      }
      previous = tokens
      added = []
    }
    added.push(...anthropicMessages(get(record, "message", "role"), get(record, "message", "content")))
  }
  return growth.filter(({ tokens }) => tokens >= 100)
}
