import { assert, describe, it } from "@effect/vitest"
import { Effect, FastCheck as fc } from "effect"
import { Message, TokenCounter, TrimStrategy } from "effect-memory"
import * as generators from "./generators.js"
import { bytes, makeWindow } from "./summarizing.js"
import { makeMemory, rounds, runs, texts } from "./utilities.js"

const { assistant, file, reasoning, system, text, tool, toolCall, toolResult, user } = Message

/** One message under a budget of nothing. */
const shorten = Effect.fnUntraced(function*(
  message: Message.Message,
  maxTokens: number,
  counter: TokenCounter.Service = TokenCounter.characters
) {
  const { messages } = yield* TrimStrategy.shortenParts({ maxTokens }).trim({
    messages: [message],
    counts: [yield* counter.countMessage(message)],
    budget: { maxTokens: 0, maxRounds: undefined },
    counter,
    standIns: [],
    newest: 0
  })
  return messages[0]
})

const shortenResult = (result: unknown, maxTokens: number, counter?: TokenCounter.Service) =>
  Effect.map(
    shorten(tool([toolResult({ id: "c", name: "f", result })]), maxTokens, counter),
    (message) => Message.toolResults(message)[0].result
  )

const shortenParams = (params: unknown, maxTokens: number) =>
  Effect.map(
    shorten(assistant([toolCall({ id: "c", name: "f", params })]), maxTokens),
    (message) => Message.toolCalls(message)[0].params
  )

const mark = /\[… (\d+) characters left out …\]/

describe("shortenParts: text", () => {
  it.effect("keeps head and tail, and says how much is missing", () =>
    Effect.gen(function*() {
      const long = Array.from({ length: 1000 }, (_, i) => `line ${i}`).join("\n")
      const short = String(yield* shortenResult(long, 50))
      const [head, missing, tail] = short.split(mark)
      assert.isTrue(long.startsWith(head) && long.endsWith(tail))
      assert.isAbove(head.length, tail.length)
      assert.isAbove(tail.length, 10)
      assert.strictEqual(head.length + Number(missing) + tail.length, long.length)
      assert.isAtMost(yield* TokenCounter.characters.count(short), 50)
    }))

  it.effect("most of the room is used", () =>
    Effect.gen(function*() {
      const short = String(yield* shortenResult("x".repeat(100_000), 1000))
      assert.isAtLeast(yield* TokenCounter.characters.count(short), 850)
    }))

  it.effect("what is short enough stays, part by part", () =>
    Effect.gen(function*() {
      const parts = [text("short"), text("x".repeat(1000)), file({ mediaType: "image/png", data: "iVBORw0KGgo=" })]
      const message = yield* shorten(user(parts), 100)
      assert.strictEqual(message.content[0], parts[0])
      assert.strictEqual(message.content[2], parts[2])
      assert.match(texts([message])[0], mark)
      const small = user([parts[0], parts[2]])
      assert.strictEqual(yield* shorten(small, 100), small)
    }))

  it.effect.prop("never cuts a code point, whatever the counter", {
    text: fc.oneof(generators.text, fc.string({ unit: "binary", minLength: 20, maxLength: 300 })),
    maxTokens: fc.nat({ max: 60 }),
    byBytes: fc.boolean()
  }, ({ byBytes, maxTokens, text }) =>
    Effect.gen(function*() {
      const long = `${text}👩‍👩‍👧‍👦${text}`.toWellFormed()
      const counter = byBytes ? bytes : TokenCounter.characters
      const short = String(yield* shortenResult(long, maxTokens, counter))
      assert.isTrue(short.isWellFormed())
      const [before, after] = [yield* counter.count(long), yield* counter.count(short)]
      if (short === long) return
      assert.isBelow(after, before)
      const [head, missing, tail] = short.split(mark)
      assert.strictEqual(long, `${head}${long.slice(head.length, head.length + Number(missing))}${tail}`)
      if (head !== "" || tail !== "") assert.isAtMost(after, maxTokens)
    }), runs(50))

  it.effect.prop("counters that are not linear get what they ask for, or the shortest there is", {
    length: fc.integer({ min: 1, max: 2000 }),
    maxTokens: fc.nat({ max: 500 }),
    kind: fc.constantFrom("square" as const, "root" as const, "steps" as const, "constant" as const, "jitter" as const)
  }, ({ kind, length, maxTokens }) =>
    Effect.gen(function*() {
      const counts = {
        square: (n: number) => n * n,
        root: (n: number) => Math.sqrt(n),
        steps: (n: number) => Math.floor(n / 100) * 100,
        constant: () => 1000,
        jitter: (n: number) => n / 4 + (n * 7919) % 13
      }
      const counter = TokenCounter.make({ id: kind, count: (text) => Effect.sync(() => counts[kind](text.length)) })
      const long = "x".repeat(length)
      const short = String(yield* shortenResult(long, maxTokens, counter))
      const tokens = yield* counter.count(short)
      if (short === long) {
        if (tokens > maxTokens) assert.isAtLeast(yield* counter.count(`[… ${length} characters left out …]`), tokens)
      } else if (short.startsWith("x")) {
        assert.isAtMost(tokens, maxTokens)
      }
    }), runs(50))
})

