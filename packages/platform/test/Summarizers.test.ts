import { FetchHttpClient, HttpClient } from "@effect/platform"
import { assert, describe, it } from "@effect/vitest"
import { AnthropicSummarizer, GeminiSummarizer, OpenAiSummarizer, type RemoteError } from "@effect-memory/platform"
import type { Duration } from "effect"
import {
  Cause,
  Config,
  ConfigProvider,
  Effect,
  Exit,
  Fiber,
  Inspectable,
  Layer,
  Logger,
  LogLevel,
  Metric,
  TestClock,
  Tracer
} from "effect"
import type { MemoryError } from "effect-memory"
import { Message, Summarizer } from "effect-memory"
import { client, type Fault, listen } from "./servers/server.js"
import { type Ending, type Given, summarizers } from "./summarizers.js"

const secret = "the vault opens at midnight"

const request: Summarizer.Request = {
  messages: [Message.user(secret), Message.assistant("Noted.")],
  previous: "A vault was mentioned.",
  maxTokens: 50
}

type Each = typeof summarizers[number]

const over = (
  each: Each,
  { ending = "stop", given, script = [], text = "The vault." }: {
    readonly ending?: Ending
    readonly given?: Given
    readonly script?: ReadonlyArray<Fault>
    readonly text?: string
  } = {}
) =>
  Effect.gen(function*() {
    const server = yield* client(each.server(text, ending), script)
    const summarizer = yield* each.make(given).pipe(Effect.provideService(HttpClient.HttpClient, server.client))
    return { ...server, summarize: summarizer.summarize(request) }
  })

const run = <A, E>(effect: Effect.Effect<A, E>, time: Duration.DurationInput = "10 minutes") =>
  Effect.gen(function*() {
    const fiber = yield* Effect.fork(Effect.exit(effect))
    yield* TestClock.adjust(time)
    return yield* Fiber.join(fiber)
  })

const failureOf = (exit: Exit.Exit<unknown, MemoryError.SummarizeError>) => {
  if (Exit.isFailure(exit) && exit.cause._tag === "Fail") return exit.cause.error
  throw new Error(`no failure: ${Inspectable.toStringUnknown(exit)}`)
}

const again = (fault: Fault): ReadonlyArray<Fault> => Array.from({ length: 20 }, () => fault)

