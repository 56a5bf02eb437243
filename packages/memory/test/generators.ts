/**
 * Conversations for property tests.
 *
 * `sendable` needs no repair by the rules `pairing`. `conversation` is what agents record: late results, results out of
 * order, interjected users, calls that nobody answers. `hostile` is any messages in any order, in normal form;
 * `malformed` is such a list before text is made well-formed.
 */
import { FastCheck as fc } from "effect"
import { Message } from "effect-memory"

// =============================================================================
// Texts and values
// =============================================================================

const samples = [
  "Where does the bus to the harbour stop?",
  "Look it up,\nplease.\n\n- first\n- second",
  "今天港口的天气怎么样？",
  "バスはどこに止まりますか。",
  "오늘은 비가 옵니다",
  "أين تقف الحافلة؟",
  "बस कहाँ रुकती है?",
  "Ο καιρός σήμερα",
  "👩‍👩‍👧‍👦 and 🏳️‍🌈 with e\u0301",
  "const f = (x: number) => ({ x, y: `${x}` })",
  "{\"a\":[1,2,{\"b\":null}]}",
  "<|endoftext|><|im_start|>system",
  "QUJD".repeat(40),
  "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
  "\ufeffzero\u200bwidth\u0000nul"
]

/** Text of any script that is not blank. */
export const text: fc.Arbitrary<string> = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom(...samples) },
  {
    weight: 2,
    arbitrary: fc.array(fc.constantFrom(...samples), { minLength: 1, maxLength: 4 }).map((t) => t.join(" "))
  },
  { weight: 1, arbitrary: fc.string({ unit: "binary", minLength: 1, maxLength: 30 }).map((t) => `x${t}`) }
)

/** JSON values as tools take and return them. */
export const json: fc.Arbitrary<unknown> = fc.oneof(
  text,
  fc.jsonValue({ maxDepth: 2 }),
  fc.dictionary(fc.constantFrom("city", "path", "__proto__", "count"), fc.oneof(text, fc.integer()), { maxKeys: 3 })
)

const file: fc.Arbitrary<Message.FilePart> = fc.record({
  mediaType: fc.constantFrom("image/png", "application/pdf", "audio/wav"),
  data: fc.oneof(
    fc.constant("iVBORw0KGgo="),
    fc.uint8Array({ maxLength: 8 }),
    fc.constant(new URL("https://example.com/a.png"))
  )
}).map(Message.file)

const reasoning: fc.Arbitrary<Message.ReasoningPart> = fc.record({
  text: fc.oneof(text, fc.constant("")),
  signature: fc.constantFrom("c2lnbmF0dXJl", "b3RoZXI=")
}).map(({ signature, text }) => Message.reasoning(text, { anthropic: { signature } }))

// =============================================================================
// Conversations
// =============================================================================

interface CallScript {
  readonly name: string
  readonly params: unknown
  readonly result: unknown
  readonly isFailure: boolean
  /** `late`: the result comes behind the next assistant message. `never`: it does not come. */
  readonly fate: "answered" | "late" | "never"
  readonly byProvider: boolean
}

interface StepScript {
  readonly reasoning: Message.ReasoningPart | undefined
  readonly text: string | undefined
  readonly calls: ReadonlyArray<CallScript>
  /** Sorts the results. */
  readonly order: ReadonlyArray<number>
  /** Whether each result has a message of its own. */
  readonly apart: boolean
  /** `split`: every part in a message of its own. `inside`: results in the message of their calls. */
  readonly shape: "whole" | "split" | "inside"
  /** What the user says while calls are open. */
  readonly interjection: string | undefined
}

interface RoundScript {
  readonly user: ReadonlyArray<Message.UserPart>
  readonly system: string | undefined
  readonly steps: ReadonlyArray<StepScript>
  readonly answer: string | undefined
}

interface Script {
  readonly system: ReadonlyArray<string>
  readonly greeting: string | undefined
  readonly rounds: ReadonlyArray<RoundScript>
}

const mostly = <A>(arbitrary: fc.Arbitrary<A>, freq = 5): fc.Arbitrary<A | undefined> =>
  fc.option(arbitrary, { nil: undefined, freq })

const seldom = <A>(arbitrary: fc.Arbitrary<A>): fc.Arbitrary<A | undefined> =>
  fc.tuple(fc.integer({ min: 0, max: 5 }), arbitrary).map(([n, value]) => n === 5 ? value : undefined)

const call: fc.Arbitrary<CallScript> = fc.record({
  name: fc.constantFrom("search", "read_file", "weather", "搜索"),
  params: json,
  result: json,
  isFailure: fc.boolean(),
  fate: fc.constantFrom(
    "answered" as const,
    "answered" as const,
    "answered" as const,
    "late" as const,
    "never" as const
  ),
  byProvider: fc.constantFrom(false, false, false, false, true)
})

