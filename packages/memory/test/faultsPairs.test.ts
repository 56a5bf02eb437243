import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Fiber, Stream } from "effect"
import { MemoryStore, Message, TokenCounter, Transcript, TrimStrategy } from "effect-memory"
import { makeSummarizing, makeWindow, scripted, words } from "./summarizing.js"
import { makeMemory, rounds, texts } from "./utilities.js"

const { assistant, reasoning, system, text, tool, toolCall, toolResult, user } = Message

const call = (...ids: ReadonlyArray<string>) =>
  assistant(ids.map((id) => toolCall({ id, name: "look", params: { at: id } })))
const result = (id: string, value = `result ${id}`) => tool([toolResult({ id, name: "look", result: value })])

/** One token a message. */
const each = TokenCounter.make({ id: "each", count: () => Effect.succeed(0), messageOverhead: 1 })

/** Contexts of a conversation under every budget from nothing to all of it. */
const everyBudget = Effect.fnUntraced(function*(
  messages: ReadonlyArray<Message.Message>,
  strategy: TrimStrategy.Service,
  counter: TokenCounter.Service = each
) {
  const memory = yield* makeMemory({ strategy, counter })
  yield* memory.recordAll(messages)
  const { tokens } = yield* memory.usage
  return yield* Effect.forEach(
    Array.from({ length: tokens + 1 }, (_, n) => n),
    (maxTokens) => Effect.zipRight(memory.setMaxTokens(maxTokens), memory.context)
  )
}, Effect.scoped)

const strategies = [
  TrimStrategy.windowDrop(),
  TrimStrategy.truncate(),
  TrimStrategy.clearToolResults({ keep: 1 }),
  TrimStrategy.cascade(TrimStrategy.shortenParts({ maxTokens: 3 }), TrimStrategy.truncate())
]

const assertSendable = (context: ReadonlyArray<Message.Message>, rules: Transcript.Rules = "pairing") =>
  assert.deepStrictEqual(Transcript.diagnose(context, rules), [])

const assertAlwaysSendable = Effect.fnUntraced(function*(messages: ReadonlyArray<Message.Message>) {
  for (const strategy of strategies) {
    for (const counter of [each, TokenCounter.characters]) {
      for (const context of yield* everyBudget(messages, strategy, counter)) assertSendable(context)
    }
  }
})

