/**
 * A small text of every format, with the shapes that its reader tells apart.
 */
export const lines = (values: ReadonlyArray<unknown>): string =>
  values.map((value) => `${JSON.stringify(value)}\n`).join("")

const image = { type: "image", source: { type: "base64", media_type: "image/png", data: "AAAA" } }

const call = { id: "a", type: "function", function: { name: "find", arguments: "{\"q\": \"zoo\"}" } }

const chat = [
  { role: "system", content: [{ type: "text", text: "Be brief." }, { type: "text", text: "動物園" }] },
  {
    role: "user",
    content: [{ type: "text", text: "hi" }, { type: "image_url", image_url: { url: "data:image/png;base64,AAAA" } }]
  },
  { role: "assistant", content: null, refusal: null, tool_calls: [call, { ...call, id: "b" }] },
  { role: "tool", tool_call_id: "a", content: "found", name: "find" },
  { role: "tool", tool_call_id: "b", content: [{ type: "text", text: "nothing" }] },
  { role: "assistant", content: "Done.", reasoning_content: "hm" }
]

const anthropic = {
  model: "claude-x",
  system: [{ type: "text", text: "Be brief.", cache_control: { type: "ephemeral" } }],
  messages: [
    { role: "user", content: [{ type: "text", text: "hi" }, image] },
    {
      role: "assistant",
      content: [
        { type: "thinking", thinking: "hm", signature: "c2ln" },
        { type: "redacted_thinking", data: "AAAA" },
        { type: "server_tool_use", id: "s", name: "web_search", input: { query: "zoo" } },
        {
          type: "web_search_tool_result",
          tool_use_id: "s",
          content: [{ type: "web_search_result", url: "https://example.org" }]
        },
        { type: "tool_use", id: "a", name: "find", input: { q: "zoo" } }
      ]
    },
    {
      role: "user",
      content: [{ type: "tool_result", tool_use_id: "a", content: [image], is_error: true }, {
        type: "text",
        text: "so?"
      }]
    },
    { role: "assistant", content: [{ type: "compaction", content: "Earlier." }, { type: "text", text: "No." }] }
  ]
}

const claudeLine = (uuid: string, message: object, more: object = {}) => ({ uuid, sessionId: "s", ...more, message })

const claude = [
  { type: "file-history-snapshot", messageId: "m", snapshot: {} },
  claudeLine("1", { role: "user", content: "hi" }, { type: "user" }),
  claudeLine("2", {
    id: "m",
    role: "assistant",
    model: "claude-x",
    content: [{ type: "text", text: "Look." }],
    usage: { input_tokens: 1, output_tokens: 1 }
  }, { type: "assistant" }),
  claudeLine("3", { id: "m", role: "assistant", content: [{ type: "tool_use", id: "a", name: "find", input: {} }] }, {
    type: "assistant"
  }),
  claudeLine("4", { role: "user", content: [{ type: "tool_result", tool_use_id: "a", content: "x" }] }, {
    type: "user",
    toolUseResult: {}
  }),
  claudeLine("5", { role: "user", content: "Summary." }, { type: "user", isCompactSummary: true })
]

const responses = {
  model: "gpt-5",
  instructions: "Be brief.",
  input: [
    {
      role: "user",
      content: [{ type: "input_text", text: "hi" }, { type: "input_image", image_url: "https://example.org" }]
    },
    { type: "reasoning", id: "r", summary: [{ type: "summary_text", text: "hm" }], encrypted_content: "gAAA" },
    { type: "function_call", call_id: "a", name: "find", arguments: "{ }" },
    { type: "function_call_output", call_id: "a", output: [{ type: "input_text", text: "x" }] },
    { type: "mcp_call", id: "m", name: "x", server_label: "s", arguments: "{}", output: "y" },
    { type: "tool_search_call", call_id: "t", execution: "client", arguments: {} },
    { type: "tool_search_output", call_id: "t", execution: "client", tools: [] },
    { type: "compaction", id: "c", encrypted_content: "gAAA" },
    { type: "message", id: "m", role: "assistant", content: [{ type: "output_text", text: "Done.", annotations: [] }] }
  ]
}

const gemini = {
  systemInstruction: { parts: [{ text: "Be brief." }] },
  contents: [
    { role: "user", parts: [{ text: "hi" }, { inlineData: { mimeType: "image/png", data: "AAAA" } }] },
    {
      role: "model",
      parts: [{ text: "hm", thought: true }, { functionCall: { name: "find", args: {} }, thoughtSignature: "s" }]
    },
    { role: "user", parts: [{ functionResponse: { name: "find", response: { output: "x" } } }] },
    {
      role: "model",
      parts: [{ executableCode: { language: "PYTHON", code: "1" } }, { codeExecutionResult: { outcome: "OUTCOME_OK" } }]
    }
  ]
}

const geminiCli = {
  sessionId: "s",
  messages: [
    { id: "1", type: "user", content: "hi" },
    { id: "2", type: "info", content: "x" },
    {
      id: "3",
      type: "gemini",
      content: "Look.",
      thoughts: [{ subject: "a", description: "b" }],
      tokens: { input: 1, output: 1 },
      toolCalls: [{
        id: "t",
        name: "x",
        args: {},
        status: "success",
        result: [{ functionResponse: { id: "t", name: "x", response: { output: "y" } } }]
      }]
    }
  ]
}

