import { FetchHttpClient, HttpClient } from "@effect/platform"
import { assert, describe, it } from "@effect/vitest"
import {
  AnthropicTokenCounter,
  LlamaCppTokenCounter,
  type RemoteError,
  VllmTokenCounter
} from "@effect-memory/platform"
import { TiktokenCounter } from "@effect-memory/tiktoken"
import type { Duration } from "effect"
import { Config, ConfigProvider, Effect, Exit, Fiber, Layer, Redacted, Ref, TestClock } from "effect"
import { Memory, MemoryStore, Message, TokenCounter, TrimStrategy } from "effect-memory"
import { counters, type Given } from "./counters.js"
import { anthropic, error } from "./servers/anthropic.js"
import { client, type Fault, listen } from "./servers/server.js"
import { metricsOf } from "./utilities.js"

const [first] = counters

const messages = [Message.user("1 + 2?")]

const other = [Message.user("3 + 4?")]

const count = (counter: TokenCounter.Service, of = messages) => counter.countConversation?.(of) ?? Effect.succeed(-1)

/** A counter over a service with faults, within the process. */
const over = (script: ReadonlyArray<Fault>, given: Given = {}, of: typeof counters[number] = first) =>
  Effect.gen(function*() {
    const server = yield* client(of.server, script)
    const counter = yield* of.make(given).pipe(Effect.provideService(HttpClient.HttpClient, server.client))
    return { ...server, counter, attempts: Effect.map(server.seen, (seen) => seen.map(({ at }) => at)) }
  })

const run = <A, E, R>(effect: Effect.Effect<A, E, R>, time: Duration.DurationInput = "10 minutes") =>
  Effect.gen(function*() {
    const fiber = yield* Effect.fork(Effect.exit(effect))
    yield* TestClock.adjust(time)
    return yield* Fiber.join(fiber)
  })

const kindOf = (exit: Exit.Exit<number, { readonly cause?: unknown }>) =>
  Exit.isFailure(exit) && exit.cause._tag === "Fail"
    ? (exit.cause.error.cause as RemoteError.RemoteError).kind
    : undefined

const down: ReadonlyArray<Fault> = Array.from({ length: 100 }, () => error(529, "overloaded_error", "Overloaded"))

