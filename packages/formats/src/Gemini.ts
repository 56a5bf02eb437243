/**
 * Gemini: request bodies with `contents`, lists of contents, and responses with `candidates`.
 *
 * Responses of functions stand in `tool` messages of their own; calls without an id are given one. A `thoughtSignature`
 * is kept in `options.google` and comes back byte-identical. Code that the model ran itself is a call with
 * `providerExecuted`; parts of other kinds, those with names in snake case among them, are kept as files without data.
 *
 * Not carried when written: reasoning of another provider, calls that another provider ran itself, and the place of
 * system messages, which all go into `systemInstruction`.
 *
 * @since 0.1.0
 */
import * as Either from "effect/Either"
import type { Decoded, DocumentCodec, Encoded, Issue, Likeness } from "./Codec.js"
import type { Conversation } from "./Conversation.js"
import * as decode from "./internal/decode.js"
import * as envelope from "./internal/envelope.js"
import * as read from "./internal/geminiDecode.js"
import * as write from "./internal/geminiEncode.js"
import * as schema from "./internal/geminiSchema.js"
import * as json from "./internal/json.js"
import * as options from "./internal/options.js"

const id = read.format

const check = decode.checker(schema.Content)

const matchContent = (value: unknown): Likeness =>
  json.isRecord(value) && Array.isArray(value.parts) && !("id" in value) &&
    (value.role === undefined || ["user", "model", "function", "tool"].includes(String(value.role))) &&
    value.parts.every((part) => json.isRecord(part) && !("type" in part))
    ? 3
    : 0

const match = (value: unknown): Likeness => {
  if (Array.isArray(value)) return envelope.all(value, matchContent)
  if (!json.isRecord(value)) return 0
  if (Array.isArray(value.contents)) return value.contents.length === 0 ? 2 : envelope.all(value.contents, matchContent)
  return isResponse(value) ? 3 : 0
}

const isResponse = (
  value: unknown
): value is json.JsonRecord & { readonly candidates: ReadonlyArray<json.JsonRecord> } =>
  json.isRecord(value) && Array.isArray(value.candidates) && json.isRecord(value.candidates[0]) &&
  json.isRecord(value.candidates[0].content)

const usage: DocumentCodec["usage"] = (value) =>
  envelope.usage(value, {
    input: ["promptTokenCount"],
    output: ["candidatesTokenCount", "thoughtsTokenCount"],
    at: "usageMetadata"
  }) ?? envelope.usage(value, { input: ["totalTokens"], output: [""], at: "" })

const response = (
  value: json.JsonRecord & { readonly candidates: ReadonlyArray<json.JsonRecord> }
): Either.Either<Decoded, Issue> => {
  const [{ content, ...candidate }, ...others] = value.candidates
  return Either.mapBoth(check(content), {
    onLeft: decode.at("candidates.0.content"),
    onRight: (checked) => ({
      messages: read.messages(checked, read.state()),
      usage: envelope.answerUsage(usage(value)),
      envelope: { at: "candidates", fields: { ...value, candidates: [candidate, ...others] } }
    })
  })
}

const systemKeys = ["systemInstruction", "system_instruction"]

const request = (value: unknown): Either.Either<Decoded, Issue> =>
  Either.flatMap(envelope.open(value, ["contents"]), ({ at, fields, list }) => {
    const state = read.state()
    const key = systemKeys.find((name) => json.isRecord(fields[name]))
    const prompt = key === undefined
      ? Either.right([])
      : Either.mapBoth(check(fields[key]), {
        onLeft: decode.at(key),
        onRight: (content) => read.system(content, key)
      })
    return Either.flatMap(prompt, (first) =>
      Either.map(
        decode.each(list, at, (item) => Either.map(check(item), (content) => read.messages(content, state))),
        (found) => ({
          messages: [...first, ...found.flat()],
          envelope: { at, fields: first.length > 0 && key !== undefined ? json.rest(fields, [key]) : fields }
        })
      ))
  })

const encode = (conversation: Conversation): Encoded => {
  const lost = options.ledger("lost")
  const { at, fields } = envelope.own(conversation, id, "contents", lost)
  const { instruction, others } = write.system(conversation.messages, lost)
  const contents = write.contents(others, lost)
  if (at === "candidates" && contents.length === 1 && Array.isArray(fields.candidates)) {
    const [candidate, ...more]: ReadonlyArray<unknown> = fields.candidates
    return {
      values: [{ ...fields, candidates: [{ ...json.record(candidate), content: contents[0] }, ...more] }],
      notes: lost.notes()
    }
  }
  // A list has no place for the system instruction.
  const place = at === "" && Object.keys(instruction).length === 0 ? "" : "contents"
  const value = envelope.wrap(place, { ...json.rest(fields, ["candidates"]), ...instruction }, contents)
  return { values: [value], notes: lost.notes() }
}

/**
 * @since 0.1.0
 * @category codecs
 */
export const codec: DocumentCodec = {
  id,
  title: "Gemini",
  rules: "gemini",
  layout: "document",
  match,
  decode: (value) => isResponse(value) ? response(value) : request(value),
  usage,
  encode
}