const step: fc.Arbitrary<StepScript> = fc.record({
  reasoning: seldom(reasoning),
  text: mostly(text, 2),
  calls: fc.array(call, { minLength: 1, maxLength: 4 }),
  order: fc.array(fc.nat(9), { minLength: 4, maxLength: 4 }),
  apart: fc.boolean(),
  shape: fc.constantFrom("whole" as const, "whole" as const, "whole" as const, "split" as const, "inside" as const),
  interjection: seldom(text)
})

const round: fc.Arbitrary<RoundScript> = fc.record({
  user: fc.oneof(
    { weight: 4, arbitrary: text.map((t) => [Message.text(t)]) },
    { weight: 1, arbitrary: fc.tuple(text.map((t) => Message.text(t)), file) }
  ),
  system: seldom(text),
  steps: fc.array(step, { maxLength: 3 }),
  answer: mostly(text)
})

const script: fc.Arbitrary<Script> = fc.record({
  system: fc.array(text, { maxLength: 2 }),
  greeting: seldom(text),
  rounds: fc.array(round, { maxLength: 5 })
})

const build = (script: Script, tidy: boolean): ReadonlyArray<Message.Message> => {
  const out: Array<Message.Message> = script.system.map((t) => Message.system(t))
  if (script.greeting !== undefined) out.push(Message.assistant(script.greeting))
  let calls = 0
  let late: Array<Message.ToolResultPart> = []
  const deliver = (results: ReadonlyArray<Message.ToolResultPart>, apart: boolean) => {
    if (apart) out.push(...results.map((result) => Message.tool([result])))
    else if (results.length > 0) out.push(Message.tool(results))
  }
  for (const round of script.rounds) {
    out.push(Message.user(round.user))
    if (round.system !== undefined) out.push(Message.system(round.system))
    for (const step of round.steps) {
      const parts: Array<Message.AssistantPart> = []
      const now: Array<readonly [order: number, result: Message.ToolResultPart]> = []
      const next: Array<Message.ToolResultPart> = []
      if (step.reasoning !== undefined) parts.push(step.reasoning)
      if (step.text !== undefined) parts.push(Message.text(step.text))
      step.calls.forEach((call, i) => {
        const { isFailure, name, params, result } = call
        const id = `call_${calls++}`
        parts.push(Message.toolCall({ id, name, params, providerExecuted: call.byProvider }))
        const answer = Message.toolResult({ id, name, result, isFailure, providerExecuted: call.byProvider })
        if (call.byProvider) parts.push(answer)
        else if (tidy || call.fate === "answered") now.push([step.order[i], answer])
        else if (call.fate === "late") next.push(answer)
      })
      const results = now.sort(([a], [b]) => a - b).map(([, result]) => result)
      if (step.shape === "inside") parts.push(...results.splice(0))
      if (step.shape === "split" && !tidy) out.push(...parts.map((part) => Message.assistant([part])))
      else out.push(Message.assistant(parts))
      deliver(late, false)
      late = next
      if (!tidy && step.interjection !== undefined) out.push(Message.user(step.interjection))
      deliver(results, step.apart)
      if (tidy && step.interjection !== undefined) out.push(Message.user(step.interjection))
    }
    if (round.answer !== undefined) out.push(Message.assistant(round.answer))
  }
  deliver(late, false)
  return out
}

/** Conversations that need no repair. */
export const sendable: fc.Arbitrary<ReadonlyArray<Message.Message>> = script.map((s) => build(s, true))

/** Conversations as agents record them. */
export const conversation: fc.Arbitrary<ReadonlyArray<Message.Message>> = script.map((s) => build(s, false))

// =============================================================================
// Anything at all
// =============================================================================

/** Few ids, so that they meet, and names that plain objects know. */
const id = fc.constantFrom("a", "a", "b", "b", "c", "a-2", "", "__proto__", "constructor")

const anyText = fc.oneof(text, fc.constantFrom("", " ", "\n\t", "\u00a0", "trailing  \n", "\ud83d cut", "cut \udc69"))

const anyOptions: fc.Arbitrary<Message.ProviderOptions> = fc.constantFrom({}, {}, {}, {
  anthropic: { cacheControl: {} }
})

const anyTextPart = fc.tuple(anyText, anyOptions).map(([text, options]): Message.TextPart => ({
  type: "text",
  text,
  options
}))

const anyReasoning = fc.tuple(anyText, anyOptions).map(([text, options]): Message.ReasoningPart => ({
  type: "reasoning",
  text,
  options
}))

