/**
 * Recorded requests, where they are at hand.
 */
import * as fs from "node:fs"
import { fileURLToPath } from "node:url"
import { HttpClient } from "@effect/platform"
import { assert, describe, it } from "@effect/vitest"
import {
  AnthropicMessages,
  type Codec,
  Conversation,
  Gemini,
  OpenAiChat,
  OpenAiResponses
} from "@effect-memory/formats"
import { Effect, Either } from "effect"
import { Message } from "effect-memory"
import { counters } from "./counters.js"
import { client, type Handler, isRecord } from "./servers/server.js"

const folder = fileURLToPath(new URL("../../../../shared/data/", import.meta.url))

interface Recorded {
  readonly kind: string
  readonly status: number
  readonly request: { readonly [field: string]: unknown }
  readonly response: unknown
}

const [anthropic, openai, gemini, vllm] = counters

const sources: ReadonlyArray<readonly [string, Codec.Codec, typeof counters[number], string]> = [
  ["anthropic-messages", AnthropicMessages.codec, anthropic, "messages"],
  ["openai-responses", OpenAiResponses.codec, openai, "input"],
  ["gemini-contents", Gemini.codec, gemini, "contents"],
  ["openai-chat", OpenAiChat.codec, vllm, "messages"]
]

const read = (name: string): ReadonlyArray<Recorded> =>
  fs.readFileSync(`${folder}${name}/recorded-requests-with-usage.jsonl`, "utf8").trim().split("\n")
    .map((line) => JSON.parse(line))

/** A result that is no error need not say so. */
const normal = (value: unknown): unknown =>
  JSON.parse(JSON.stringify(value), (key, each) => key === "is_error" && each === false ? undefined : each)

const decode = (codec: Codec.Codec, value: unknown): Codec.Decoded =>
  codec.layout === "document" ? Either.getOrThrow(codec.decode(value)) : assert.fail("no document")

const over = (of: typeof counters[number], handler: Handler) =>
  Effect.gen(function*() {
    const server = yield* client(handler)
    const counter = yield* Effect.provideService(of.make(), HttpClient.HttpClient, server.client)
    return {
      seen: server.seen,
      count: (messages: ReadonlyArray<Message.Message>) =>
        counter.countConversation?.(messages) ?? Effect.die("no count")
    }
  })

describe.skipIf(!fs.existsSync(folder))("recorded requests", () => {
  for (const [name, codec, own, field] of sources) {
    it(`${name} pass through the encoder unchanged`, () => {
      for (const { request } of read(name)) {
        const { envelope = { at: "", fields: {} }, messages } = decode(codec, request)
        const { values } = codec.encode({ ...Conversation.make(messages), format: codec.id, envelope })
        assert.deepStrictEqual(normal(values), normal([request]))
      }
    })

    it.scoped(`${name} are sent to every service as it takes them`, () =>
      Effect.gen(function*() {
        const all = read(name).filter(({ status }) => status === 200)
        for (const each of counters) {
          const { count, seen } = yield* over(each, each.server)
          for (const { request } of all) {
            const { messages } = decode(codec, request)
            yield* count(messages)
          }
          assert.isAbove((yield* seen).length, all.length / 2)
        }
      }))

    it.scoped(`${name} are counted as they were`, () =>
      Effect.gen(function*() {
        for (const { kind, request, response, status } of read(name)) {
          if (kind !== "count" || status !== 200 || !isRecord(response)) continue
          const { messages } = decode(codec, request)
          // This one is blank, which is not sent.
          if (
            Message.parts(messages[messages.length - 1]).some((part) => part.type === "text" && part.text === "")
          ) continue
          const { count, seen } = yield* over(own, () => ({ status: 200, body: response }))
          assert.strictEqual(yield* count(messages), response.input_tokens ?? response.totalTokens)
          const [{ body }] = yield* seen
          const sent = isRecord(body) && isRecord(body.generateContentRequest) ? body.generateContentRequest : body
          assert.isTrue(isRecord(sent))
          assert.deepStrictEqual((sent as Recorded["request"])[field], request[field])
        }
      }))
  }
})