describe("results without calls", () => {
  it.effect("no budget opens a history with a result", () =>
    assertAlwaysSendable([user("u1"), call("a"), result("a"), ...rounds(2, 2)]))

  it.effect("the live exchange is not cut where a long history ends with a call and its result", () =>
    Effect.gen(function*() {
      const live = [user("u9"), call("a"), result("a", "x".repeat(4000))]
      for (const strategy of [TrimStrategy.windowDrop(), TrimStrategy.truncate()]) {
        for (const context of yield* everyBudget([...rounds(8), ...live], strategy)) {
          assert.deepStrictEqual(context.slice(-3), live)
        }
      }
    }))

  it.effect("only orphans leave a message: other results and text stay", () =>
    Effect.gen(function*() {
      const mixed = [
        user("u1"),
        call("a"),
        tool([
          toolResult({ id: "gone", name: "look", result: "orphan" }),
          toolResult({ id: "a", name: "look", result: "kept" })
        ]),
        assistant([text("kept too"), toolResult({ id: "gone too", name: "look", result: "orphan" })]),
        user("u2")
      ]
      const repaired = Transcript.repair(mixed, "anthropic")
      assertSendable(repaired, "anthropic")
      assert.deepStrictEqual(texts(repaired), ["u1", "tool-call", "kept", "kept too", "u2"])
    }))

  it.effect("a removal that ends between a call and its result goes on to the end of the group", () =>
    Effect.gen(function*() {
      const big = assistant([toolCall({ id: "a", name: "write", params: { text: "x".repeat(4000) } })])
      const messages = [user("u1"), big, result("a"), assistant("a1"), ...rounds(1, 2)]
      const window = yield* makeWindow(600)
      assert.deepStrictEqual(texts(yield* window.fit(messages)), ["a1", "u2", "a2"])
    }))

  it.effect("a call in the middle of a list goes with its result", () =>
    assertAlwaysSendable([...rounds(1), user("u2"), call("a"), result("a"), assistant("a2"), user("u3")]))

  it.scoped("limits count rounds, not messages", () =>
    Effect.gen(function*() {
      const turn = [user("u2"), call("a", "b", "c"), result("a"), result("b"), result("c"), assistant("done")]
      const memory = yield* makeMemory({ maxRounds: 1 })
      yield* memory.recordAll([...rounds(1), ...turn])
      assert.deepStrictEqual(yield* memory.context, turn)
    }))

  it.effect("calls and results of two groups that cross stay paired", () =>
    assertAlwaysSendable([user("u1"), call("a"), call("b"), result("a"), result("b"), ...rounds(1, 2)]))

  it.scoped("parallel results at the end are no orphans", () =>
    Effect.gen(function*() {
      const messages = [user("u1"), call("a", "b", "c"), result("c"), result("a"), result("b")]
      const memory = yield* makeMemory({ maxTokens: 1 })
      yield* memory.recordAll(messages)
      assert.deepStrictEqual(yield* memory.context, messages)
      assertSendable(messages)
    }))

  it.effect("a window of three messages takes a request and its result out together", () =>
    Effect.gen(function*() {
      const messages = [user("u1"), call("a"), result("a"), assistant("a1"), user("u2")]
      for (const context of yield* everyBudget(messages, TrimStrategy.truncate())) {
        assert.strictEqual(texts(context).includes("tool-call"), texts(context).includes("result a"))
      }
    }))

  it.scoped("no fraction splits a group when the history is summarized", () =>
    Effect.gen(function*() {
      const messages = [1, 2, 3, 4, 5].flatMap((n) => [
        user(`Question ${n}`),
        call(`a${n}`, `b${n}`),
        result(`a${n}`, "x".repeat(40)),
        result(`b${n}`, "y".repeat(40)),
        assistant(`Answer ${n}`)
      ])
      for (let percent = 5; percent < 100; percent += 5) {
        const { memory, requests } = yield* makeSummarizing(["so far"], {
          maxTokens: 150,
          summarize: { target: percent / 100, maxSummaryTokens: 10 }
        })
        yield* memory.recordAll(messages)
        assertSendable(yield* memory.context)
        const [{ messages: asked }] = yield* requests
        assertSendable(asked)
        assert.strictEqual(asked.length % 5, 0)
      }
    }))

  it.scoped("no limit of rounds leaves a call that does not follow a user turn", () =>
    Effect.gen(function*() {
      const memory = yield* makeMemory({ rules: "gemini" })
      yield* memory.recordAll([
        user("u1"),
        call("a"),
        result("a"),
        call("b"),
        result("b"),
        assistant("a1"),
        ...rounds(3, 2)
      ])
      for (let maxRounds = 0; maxRounds <= 5; maxRounds++) {
        yield* memory.setMaxRounds(maxRounds)
        assertSendable(yield* memory.context, "gemini")
      }
    }))
})

describe("calls without results", () => {
  it.scoped("an interrupted call does not spoil every later request: it is closed, and the log is as it was", () =>
    Effect.gen(function*() {
      const recorded = [user("u1"), call("a"), ...rounds(2, 2)]
      const memory = yield* makeMemory({})
      yield* memory.recordAll(recorded)
      const context = yield* memory.context
      assertSendable(context)
      assert.deepStrictEqual(context.map(({ role }) => role).slice(0, 4), ["user", "assistant", "tool", "user"])
      const log = Array.from(yield* Stream.runCollect(memory.history), ({ message }) => message)
      assert.deepStrictEqual(log, recorded)
    }))

  it.scoped("a call whose arguments were cut is no trouble deep in the history", () =>
    Effect.gen(function*() {
      const cut = assistant([toolCall({ id: "a", name: "write", params: "{\"text\": \"once upon" })])
      for (const rules of ["pairing", "anthropic", "openai", "gemini", "strict"] as const) {
        const memory = yield* makeMemory({ rules })
        yield* memory.recordAll([user("u1"), cut, ...rounds(3, 2)])
        assertSendable(yield* memory.context, rules)
      }
    }))

  it.scoped("what an aborted stream has left does not break the next turn", () =>
    Effect.gen(function*() {
      const memory = yield* makeMemory({ rules: "strict" })
      const leftovers = [
        assistant([]),
        assistant([text("")]),
        assistant([reasoning(""), text(" \n")]),
        assistant([reasoning("I was about to"), toolCall({ id: "p", name: "look", params: "" })])
      ]
      for (const [i, leftover] of leftovers.entries()) {
        yield* memory.recordAll([user(`u${i}`), leftover, user("again")])
        const context = yield* memory.context
        assertSendable(context, "strict")
        assert.strictEqual(texts(context).at(-1)?.split("+").at(-1), "again")
      }
    }))

  it.scoped("open calls wait: nothing of their group is summarized before the result is there", () =>
    Effect.gen(function*() {
      const { memory, requests } = yield* makeSummarizing(["earlier"], {
        maxTokens: 40,
        summarize: { maxSummaryTokens: 4 }
      })
      const open = call("a")
      yield* memory.recordAll([user("x".repeat(80)), assistant("y".repeat(80)), user("u2"), open])
      assert.deepStrictEqual(words(yield* memory.context), ["<earlier>", "u2", "tool-call"])
      assert.strictEqual((yield* requests)[0].messages.includes(open), false)
      yield* memory.record(result("a"))
      const context = yield* memory.context
      assertSendable(context)
      assert.deepStrictEqual(words(context), ["<earlier>", "u2", "tool-call", "result a"])
    }))

  it.scoped("a call and its result are stored together or not at all, also when it is interrupted", () =>
    Effect.gen(function*() {
      const inner = yield* MemoryStore.makeMemory
      for (const at of ["before", "after"] as const) {
        const reached = yield* Deferred.make<void>()
        const pause = Effect.zipRight(Deferred.succeed(reached, undefined), Effect.never)
        const store: MemoryStore.Service = {
          ...inner,
          append: (...args) =>
            at === "before"
              ? Effect.zipRight(pause, inner.append(...args))
              : Effect.zipLeft(inner.append(...args), pause)
        }
        const memory = yield* makeMemory({ id: at, store })
        const fiber = yield* Effect.fork(memory.recordAll([call("a"), result("a")]))
        yield* Deferred.await(reached)
        yield* Fiber.interrupt(fiber)
        const log = Array.from(yield* Stream.runCollect(inner.history(at)))
        assert.strictEqual(log.length, at === "before" ? 0 : 2)
      }
    }))
})