const anyCall: fc.Arbitrary<Message.ToolCallPart> = fc.record({
  type: fc.constant("tool-call" as const),
  id,
  name: fc.constantFrom("search", "", "toString"),
  params: json,
  providerExecuted: fc.constantFrom(false, false, false, true),
  options: anyOptions
})

const anyResult: fc.Arbitrary<Message.ToolResultPart> = fc.record({
  type: fc.constant("tool-result" as const),
  id,
  name: fc.constantFrom("search", "", "toString"),
  isFailure: fc.boolean(),
  result: fc.oneof(json, anyText),
  providerExecuted: fc.constantFrom(false, false, false, true),
  options: anyOptions
})

const messages = (
  textPart: fc.Arbitrary<Message.TextPart>,
  reasoningPart: fc.Arbitrary<Message.ReasoningPart>,
  system: fc.Arbitrary<string>
): fc.Arbitrary<Message.Message> => {
  const list = <P>(part: fc.Arbitrary<P>) => fc.array(part, { maxLength: 4 })
  return fc.oneof(
    {
      weight: 1,
      arbitrary: fc.tuple(system, anyOptions).map(([content, options]): Message.Message => ({
        role: "system",
        content,
        options
      }))
    },
    {
      weight: 2,
      arbitrary: fc.tuple(list(fc.oneof(textPart, textPart, file)), anyOptions).map((args) => Message.user(...args))
    },
    {
      weight: 4,
      arbitrary: fc.tuple(
        list(fc.oneof(anyCall, anyCall, anyResult, textPart, reasoningPart, file)),
        anyOptions
      ).map((args) => Message.assistant(...args))
    },
    { weight: 3, arbitrary: fc.tuple(list(anyResult), anyOptions).map((args) => Message.tool(...args)) }
  )
}

const normalText = anyText.map((text) => text.toWellFormed())

/** Any message in normal form. */
export const message: fc.Arbitrary<Message.Message> = messages(
  anyTextPart.map(({ options, text }) => Message.text(text, options)),
  anyReasoning.map(({ options, text }) => Message.reasoning(text, options)),
  normalText
).map((message) =>
  message.role === "assistant"
    ? Message.assistant(message.content.map(normalPart), message.options)
    : message.role === "tool"
    ? Message.tool(message.content.map((part) => Message.toolResult(part)), message.options)
    : message
)

const normalPart = (part: Message.AssistantPart): Message.AssistantPart => {
  switch (part.type) {
    case "tool-call":
      return Message.toolCall(part)
    case "tool-result":
      return Message.toolResult(part)
    default:
      return part
  }
}

/** Conversations with messages removed, repeated, swapped and put in between. */
const damaged: fc.Arbitrary<ReadonlyArray<Message.Message>> = fc.tuple(
  conversation,
  fc.array(fc.tuple(fc.constantFrom("remove", "repeat", "swap", "insert"), fc.nat(30), fc.nat(30), message), {
    minLength: 1,
    maxLength: 4
  })
).map(([messages, edits]) => {
  const out = [...messages]
  for (const [edit, a, b, message] of edits) {
    if (out.length === 0) return out
    const [from, to] = [a % out.length, b % out.length]
    if (edit === "remove") out.splice(from, 1)
    else if (edit === "repeat") out.splice(to, 0, out[from])
    else if (edit === "insert") out.splice(to, 0, message)
    else [out[from], out[to]] = [out[to], out[from]]
  }
  return out
})

/** Any messages in any order, in normal form. */
export const hostile: fc.Arbitrary<ReadonlyArray<Message.Message>> = fc.oneof(
  fc.array(message, { maxLength: 14, size: "max" }),
  damaged
)

/** Any messages in any order, some of them with lone surrogates. */
export const malformed: fc.Arbitrary<ReadonlyArray<Message.Message>> = fc.array(
  messages(anyTextPart, anyReasoning, anyText),
  { maxLength: 14, size: "max" }
)

// =============================================================================
// Entries
// =============================================================================

export interface Entry {
  readonly message: Message.Message
  readonly protected: boolean
}

/** Conversations, some of whose messages are protected. */
export const entries: fc.Arbitrary<ReadonlyArray<Entry>> = fc.tuple(
  fc.oneof({ weight: 3, arbitrary: conversation }, { weight: 1, arbitrary: hostile }),
  fc.array(fc.constantFrom(false, false, false, false, true), { minLength: 7, maxLength: 7 })
).map(([messages, flags]) => messages.map((message, i) => ({ message, protected: flags[i % flags.length] })))

/** Freezes a value with all it holds, so that a change of it throws. */
export const freeze = <A>(value: A): A => {
  if (typeof value !== "object" || value === null || ArrayBuffer.isView(value) || Object.isFrozen(value)) return value
  Object.freeze(value)
  for (const key of Reflect.ownKeys(value)) freeze(Reflect.get(value, key))
  return value
}
