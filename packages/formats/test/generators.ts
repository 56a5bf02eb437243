/**
 * Messages in normal form, for property tests: any roles in any order, what no provider would send included.
 */
import { FastCheck as fc } from "effect"
import { Message } from "effect-memory"

/** Text of several scripts, blank text included. */
export const text: fc.Arbitrary<string> = fc.oneof(
  fc.constantFrom(
    "",
    " ",
    "Which tram goes to the zoo?",
    "動物園はどこですか",
    "حديقة",
    "👩‍👩‍👧‍👦 e\u0301",
    "line\nline\u2028",
    "{\"a\":1}"
  ),
  fc.string({ unit: "binary", maxLength: 12 }).map((made) => made.toWellFormed())
)

export const id: fc.Arbitrary<string> = fc.constantFrom("call_1", "call_2", "toolu_3", "x")

const name = fc.constantFrom("search", "read_file", "unknown")

/** JSON values without lone surrogates, which messages do not hold. */
export const value: fc.Arbitrary<unknown> = fc.oneof(
  text,
  fc.jsonValue({ maxDepth: 2 }).map((made): unknown => JSON.parse(JSON.stringify(made).toWellFormed())),
  fc.dictionary(fc.constantFrom("city", "__proto__", "type"), text, { maxKeys: 3 })
)

const options: fc.Arbitrary<Message.ProviderOptions> = fc.oneof(
  { weight: 4, arbitrary: fc.constant({}) },
  { weight: 1, arbitrary: fc.constant({ anthropic: { cache_control: { type: "ephemeral" } } }) },
  { weight: 1, arbitrary: fc.constant({ openai: { detail: "low" } }) },
  { weight: 1, arbitrary: fc.constant({ "effect-memory": { protected: true } }) }
)

const textPart = fc.tuple(text, options).map(([one, kept]) => Message.text(one, kept))

const reasoning = fc.tuple(text, fc.constantFrom({}, { anthropic: { signature: "c2ln" } }))
  .map(([one, kept]) => Message.reasoning(one, kept))

const file = fc.record({
  mediaType: fc.constantFrom("image/png", "application/pdf", "text/plain", "audio/wav", "video/mp4"),
  data: fc.oneof(
    fc.constant("aGVsbG8="),
    fc.uint8Array({ maxLength: 5 }),
    fc.constant(new URL("https://example.org/a.png"))
  ),
  options
}).map(Message.file)

const call = fc.record({ id, name, params: value, providerExecuted: fc.boolean(), options }).map(Message.toolCall)

const result = fc.record({
  id,
  name,
  result: value,
  isFailure: fc.boolean(),
  providerExecuted: fc.constant(false),
  options
}).map(Message.toolResult)

const message: fc.Arbitrary<Message.Message> = fc.oneof(
  fc.tuple(text, options).map(([one, kept]) => Message.system(one, kept)),
  fc.tuple(fc.array(fc.oneof(textPart, file), { maxLength: 3 }), options).map(([parts, kept]) =>
    Message.user(parts, kept)
  ),
  fc.tuple(fc.array(fc.oneof(textPart, reasoning, call, result, file), { maxLength: 4 }), options).map(
    ([parts, kept]) => Message.assistant(parts, kept)
  ),
  fc.tuple(fc.array(result, { maxLength: 3 }), options).map(([parts, kept]) => Message.tool(parts, kept))
)

export const messages: fc.Arbitrary<ReadonlyArray<Message.Message>> = fc.array(message, { maxLength: 8 })

/** Leaves out `undefined` and gives optional fields a chance to be absent or `null`. */
export const maybe = <A>(made: fc.Arbitrary<A>): fc.Arbitrary<A | null | undefined> =>
  fc.oneof({ weight: 3, arbitrary: made }, { weight: 1, arbitrary: fc.constantFrom(null, undefined) })
