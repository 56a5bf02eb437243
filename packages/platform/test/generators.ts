/**
 * Conversations to send: as agents record them, and in any disorder.
 */
import { FastCheck as fc } from "effect"
import { Message } from "effect-memory"

const text = fc.constantFrom(
  "Where does the bus stop?",
  "明日の天気は?",
  "const x = 1\n",
  " \u{1F9ED} north",
  "<|endoftext|>",
  "\"quoted\" \\ and \u0000"
)

const anyText = fc.oneof(text, fc.constantFrom("", " ", "\n\t", "trailing  \n"))

const json = fc.jsonValue({ maxDepth: 2 })

const params = fc.dictionary(fc.constantFrom("a", "b", "cache_control", "content"), json, { maxKeys: 3 })

const pixel = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="

const file = fc.constantFrom(
  Message.file({ mediaType: "image/png", data: pixel }),
  Message.file({ mediaType: "application/pdf", data: "JVBERi0xLjQK", fileName: "a.pdf" }),
  Message.file({ mediaType: "image/jpeg", data: new URL("https://example.com/a.jpg") }),
  Message.file({ mediaType: "application/zip", data: "UEsDBA==" })
)

const options: fc.Arbitrary<Message.ProviderOptions> = fc.constantFrom<Array<Message.ProviderOptions>>(
  {},
  {},
  { anthropic: { cacheControl: { type: "ephemeral" } } },
  { anthropic: { cache_control: { type: "ephemeral" } } }
)

const reasoning = fc.oneof(
  text.map((each) => Message.reasoning(each)),
  text.map((each) => Message.reasoning(each, { anthropic: { signature: "c2ln" } })),
  text.map((each) => Message.reasoning(each, { google: { thoughtSignature: "c2ln" } }))
)

/** A step of the assistant: what it says and calls, and what becomes of its calls. */
const step = fc.record({
  thinks: fc.option(reasoning, { nil: undefined }),
  says: fc.option(text, { nil: undefined }),
  calls: fc.array(
    fc.record({ params, result: fc.oneof(json, text), fate: fc.constantFrom("now", "now", "now", "late", "never") }),
    { maxLength: 3 }
  ),
  apart: fc.boolean(),
  interjection: fc.option(text, { nil: undefined, freq: 6 })
})

const round = fc.record({
  asks: fc.array(fc.oneof(text.map((each) => Message.text(each)), file), { minLength: 1, maxLength: 2 }),
  options,
  steps: fc.array(step, { maxLength: 3 }),
  answer: fc.option(text, { nil: undefined })
})

/** Conversations as agents record them: parallel calls, late and missing results, interjections, open ends. */
export const conversation: fc.Arbitrary<ReadonlyArray<Message.Message>> = fc.record({
  system: fc.option(text, { nil: undefined }),
  rounds: fc.array(round, { maxLength: 4 })
}).map(({ rounds, system }) => {
  const out: Array<Message.Message> = system === undefined ? [] : [Message.system(system)]
  let late: Array<Message.ToolResultPart> = []
  let id = 0
  for (const { answer, asks, options, steps } of rounds) {
    out.push(Message.user(asks, options))
    for (const { apart, calls, interjection, says, thinks } of steps) {
      const made = calls.map(({ fate, params, result }) => ({ id: `c${id++}`, name: "search", params, result, fate }))
      const parts: ReadonlyArray<Message.AssistantPart> = [
        ...(thinks === undefined ? [] : [thinks]),
        ...(says === undefined ? [] : [Message.text(says)]),
        ...made.map((call) => Message.toolCall(call))
      ]
      if (parts.length > 0) out.push(Message.assistant(parts, options))
      if (interjection !== undefined) out.push(Message.user(interjection))
      const results = made.filter(({ fate }) => fate === "now").map((call) => Message.toolResult(call))
      if (apart) out.push(...results.map((result) => Message.tool([result], options)))
      else if (results.length > 0) out.push(Message.tool(results))
      if (late.length > 0) out.push(Message.tool(late))
      late = made.filter(({ fate }) => fate === "late").map((call) => Message.toolResult(call))
    }
    if (answer !== undefined) out.push(Message.assistant(answer))
  }
  return out
})

const anyId = fc.constantFrom("a", "a", "b", "c", "__proto__")

const name = fc.constantFrom("search", "toString")

const providerExecuted = fc.constantFrom(false, false, true)

const anyCall = fc.record({ id: anyId, name, params: fc.oneof(params, json), providerExecuted })
  .map((call) => Message.toolCall(call))

const anyResult = fc.record({ id: anyId, name, result: json, isFailure: fc.boolean(), providerExecuted })
  .map((result) => Message.toolResult(result))

const list = <A>(of: fc.Arbitrary<A>) => fc.array(of, { maxLength: 4 })

const message: fc.Arbitrary<Message.Message> = fc.oneof(
  anyText.map((each) => Message.system(each)),
  list(fc.oneof(anyText.map((each) => Message.text(each)), file)).map((parts) => Message.user(parts)),
  list(fc.oneof(anyCall, anyCall, anyResult, anyText.map((each) => Message.text(each)), reasoning, file))
    .map((parts) => Message.assistant(parts)),
  list(anyResult).map((parts) => Message.tool(parts))
)

/** Any messages in any order. */
export const hostile: fc.Arbitrary<ReadonlyArray<Message.Message>> = fc.oneof(
  fc.array(message, { maxLength: 12 }),
  fc.tuple(conversation, fc.array(fc.tuple(fc.nat(30), message), { maxLength: 3 })).map(([messages, extra]) => {
    const out = [...messages]
    for (const [at, each] of extra) out.splice(at % (out.length + 1), at % 3, each)
    return out
  })
)