const pi = [
  { type: "session", id: "s", cwd: "/" },
  {
    type: "message",
    message: {
      role: "user",
      content: [{ type: "text", text: "hi" }, { type: "image", data: "AAAA", mimeType: "image/png" }]
    }
  },
  {
    type: "message",
    message: {
      role: "assistant",
      content: [{ type: "thinking", thinking: "hm" }, { type: "toolCall", id: "a", name: "read", arguments: {} }],
      usage: { input: 1, output: 1 }
    }
  },
  {
    type: "message",
    message: {
      role: "toolResult",
      toolCallId: "a",
      toolName: "read",
      content: [{ type: "text", text: "x" }],
      isError: false
    }
  },
  { type: "compaction", summary: "Earlier.", tokensBefore: 1 }
]

const ui = [
  {
    id: "1",
    role: "user",
    parts: [{ type: "text", text: "hi" }, { type: "file", mediaType: "image/png", url: "data:image/png;base64,AAAA" }]
  },
  {
    id: "2",
    role: "assistant",
    parts: [
      { type: "step-start" },
      { type: "reasoning", text: "hm", providerMetadata: { openai: { itemId: "r", reasoningEncryptedContent: "g" } } },
      { type: "tool-find", toolCallId: "a", state: "output-available", input: {}, output: [image] },
      { type: "dynamic-tool", toolName: "x", toolCallId: "b", state: "output-error", input: null, errorText: "no" }
    ]
  }
]

const model = [
  { role: "user", content: [{ type: "image", image: "AAAA" }, { type: "text", text: "hi", providerOptions: {} }] },
  { role: "assistant", content: [{ type: "tool-call", toolCallId: "a", toolName: "find", input: {} }] },
  {
    role: "tool",
    content: [{ type: "tool-result", toolCallId: "a", toolName: "find", output: { type: "json", value: [1] } }]
  }
]

const lc = (name: string, kwargs: object) => ({
  lc: 1,
  type: "constructor",
  id: ["langchain_core", "messages", name],
  kwargs
})

const langchain = {
  messages: [
    lc("HumanMessage", { content: ["hi", { type: "image_url", image_url: { url: "data:image/png;base64,AAAA" } }] }),
    lc("AIMessage", {
      content: [{ type: "tool_use", id: "a", name: "x", input: {} }],
      tool_calls: [{ id: "a", name: "x", args: {} }],
      usage_metadata: { input_tokens: 1 }
    }),
    lc("ToolMessage", { content: "x", tool_call_id: "a", name: "x", status: "error" })
  ]
}

const sharegpt = [
  {
    system: "Be brief.",
    conversations: [
      { from: "human", value: "hi" },
      { from: "function_call", value: "[{\"name\": \"a\", \"arguments\": {}}, {\"name\": \"b\", \"arguments\": {}}]" },
      { from: "observation", value: "[1, 2]" },
      { from: "gpt", value: "Done." }
    ]
  },
  {
    messages: [
      { role: "user", content: [{ type: "text", value: "hi" }] },
      {
        role: "assistant",
        content: [{ type: "reasoning", value: "hm" }, {
          type: "tool_call",
          value: "{\"name\": \"a\", \"arguments\": {}}"
        }]
      },
      { role: "tool", content: [{ type: "text", value: "x" }] }
    ]
  }
]

const oasst = [
  { message_id: "1", parent_id: null, role: "prompter", text: "hi" },
  { message_id: "2", parent_id: "1", role: "assistant", text: "a", rank: 1 },
  { message_id: "3", parent_id: "1", role: "assistant", text: "b", rank: 0 },
  {
    message_tree_id: "t",
    prompt: { role: "prompter", text: "hi", replies: [{ role: "assistant", text: "a", replies: [] }] }
  }
]

const mtBench = [
  { question: { question_id: 1, turns: ["a", "b"] }, reference_answer: { choices: [{ turns: ["1"] }] } },
  { question_id: 2, category: "x", turns: ["a"] }
]

const native = [
  { role: "system", content: "Be brief.", options: {} },
  {
    role: "user",
    content: [{ type: "file", mediaType: "image/png", data: { _tag: "Uint8Array", base64: "AAAA" }, options: {} }],
    options: {}
  },
  {
    role: "assistant",
    content: [{ type: "tool-call", id: "a", name: "x", params: {}, providerExecuted: false, options: {} }]
  },
  {
    role: "tool",
    content: [{
      type: "tool-result",
      id: "a",
      name: "x",
      isFailure: false,
      result: [1],
      providerExecuted: false,
      options: {}
    }]
  }
]

/** Texts by the name of their format. */
export const corpus: Readonly<Record<string, string>> = {
  "openai-chat": lines([{ model: "gpt-4o", messages: chat }, {
    request: { messages: chat },
    usage: { prompt_tokens: 1 },
    response: { choices: [{ message: chat[5] }] }
  }]),
  "anthropic-messages": lines([anthropic, {
    type: "message",
    role: "assistant",
    content: anthropic.messages[1].content,
    usage: { input_tokens: 1 }
  }]),
  "openai-responses": JSON.stringify(responses, null, 2),
  gemini: lines([gemini]),
  "claude-code": lines(claude),
  "gemini-cli": JSON.stringify(geminiCli, null, 1),
  pi: lines(pi),
  "vercel-ui": JSON.stringify(ui),
  "vercel-model": JSON.stringify(model),
  langchain: JSON.stringify([langchain, langchain]),
  sharegpt: JSON.stringify(sharegpt),
  oasst: lines(oasst),
  "mt-bench": lines(mtBench),
  native: lines(native),
  "tau-bench": JSON.stringify([{ task_id: 1, traj: chat.slice(1) }]),
  openhands: JSON.stringify([{ instance_id: "i", run_id: "r", messages: chat }]),
  "swe-agent": JSON.stringify({
    trajectory: [],
    history: [...chat.slice(0, 3), { role: "tool", content: "x", tool_call_ids: ["a"] }]
  }),
  "mini-swe-agent": JSON.stringify([{ role: "user", content: "<returncode>0</returncode>" }])
}