describe("shortenParts: JSON", () => {
  it.effect("arguments stay JSON of the same kind, and the call keeps its id and name", () =>
    Effect.gen(function*() {
      const params = { path: "src/index.ts", content: "y".repeat(200_000), mode: 420, flags: [true, null] }
      const message = yield* shorten(
        assistant([toolCall({ id: "call_1", name: "write_file", params, options: { p: { a: 1 } } })]),
        100
      )
      const [part] = Message.toolCalls(message)
      assert.deepInclude(part, { id: "call_1", name: "write_file", options: { p: { a: 1 } } })
      assert.deepInclude(part.params as object, { path: "src/index.ts", mode: 420, flags: [true, null] })
      assert.match((part.params as { content: string }).content, mark)
      assert.isAtMost(yield* TokenCounter.characters.countMessage(message), 103)
    }))

  it.effect("arguments that are JSON text stay JSON text", () =>
    Effect.gen(function*() {
      const edits = Array.from({ length: 2000 }, (_, line) => ({ line, text: "y\n\"".repeat(line % 50) }))
      for (const value of [{ path: "src/index.ts", edits }, edits, "\"\n".repeat(2000)]) {
        const short = yield* shortenParams(JSON.stringify(value), 100)
        assert.isString(short)
        assert.strictEqual(typeof JSON.parse(String(short)), typeof value)
        assert.isAtMost(yield* TokenCounter.characters.count(String(short)), 100)
      }
    }))

  it.effect("text that only looks like JSON is cut as text", () =>
    Effect.gen(function*() {
      const cut = `{"content":"${"y".repeat(2000)}`
      assert.match(String(yield* shortenParams(cut, 50)), /^\{"content":"y+\[… \d+ characters left out …\]y+$/)
      const deep = "[".repeat(100_000)
      assert.match(String(yield* shortenParams(deep, 50)), mark)
      assert.match(String(yield* shortenParams(deep + "]".repeat(100_000), 50)), mark)
      assert.match(String(yield* shortenParams("7".repeat(100_000), 50)), mark)
    }))

  it.effect("long lists and objects lose entries, and say how many", () =>
    Effect.gen(function*() {
      const list = yield* shortenResult(Array.from({ length: 5000 }, (_, i) => i), 50)
      assert.isArray(list)
      const items = list as Array<unknown>
      assert.deepStrictEqual(items.slice(0, 3), [0, 1, 2])
      assert.strictEqual(items.at(-1), `[… ${5000 - items.length + 1} items left out …]`)
      const record = yield* shortenResult(
        Object.fromEntries(Array.from({ length: 5000 }, (_, i) => [`key${i}`, i])),
        50
      ) as Effect.Effect<Record<string, unknown>>
      const keys = Object.keys(record)
      assert.strictEqual(keys[0], "key0")
      assert.strictEqual(record["…"], `${5000 - keys.length + 1} entries left out`)
    }))

  it.effect.prop("any JSON stays JSON of its kind, and no longer than it was", {
    value: generators.json,
    maxTokens: fc.nat({ max: 30 })
  }, ({ maxTokens, value }) =>
    Effect.gen(function*() {
      const kind = (json: unknown) => Array.isArray(json) ? "list" : json === null ? "null" : typeof json
      for (const short of [yield* shortenResult(value, maxTokens), yield* shortenParams(value, maxTokens)]) {
        assert.strictEqual(kind(short), kind(toolResult({ id: "", name: "", result: value }).result))
        assert.isAtMost(
          yield* TokenCounter.characters.count(JSON.stringify(short)),
          yield* TokenCounter.characters.count(JSON.stringify(value))
        )
        assert.isTrue(Message.isMessage(tool([toolResult({ id: "c", name: "f", result: short })])))
      }
    }), runs(50))

  it.effect("hostile keys and nesting are survived", () =>
    Effect.gen(function*() {
      const nested = (depth: number): unknown => depth === 0 ? "x".repeat(5000) : { a: [nested(depth - 1)] }
      for (
        const value of [
          nested(200),
          JSON.parse(`{"__proto__":"${"x".repeat(3000)}","constructor":1,"toString":null}`),
          Object.fromEntries([["k".repeat(50_000), 1], ["…", "x".repeat(3000)], ["", ""]]),
          Array.from({ length: 300 }, () => Array.from({ length: 300 }, () => ({ a: 1 })))
        ]
      ) {
        const short = yield* shortenResult(value, 400)
        assert.isTrue(Message.isMessage(tool([toolResult({ id: "c", name: "f", result: short })])))
        assert.isAtMost(yield* TokenCounter.characters.count(JSON.stringify(short)), 700)
      }
    }))
})

describe("shortenParts: what is left alone", () => {
  it.effect("reasoning, system messages and files", () =>
    Effect.gen(function*() {
      const thought = reasoning("t".repeat(4000), { anthropic: { signature: "c2lnbmF0dXJl" } })
      const message = yield* shorten(assistant([thought, text("x".repeat(4000))]), 50)
      assert.strictEqual(message.content[0], thought)
      assert.match(texts([assistant([message.content[1] as Message.TextPart])])[0], mark)
      for (
        const whole of [
          assistant([thought]),
          system("s".repeat(4000)),
          user([file({ mediaType: "image/png", data: "QUJD".repeat(1000) })])
        ]
      ) assert.strictEqual(yield* shorten(whole, 50), whole)
    }))

  it.effect("what a provider has run itself, since it is sent back as it came", () =>
    Effect.gen(function*() {
      const message = assistant([
        toolCall({ id: "s", name: "search", params: { q: "x".repeat(1000) }, providerExecuted: true }),
        toolResult({ id: "s", name: "search", result: "x".repeat(1000), providerExecuted: true })
      ])
      assert.strictEqual(yield* shorten(message, 50), message)
    }))

  it.effect("what was cleared before", () =>
    Effect.gen(function*() {
      const strategy = TrimStrategy.cascade(
        TrimStrategy.clearToolResults({ keep: 1 }),
        TrimStrategy.shortenParts({ maxTokens: 5 })
      )
      const window = yield* makeWindow(0, strategy, TokenCounter.characters)
      const result = (id: string) => tool([toolResult({ id, name: "f", result: "x".repeat(400) })])
      const call = (id: string) => assistant([toolCall({ id, name: "f", params: {} })])
      const context = yield* window.fit([user("u"), call("a"), result("a"), call("b"), result("b")])
      assert.strictEqual(texts(context)[2], "[Result cleared to save space. Call the tool again if it is needed.]")
    }))

  it.effect("everything once it fits: oldest first, no more than it must", () =>
    Effect.gen(function*() {
      const messages = [1, 2, 3].flatMap((n) => [user(`u${n}`), assistant(`a${n} ${"x".repeat(400)}`)])
      const memory = yield* makeMemory({ maxTokens: 250, strategy: TrimStrategy.shortenParts({ maxTokens: 20 }) })
      yield* memory.recordAll(messages)
      const context = yield* memory.context
      assert.strictEqual(context.length, 6)
      assert.deepStrictEqual(texts(context).map((text) => mark.test(text)), [false, true, false, false, false, false])
      assert.deepStrictEqual(context.slice(2), messages.slice(2))
      yield* memory.setMaxTokens(1000)
      assert.deepStrictEqual(yield* memory.context, messages)
    }).pipe(Effect.scoped))
})

describe("shortenParts: huge input", () => {
  it.effect("reads it a few times, not many", () =>
    Effect.gen(function*() {
      let seen = 0
      const counter = TokenCounter.make({
        id: "watching",
        count: (text) => Effect.sync(() => (seen += text.length, Math.ceil(text.length / 4)))
      })
      const size = 6_000_000
      for (
        const value of [
          "a".repeat(size),
          "😀 ".repeat(size / 3),
          Array.from({ length: size / 10 }, (_, i) => i + 1_000_000_000),
          Object.fromEntries(Array.from({ length: size / 40 }, (_, i) => [`key number ${i}`, "some value"])),
          { a: { b: { c: "a\n".repeat(size / 2) } } }
        ]
      ) {
        seen = 0
        const short = yield* shortenResult(value, 1000, counter)
        assert.isAtMost(JSON.stringify(short).length, 4010)
        // Once for the message, once for the part; then what is left.
        assert.isAtMost(seen, 3.5 * size)
      }
    }))

  it.effect("six megabytes in the newest result leave the live exchange in place", () =>
    Effect.gen(function*() {
      const memory = yield* makeMemory({ maxTokens: 1000, strategy: TrimStrategy.shortenParts({ maxTokens: 500 }) })
      const call = assistant([toolCall({ id: "c", name: "dump", params: {} })])
      yield* memory.recordAll([
        ...rounds(1),
        user("What is in it?"),
        call,
        tool([toolResult({ id: "c", name: "dump", result: "line\n".repeat(1_200_000) })])
      ])
      const context = yield* memory.context
      assert.strictEqual(context.length, 5)
      assert.strictEqual(context[3], call)
      assert.match(texts(context)[4], /^line\n[^]*\[… \d+ characters left out …\][^]*line\n$/)
    }).pipe(Effect.scoped))
})

describe("shortenParts", () => {
  it.effect("shortening what was shortened changes nothing", () =>
    Effect.gen(function*() {
      const window = yield* makeWindow(60, TrimStrategy.shortenParts({ maxTokens: 20 }), TokenCounter.characters)
      const once = yield* window.fit([1, 2, 3].map((n) => user(`u${n} `.repeat(200))))
      const twice = yield* window.fit(once)
      assert.isTrue(twice.every((message, i) => message === once[i]))
    }))

  it.effect("each message and each shortened form is counted once", () =>
    Effect.gen(function*() {
      const counted = new Map<Message.Message, number>()
      const counter: TokenCounter.Service = {
        ...TokenCounter.characters,
        countMessage: (message) =>
          Effect.tap(TokenCounter.characters.countMessage(message), () =>
            Effect.sync(() => counted.set(message, (counted.get(message) ?? 0) + 1)))
      }
      const memory = yield* makeMemory({
        maxTokens: 80,
        counter,
        strategy: TrimStrategy.shortenParts({ maxTokens: 20 })
      })
      for (let n = 1; n <= 12; n++) {
        yield* memory.record(user(`u${n} `.repeat(50)))
        yield* memory.context
        yield* memory.context
      }
      assert.isAtMost(counted.size, 24)
      assert.deepStrictEqual(new Set(counted.values()), new Set([1]))
    }).pipe(Effect.scoped))

  it.effect("a size that is no whole number is an error that says so", () =>
    Effect.gen(function*() {
      for (const maxTokens of [-1, 1.5, NaN, Infinity]) {
        const error = yield* Effect.flip(shorten(user("hi"), maxTokens))
        assert.include(error.message, `maxTokens is ${maxTokens}`)
      }
    }))
})