describe("token counters", () => {
  for (const each of counters) {
    describe(each.name, () => {
      it.scoped("counts messages locally and conversations remotely", () =>
        Effect.gen(function*() {
          const { counter, seen } = yield* over([], {}, each)
          assert.strictEqual(counter.id, "characters")
          assert.strictEqual(yield* counter.countMessage(messages[0]), 2)
          assert.deepStrictEqual(yield* seen, [])
          assert.isAbove(yield* count(counter), 8)
          assert.strictEqual((yield* seen).length, 1)
        }))

      it.scoped("keeps a count, and shares a request that is under way", () =>
        Effect.gen(function*() {
          const { counter, seen } = yield* over([], {}, each)
          const together = yield* Effect.all([count(counter), count(counter), count(counter, other)], {
            concurrency: "unbounded"
          })
          assert.strictEqual(together[0], together[1])
          assert.strictEqual(yield* count(counter), together[0])
          assert.strictEqual((yield* seen).length, 2)
        }))

      it.scopedLive("works over a socket", () =>
        Effect.gen(function*() {
          const server = yield* listen(each.server)
          const counter = yield* each.make({ baseUrl: `${server.url}${each.path}/` })
          assert.isAbove(yield* count(counter), 8)
        }).pipe(Effect.provide(FetchHttpClient.layer)))

      it.scoped("asks once for a route that is not there", () =>
        Effect.gen(function*() {
          const { attempts, counter } = yield* over([{ status: 404, body: "<h1>404</h1>" }], {}, each)
          assert.strictEqual(kindOf(yield* run(count(counter))), "noRoute")
          assert.strictEqual(kindOf(yield* run(count(counter, other), "1 day")), "noRoute")
          assert.strictEqual((yield* attempts).length, 1)
        }))

      it.scoped("does not keep a failure", () =>
        Effect.gen(function*() {
          const { counter, seen } = yield* over([{ status: 400, body: "" }], {}, each)
          assert.strictEqual(kindOf(yield* Effect.exit(count(counter))), "invalidRequest")
          assert.isAbove(yield* count(counter), 8)
          assert.strictEqual((yield* seen).length, 2)
        }))

      it.scoped("takes no count that is none", () =>
        Effect.gen(function*() {
          for (const value of [undefined, null, 0, -1, 1.5, "14", [], {}]) {
            const body = { input_tokens: value, totalTokens: value, count: value, tokenize_response: value }
            const { counter } = yield* over([{ status: 200, body }], {}, each)
            assert.strictEqual(kindOf(yield* Effect.exit(count(counter))), "invalidAnswer", JSON.stringify(value))
          }
        }))
    })
  }

  it.scoped("tries again what may pass, ignoring a hint on the answer", () =>
    Effect.gen(function*() {
      const { attempts, counter } = yield* over([
        error(429, "rate_limit_error", "", { "retry-after": "3" }),
        error(529, "overloaded_error", "")
      ])
      const exit = yield* run(count(counter))
      assert.isTrue(Exit.isSuccess(exit))
      const [, second, third] = yield* attempts
      assert.strictEqual(second, 3000)
      assert.isTrue(third >= 3750 && third <= 4000)
    }))

  it.scoped("gives up within 20 seconds, and sooner where it was told to wait longer", () =>
    Effect.gen(function*() {
      const hanging = yield* over(["hang", "hang", "hang"])
      const fiber = yield* Effect.fork(Effect.exit(count(hanging.counter)))
      yield* TestClock.adjust("20 seconds")
      assert.strictEqual(kindOf(yield* Fiber.join(fiber)), "timeout")
      assert.strictEqual(yield* hanging.closed, 2)
      const told = yield* over([error(429, "rate_limit_error", "", { "retry-after": "59" })])
      assert.strictEqual(kindOf(yield* run(count(told.counter), 0)), "rateLimited")
    }))

  it.scoped("fails at once while the circuit is open, and recovers", () =>
    Effect.gen(function*() {
      const { attempts, counter } = yield* over(down.slice(0, 5))
      assert.strictEqual(kindOf(yield* run(count(counter), "5 seconds")), "unavailable")
      assert.strictEqual(kindOf(yield* run(count(counter), "5 seconds")), "unavailable")
      assert.strictEqual(kindOf(yield* Effect.exit(count(counter))), "circuitOpen")
      assert.strictEqual((yield* attempts).length, 5)
      yield* TestClock.adjust("30 seconds")
      assert.isAbove(yield* count(counter), 8)
    }))

  it.scoped("says what to do", () =>
    Effect.gen(function*() {
      const { counter } = yield* over([error(401, "authentication_error", "invalid x-api-key")])
      const found = yield* Effect.flip(count(counter))
      assert.strictEqual(
        found.message,
        "Counter \"anthropic/claude-sonnet-4-5\" could not count: count_tokens of anthropic (status 401, request " +
          "req_011CS): the key was refused: give a valid key that may use the model"
      )
    }))

  it.scoped("is not interrupted with whoever asked first", () =>
    Effect.gen(function*() {
      const { closed, counter, seen } = yield* over(["hang"])
      const one = yield* Effect.fork(count(counter))
      yield* TestClock.adjust(0)
      const two = yield* Effect.fork(count(counter))
      yield* TestClock.adjust(0)
      assert.strictEqual((yield* seen).length, 1)
      yield* Fiber.interrupt(one)
      assert.isAbove(yield* Fiber.join(two), 8)
      assert.deepStrictEqual([(yield* seen).length, yield* closed], [2, 1])
    }))

  it.scoped("ends where the client itself interrupts", () =>
    Effect.gen(function*() {
      const interrupting = HttpClient.make(() => Effect.interrupt)
      const counter = yield* Effect.provideService(first.make(), HttpClient.HttpClient, interrupting)
      const exit = yield* Effect.exit(count(counter))
      assert.isTrue(Exit.isInterrupted(exit))
    }))

  it.scoped("ends the request of a caller that gives up", () =>
    Effect.gen(function*() {
      const { closed, counter } = yield* over(["hang"])
      const fiber = yield* Effect.fork(count(counter))
      yield* TestClock.adjust(0)
      yield* Fiber.interrupt(fiber)
      assert.strictEqual(yield* closed, 1)
      assert.isAbove(yield* count(counter), 8)
    }))

  it.scoped("takes another counter for messages", () =>
    Effect.gen(function*() {
      const local = yield* TiktokenCounter.make({ encoding: "o200k_base" })
      const { counter } = yield* over([], { local, margin: 0.1 })
      assert.deepStrictEqual([counter.id, counter.margin], [local.id, 0.1])
      assert.strictEqual(yield* counter.countMessage(messages[0]), yield* local.countMessage(messages[0]))
    }))

  it.scoped("keeps no more counts than it may", () =>
    Effect.gen(function*() {
      const { counter, seen } = yield* over([], { capacity: 1 })
      yield* count(counter)
      yield* count(counter, other)
      yield* count(counter)
      assert.strictEqual((yield* seen).length, 3)
    }))

  it.scoped("paces its requests where it is told to", () =>
    Effect.gen(function*() {
      const { attempts, counter } = yield* over([], { policy: { requestsPerMinute: 1, deadline: "5 minutes" } })
      yield* run(Effect.all([count(counter), count(counter, other)], { concurrency: 2 }))
      const [one, two] = yield* attempts
      assert.isAtLeast(two - one, 50_000)
    }))

  it.scoped("counts its requests and failures", () =>
    Effect.gen(function*() {
      const { counter } = yield* over([{ status: 404, body: "" }], {}, counters[4])
      yield* Effect.exit(count(counter))
      const found = yield* metricsOf("llama.cpp")
      assert.isAtLeast(found.effect_memory_remote_requests, 1)
      assert.isAtLeast(found.effect_memory_remote_routes_off, 1)
      assert.isAtLeast(found["effect_memory_remote_failures:noRoute"], 1)
    }))

  describe("options", () => {
    const wrong: ReadonlyArray<readonly [Given, string]> = [
      [
        { baseUrl: "api.example.com" },
        "baseUrl is no such URL: give an http or https URL, such as http://localhost:8080"
      ],
      [{ baseUrl: "file:///tmp" }, "baseUrl is no such URL: give an http or https URL, such as http://localhost:8080"],
      [{ baseUrl: "https://me:pass@example.com" }, "baseUrl is a URL with credentials: give an http or https URL"],
      [{ model: " " }, "model is blank: give the name that the service knows"],
      [{ apiKey: "" }, "apiKey is blank, or has white space"],
      [{ apiKey: "sk-valid\n" }, "apiKey is blank, or has white space"],
      [{ margin: Number.NaN }, "margin is NaN: give a finite number of at least 0"],
      [{ margin: -0.1 }, "margin is -0.1: give a finite number of at least 0"],
      [{ capacity: 0 }, "capacity is 0: give a whole number of at least 1"],
      [{ policy: { attempts: 0 } }, "policy.attempts is 0: give a whole number of at least 1"]
    ]
    for (const each of counters) {
      it.scoped(`${each.name} refuses what makes no sense`, () =>
        Effect.gen(function*() {
          for (const [given, start] of wrong) {
            const { message } = yield* Effect.flip(over([], given, each))
            assert.isTrue(message.startsWith(start), message)
          }
        }))
    }

    it.scoped("keep the query of a base URL", () =>
      Effect.gen(function*() {
        const { counter, seen } = yield* over([], { baseUrl: "https://proxy.example/anthropic/?version=1#x" })
        yield* Effect.exit(count(counter))
        assert.strictEqual((yield* seen)[0].path, "/anthropic/v1/messages/count_tokens?version=1")
      }))

    it.scoped("come from the configuration", () =>
      Effect.gen(function*() {
        const server = yield* client(anthropic(), ["hang", "hang"])
        const layer = AnthropicTokenCounter.layerConfig({
          apiKey: Config.redacted("KEY"),
          model: Config.string("MODEL"),
          policy: { attemptTimeout: Config.duration("TIMEOUT"), attempts: Config.succeed(1) }
        }, { margin: 0.5 }).pipe(
          Layer.provide([
            Layer.succeed(HttpClient.HttpClient, server.client),
            Layer.setConfigProvider(ConfigProvider.fromMap(
              new Map([["KEY", "sk-ant-valid"], ["MODEL", "claude-opus-4-5"], ["TIMEOUT", "2 seconds"]])
            ))
          ])
        )
        const counter = yield* Effect.provide(TokenCounter.TokenCounter, yield* Layer.build(layer))
        assert.strictEqual(counter.margin, 0.5)
        assert.strictEqual(kindOf(yield* run(count(counter), "2 seconds")), "timeout")
      }))

    it.scoped("may be none for a local server", () =>
      Effect.gen(function*() {
        const server = yield* client(counters[3].server)
        const counter = yield* Effect.provideService(VllmTokenCounter.make({}), HttpClient.HttpClient, server.client)
        yield* count(counter)
        const [{ body, headers }] = yield* server.seen
        assert.notProperty(body, "model")
        assert.notProperty(headers, "authorization")
        yield* Effect.scoped(Layer.build(LlamaCppTokenCounter.layer())).pipe(
          Effect.provideService(HttpClient.HttpClient, server.client)
        )
      }))
  })

  it.scoped("keeps no defect of a client", () =>
    Effect.gen(function*() {
      const server = yield* client(first.server)
      const calls = yield* Ref.make(0)
      const dying = HttpClient.transform(server.client, (response) =>
        Effect.flatMap(
          Ref.getAndUpdate(calls, (n) => n + 1),
          (n) => n === 0 ? Effect.die("told to") : response
        ))
      const counter = yield* Effect.provideService(first.make(), HttpClient.HttpClient, dying)
      assert.isTrue(Exit.isFailure(yield* Effect.exit(count(counter))))
      assert.isAbove(yield* count(counter), 8)
    }))

  it.scoped("counts tools locally too", () =>
    Effect.gen(function*() {
      const tools = [{ name: "read_file", description: "Reads a file.", input_schema: { type: "object" } }]
      const { counter } = yield* over([], { tools })
      assert.strictEqual(counter.overhead, yield* TokenCounter.characters.count(JSON.stringify(tools)))
      const error = yield* Effect.flip(first.make({ tools: [1n] }).pipe(Effect.provide(FetchHttpClient.layer)))
      assert.strictEqual(error.field, "tools")
    }))

  describe("in a memory", () => {
    const rounds = Array.from({ length: 20 }, (_, i) => [
      Message.user(`question ${i} ${"x".repeat(80)}`),
      Message.assistant(`answer ${i} ${"y".repeat(80)}`)
    ]).flat()

    const memoryOver = (script: ReadonlyArray<Fault>, maxTokens: number, given: Given = {}) =>
      Effect.gen(function*() {
        const server = yield* over(script, given)
        const memory = yield* Memory.make({ maxTokens }).pipe(
          Effect.provideService(TokenCounter.TokenCounter, server.counter),
          Effect.provideService(TrimStrategy.TrimStrategy, TrimStrategy.windowDrop()),
          Effect.provideService(MemoryStore.MemoryStore, yield* MemoryStore.makeMemory)
        )
        yield* memory.recordAll([...rounds, Message.user("last?")])
        return { ...server, memory }
      })

    const local = (of: ReadonlyArray<Message.Message>) =>
      Effect.map(
        Effect.forEach(of, TokenCounter.characters.countMessage),
        (counts) => counts.reduce((sum, tokens) => sum + tokens, 0)
      )

    for (const script of [down, [{ status: 404, body: "" }], Array.from({ length: 9 }, (): Fault => "hang")]) {
      it.scoped(`trims by the margin while the service fails (${JSON.stringify(script[0]).slice(0, 20)})`, () =>
        Effect.gen(function*() {
          const { attempts, memory } = yield* memoryOver(script, 400)
          const exit = yield* run(memory.context, "1 minute")
          const context = Exit.isSuccess(exit) ? exit.value : assert.fail("no context")
          assert.strictEqual(Message.parts(context[context.length - 1])[0].type, "text")
          const tokens = yield* local(context)
          assert.isAtMost(2 * tokens, 400, "the margin is 1")
          assert.isAbove(context.length, 1)
          assert.isAtMost((yield* attempts).length, 3)
        }))
    }

    it.scoped("asks once for a context", () =>
      Effect.gen(function*() {
        const { memory, seen } = yield* memoryOver([], 400, { margin: 1 })
        yield* memory.context
        yield* memory.context
        assert.strictEqual((yield* seen).length, 1)
      }))
  })

  it.effect("makes a breaker of its own for each layer", () =>
    Effect.gen(function*() {
      const server = yield* client(anthropic(), [{ status: 404, body: "" }])
      const layer = AnthropicTokenCounter.layer({ apiKey: Redacted.make("sk-ant-valid"), model: "claude-x" })
      const once = Effect.flatMap(TokenCounter.TokenCounter, (counter) => Effect.exit(count(counter))).pipe(
        Effect.provide(layer),
        Effect.provideService(HttpClient.HttpClient, server.client)
      )
      assert.strictEqual(kindOf(yield* once), "noRoute")
      assert.isTrue(Exit.isSuccess(yield* once))
    }))
})