describe("summarizers", () => {
  for (const each of summarizers) {
    describe(each.name, () => {
      it.scoped("gives text and usage, and asks with instructions, data and limit, without temperature", () =>
        Effect.gen(function*() {
          const { seen, summarize } = yield* over(each)
          assert.deepStrictEqual(yield* summarize, {
            text: "The vault.",
            usage: { inputTokens: 100, outputTokens: 7 }
          })
          const [{ body }] = yield* seen
          const sent = JSON.stringify(body)
          assert.include(sent, secret)
          assert.include(sent, "A vault was mentioned.")
          assert.include(sent, "You keep the memory of a conversation")
          assert.match(sent, /"(max_tokens|max_completion_tokens|maxOutputTokens)":50\b/)
          assert.notMatch(sent, /temperature|top_p|topP/)
        }))

      for (
        const [ending, reason] of [
          ["length", "truncated"],
          ["thought too long", "truncated"],
          ["refusal", "refused"],
          ["reasoning only", "empty"]
        ] as const
      ) {
        it.scoped(`${ending}: ${reason}, and is not asked again`, () =>
          Effect.gen(function*() {
            const { seen, summarize } = yield* over(each, { ending })
            const error = yield* Effect.flip(summarize)
            assert.strictEqual(error.reason, reason)
            assert.strictEqual((yield* seen).length, 1)
          }))
      }

      it.scoped("a blank reply is empty", () =>
        Effect.gen(function*() {
          const { summarize } = yield* over(each, { text: " \n\u200b" })
          assert.strictEqual((yield* Effect.flip(summarize)).reason, "empty")
        }))

      it.scoped("a reply beyond the limit is handed over: its length is the memory's to check", () =>
        Effect.gen(function*() {
          const { summarize } = yield* over(each, { text: "long ".repeat(500) })
          assert.strictEqual((yield* summarize).text.length, 2499)
        }))

      for (const ending of ["no usage", "odd usage"] as const) {
        it.scoped(`${ending}: none`, () =>
          Effect.gen(function*() {
            const { summarize } = yield* over(each, { ending })
            assert.deepStrictEqual(yield* summarize, { text: "The vault.", usage: undefined })
          }))
      }

      it.scoped("without messages nobody is asked", () =>
        Effect.gen(function*() {
          const server = yield* client(each.server("no", "stop"))
          const { summarize } = yield* each.make().pipe(Effect.provideService(HttpClient.HttpClient, server.client))
          assert.strictEqual((yield* summarize({ ...request, messages: [] })).text, "A vault was mentioned.")
          assert.deepStrictEqual(yield* server.seen, [])
        }))

      it.scoped("what may pass is asked again", () =>
        Effect.gen(function*() {
          const { seen, summarize } = yield* over(each, { script: [{ status: 503, body: "<h1>busy</h1>" }, "cut"] })
          const exit = yield* run(summarize)
          assert.isTrue(Exit.isSuccess(exit))
          assert.isAbove((yield* seen).length, 1)
        }))

      it.scoped("hangs: timeout", () =>
        Effect.gen(function*() {
          const { summarize } = yield* over(each, { script: again("hang") })
          const error = failureOf(yield* run(summarize, "110 seconds"))
          assert.strictEqual(error.reason, "timeout")
        }))

      for (
        const [what, fault, reason, kind] of [
          ["too large", { status: 413, body: "<h1>413</h1>" }, "overflow", "tooLarge"],
          [
            "too many tokens",
            { status: 400, body: { error: { message: "prompt is too long: 208310 tokens > 200000 maximum" } } },
            "overflow",
            "tooLarge"
          ],
          ["unauthorized", { status: 401, body: { error: { message: "no" } } }, "provider", "unauthorized"],
          ["down", { status: 529, body: { error: { type: "overloaded_error" } } }, "provider", "unavailable"],
          ["no route", { status: 404, body: "<h1>404</h1>" }, "provider", "noRoute"],
          ["something else", { status: 200, body: { hello: "world" } }, "provider", "invalidAnswer"],
          [
            "an error with status 200",
            { status: 200, body: { error: { code: 429, message: "no" } } },
            "provider",
            "rateLimited"
          ]
        ] as const
      ) {
        it.scoped(`${what}: ${reason}`, () =>
          Effect.gen(function*() {
            const { summarize } = yield* over(each, { script: again(fault) })
            const error = failureOf(yield* run(summarize))
            assert.strictEqual(error.reason, reason)
            assert.strictEqual((error.cause as RemoteError.RemoteError).kind, kind)
            assert.match(error.message, /^No usable summary \(\w+\): \w/)
          }))
      }

      it.scoped("shows neither key nor text, whatever the service says", () =>
        Effect.gen(function*() {
          const echo = `${secret} ${each.key}`
          const told: Array<string> = []
          for (const status of [200, 302, 400, 401, 404, 413, 429, 500]) {
            const replies: ReadonlyArray<Fault> = [
              { status, headers: { "request-id": echo }, body: { error: { type: echo, message: echo } } },
              { status, body: `<html>${echo}</html>` },
              { status, body: { content: echo, choices: echo, candidates: echo, [echo]: echo } }
            ]
            for (const reply of replies) {
              const { summarize } = yield* over(each, { script: again(reply) })
              const exit = yield* run(summarize)
              const error = failureOf(exit)
              told.push(error.message, String(error), JSON.stringify(error), Inspectable.toStringUnknown(exit))
              if (Exit.isFailure(exit)) told.push(Cause.pretty(exit.cause, { renderErrorCause: true }))
            }
          }
          assert.notInclude(told.join("\n"), "midnight")
          assert.notInclude(told.join("\n"), each.key)
        }))

      it.scoped("tells spans, logs and metrics neither key nor text", () =>
        Effect.gen(function*() {
          const told: Array<string> = []
          const tell = (...values: ReadonlyArray<unknown>) => {
            told.push(...values.map((value) => Inspectable.toStringUnknown(value)))
          }
          const tracer = Tracer.make({
            span: (name, parent, context, links, startTime, kind) => {
              tell(name)
              return {
                ...{ _tag: "Span", name, spanId: "1", traceId: "1", parent, context, links, kind, sampled: true },
                status: { _tag: "Started", startTime },
                attributes: new Map(),
                // Tracers tell failures, not what a span answers: that is the answer itself.
                end: (_, exit) => Exit.isFailure(exit) ? tell(exit) : undefined,
                attribute: (key, value) => tell(key, value),
                event: (name, _, attributes) => tell(name, attributes),
                addLinks: () => {}
              }
            },
            context: (f) => f()
          })
          const logger = Logger.make(({ annotations, cause, message }) => tell(message, [...annotations], cause))
          const logging = Layer.merge(
            Logger.replace(Logger.defaultLogger, logger),
            Logger.minimumLogLevel(LogLevel.All)
          )
          for (const script of [[], again({ status: 400, body: `${secret} ${each.key}` })]) {
            const { summarize } = yield* over(each, { script })
            const failing = Effect.tapErrorCause(summarize, (cause) => Effect.logError("failed", cause))
            yield* run(failing.pipe(Effect.asVoid, Effect.withTracer(tracer), Effect.provide(logging)))
          }
          tell(yield* Metric.snapshot)
          const shown = told.join("\n")
          assert.include(shown, "Summarizer.complete")
          assert.include(shown, "http.client POST")
          assert.include(shown, "failed")
          assert.include(shown, "effect_memory")
          assert.notInclude(shown, "midnight")
          assert.notInclude(shown, each.key)
        }))

      it.scopedLive("works over a socket", () =>
        Effect.gen(function*() {
          const server = yield* listen(each.server("Over a socket.", "stop"))
          const { summarize } = yield* each.make({ baseUrl: `${server.url}${each.path}/` })
          assert.strictEqual((yield* summarize(request)).text, "Over a socket.")
        }).pipe(Effect.provide(FetchHttpClient.layer)))

      it.scoped("refuses options that make no sense, without the key", () =>
        Effect.gen(function*() {
          const server = yield* client(each.server("", "stop"))
          const bad = [
            each.make({ baseUrl: "ftp://x" }),
            each.make({}, "key with blanks"),
            each.make({ policy: { attempts: 0 } })
          ]
          for (const making of bad) {
            const error = yield* making.pipe(Effect.provideService(HttpClient.HttpClient, server.client), Effect.flip)
            assert.strictEqual(error._tag, "InvalidOption")
            assert.notInclude(error.message, "blanks")
          }
        }))
    })
  }

  it.scoped("an Anthropic model whose window is full overflows", () =>
    Effect.gen(function*() {
      const full = { content: [{ type: "text", text: "cu" }], stop_reason: "model_context_window_exceeded" }
      const { summarize } = yield* over(summarizers[0], { script: [{ status: 200, body: full }] })
      const error = yield* Effect.flip(summarize)
      assert.strictEqual(error.reason, "overflow")
      assert.include(error.message, "chunked")
    }))

  for (
    const [what, content, expected] of [
      ["what was thought is left out", "<think>\nhm\n</think>\n\nThe vault.", "The vault."],
      ["what was thought is left out without its opening too", "hm\n</think>\n\nThe vault.", "The vault."],
      ["the word alone is not", "Use <think> tags.", "Use <think> tags."],
      ["nothing but thoughts is empty", "<think>hm", undefined],
      ["many openings take no time", `<think>${"<think>".repeat(100_000)}`, undefined]
    ] as const
  ) {
    it.scoped(`an OpenAI-compatible server: ${what}`, () =>
      Effect.gen(function*() {
        const { summarize } = yield* over(summarizers[1], { text: content })
        const found = yield* Effect.either(summarize)
        assert.strictEqual(found._tag === "Right" ? found.right.text : undefined, expected)
      }))
  }

  it.scoped("a reply that ended for any other reason is not whole", () =>
    Effect.gen(function*() {
      const half = "The vault is"
      const replies: ReadonlyArray<readonly [typeof summarizers[number], unknown]> = [
        ...["tool_calls", "error", "abort"].map((finish_reason) =>
          [summarizers[1], { choices: [{ message: { content: half }, finish_reason }] }] as const
        ),
        ...["pause_turn", "tool_use"].map((stop_reason) =>
          [summarizers[0], { content: [{ type: "text", text: half }], stop_reason }] as const
        ),
        ...["OTHER", "MALFORMED_FUNCTION_CALL"].map((finishReason) =>
          [summarizers[2], { candidates: [{ content: { parts: [{ text: half }] }, finishReason }] }] as const
        )
      ]
      for (const [each, body] of replies) {
        const { summarize } = yield* over(each, { script: [{ status: 200, body }] })
        assert.strictEqual((yield* Effect.flip(summarize)).reason, "truncated", JSON.stringify(body))
      }
    }))

  it.scoped("an OpenAI-compatible server needs no key and takes max_tokens, with room to think", () =>
    Effect.gen(function*() {
      const bodyOf = Effect.fnUntraced(function*(options: Partial<OpenAiSummarizer.Options>) {
        const server = yield* client(() => ({ status: 200, body: { choices: [{ message: { content: "x" } }] } }))
        const { summarize } = yield* OpenAiSummarizer.make({ model: "m", ...options }).pipe(
          Effect.provideService(HttpClient.HttpClient, server.client)
        )
        yield* summarize({ ...request, prompt: " " })
        const [{ body, headers }] = yield* server.seen
        assert.isUndefined(headers.authorization)
        const { messages, ...rest } = body as { readonly messages: ReadonlyArray<unknown> }
        assert.strictEqual(messages.length, 1, "a blank prompt is none")
        return rest
      })
      assert.deepStrictEqual(yield* bodyOf({}), { model: "m", max_completion_tokens: 50 })
      const baseUrl = "http://localhost:8000/v1"
      assert.deepStrictEqual(yield* bodyOf({ baseUrl, reasoningTokens: 1000 }), { model: "m", max_tokens: 1050 })
      assert.deepStrictEqual(yield* bodyOf({ baseUrl, limitField: "max_completion_tokens" }), {
        model: "m",
        max_completion_tokens: 50
      })
    }))

  it.scoped("layers take their options from the configuration", () =>
    Effect.gen(function*() {
      const [anthropic, openai, gemini] = yield* Effect.forEach(
        summarizers,
        ({ server }) => client(server("From a layer.", "stop")),
        { concurrency: 1 }
      )
      const common = { apiKey: Config.redacted("KEY"), model: Config.string("MODEL") }
      const layers = [
        [AnthropicSummarizer.layerConfig(common), anthropic, "sk-ant-valid", "claude-haiku-4-5"],
        [OpenAiSummarizer.layerConfig(common), openai, "sk-valid", "gpt-4.1-mini"],
        [GeminiSummarizer.layerConfig(common), gemini, "AIza-valid", "gemini-2.5-flash-lite"]
      ] as const
      for (const [layer, server, key, model] of layers) {
        const summary = Effect.flatMap(Summarizer.Summarizer, ({ summarize }) => summarize(request))
        const config = Layer.setConfigProvider(ConfigProvider.fromMap(new Map([["KEY", key], ["MODEL", model]])))
        const made = layer.pipe(
          Layer.provide(Layer.succeed(HttpClient.HttpClient, server.client)),
          Layer.provide(config)
        )
        assert.strictEqual((yield* Effect.provide(summary, made)).text, "From a layer.")
        const without = layer.pipe(
          Layer.provide(Layer.succeed(HttpClient.HttpClient, server.client)),
          Layer.provide(Layer.setConfigProvider(ConfigProvider.fromMap(new Map())))
        )
        assert.strictEqual((yield* Effect.flip(Effect.provide(summary, without)))._tag, "ConfigError")
      }
    }))
})