describe("first roles and their order", () => {
  const looks = (n: number) =>
    Array.from({ length: n }, (_, i) => [call(`c${i}`), result(`c${i}`, `${i}`.repeat(40))]).flat()

  it.scoped("a call comes right behind a user turn, also behind a summary", () =>
    Effect.gen(function*() {
      for (const role of ["system", "user"] as const) {
        const { memory } = yield* makeSummarizing(["looked around"], {
          maxTokens: 50,
          rules: "gemini",
          summarize: { role, maxSummaryTokens: 6 }
        })
        yield* memory.recordAll([user("Look"), ...looks(4)])
        const context = yield* memory.context
        assert.isTrue(texts(context).some((text) => text.includes("looked around")))
        assertSendable(context, "gemini")
      }
    }))

  it.scoped("no trimmed history opens with an assistant's call", () =>
    Effect.gen(function*() {
      for (const strategy of [...strategies, (yield* scripted(Array(50).fill("so far"))).strategy]) {
        const memory = yield* makeMemory({ strategy, rules: "anthropic" })
        yield* memory.recordAll([
          system("setup"),
          user("Look"),
          ...looks(3),
          assistant("done"),
          user("More"),
          ...looks(3)
        ])
        for (let maxTokens = 0; maxTokens <= 100; maxTokens += 4) {
          yield* memory.setMaxTokens(maxTokens)
          const context = yield* memory.context
          assertSendable(context, "anthropic")
          assert.strictEqual(context.find(({ role }) => role !== "system")?.role, "user")
        }
      }
    }))

  it.scoped("the strictest template takes every context with a summary in it", () =>
    Effect.gen(function*() {
      for (const role of ["system", "user"] as const) {
        const { memory } = yield* makeSummarizing(["one", "two", "three", "four", "five", "six"], {
          maxTokens: 70,
          rules: "strict",
          summarize: { role, maxSummaryTokens: 6 }
        })
        yield* memory.record(system("setup"))
        for (let n = 0; n < 6; n++) {
          yield* memory.recordAll([user(`Question ${n}`), call(`q${n}`), result(`q${n}`, "r".repeat(60))])
          assertSendable(yield* memory.context, "strict")
        }
      }
    }))

  it.scoped("a summary in front of a user message makes no two user turns in a row", () =>
    Effect.gen(function*() {
      const { memory } = yield* makeSummarizing(["one", "two"], {
        maxTokens: 40,
        rules: "anthropic",
        summarize: { role: "user", maxSummaryTokens: 6 }
      })
      yield* memory.recordAll([user("x".repeat(80)), assistant("y".repeat(80))])
      yield* memory.record(user("Next"))
      const context = yield* memory.context
      assertSendable(context, "anthropic")
      assert.deepStrictEqual(context.map(({ role }) => role), ["user"])
      assert.match(texts(context)[0], /one[^]*Next/)
    }))
})
