import { assert, describe, it } from "@effect/vitest"
import { Encoding, type Model, TiktokenCounter } from "@effect-memory/tiktoken"
import { Config, ConfigProvider, Effect, Either, Exit, FastCheck, Fiber, Layer, Option, Ref } from "effect"
import { MemoryError, Message, TokenCounter } from "effect-memory"
import { load, loadFrom } from "../src/internal/load.js"
import { makeRandom, randomText } from "./support/random.js"
import { reference } from "./support/reference.js"
import { samples } from "./support/samples.js"

const text = FastCheck.oneof(
  FastCheck.integer().map((seed) => randomText(makeRandom(seed), 40)),
  FastCheck.constantFrom(...Object.values(samples))
)

/** Longer than a slice, with a boundary now and then. */
const longText = (seed: number, length: number): string => {
  const random = makeRandom(seed)
  let long = ""
  while (long.length < length) long += randomText(random, 200) + random.pick(Object.values(samples))
  return long.slice(0, length)
}

describe("TiktokenCounter", () => {
  describe("make", () => {
    it.effect("counts in every encoding", () =>
      Effect.forEach(Encoding.Encoding.literals, (encoding) =>
        Effect.gen(function*() {
          const counter = yield* TiktokenCounter.make({ encoding })
          const tokens = yield* counter.count(samples["prose"])
          assert.strictEqual(
            tokens,
            reference(encoding === "o200k_harmony" ? "o200k_base" : encoding)(samples["prose"])
          )
        }), { discard: true }))

    it.effect("takes the encoding of the model", () =>
      Effect.gen(function*() {
        const modern = yield* TiktokenCounter.make({ model: "gpt-4o-2024-11-20" })
        const older = yield* TiktokenCounter.make({ model: "gpt-4-turbo" })
        assert.strictEqual(yield* modern.count(samples["hindi"]), reference("o200k_base")(samples["hindi"]))
        assert.strictEqual(yield* older.count(samples["hindi"]), reference("cl100k_base")(samples["hindi"]))
      }))

    it.effect("fails for an unknown model and lists what is known", () =>
      Effect.gen(function*() {
        const error = yield* Effect.flip(TiktokenCounter.make({ model: "llama-9" }))
        assert.instanceOf(error, TiktokenCounter.UnknownModel)
        assert.strictEqual(error.model, "llama-9")
        assert.include(error.message, "\"llama-9\"")
        assert.include(error.message, "gpt-4o")
      }))

    it.effect("falls to a named encoding if asked", () =>
      Effect.gen(function*() {
        const counter = yield* TiktokenCounter.make({ model: "llama-9", fallback: "cl100k_base" })
        assert.strictEqual(counter.id, "tiktoken/cl100k_base")
        assert.strictEqual(yield* counter.count(samples["hindi"]), reference("cl100k_base")(samples["hindi"]))
      }))

    it.effect("takes what is given as undefined as not given", () =>
      Effect.gen(function*() {
        const encoding = undefined as Encoding.Encoding | undefined
        const byModel = yield* TiktokenCounter.make({ model: "gpt-4o", ...{ encoding } })
        assert.strictEqual(byModel.id, "tiktoken/gpt-4o")
        const figures = { message: undefined, image: undefined } as unknown as Partial<Model.Figures>
        const counter = yield* TiktokenCounter.make({ model: "gpt-4o", figures })
        assert.strictEqual(counter.id, "tiktoken/gpt-4o")
        assert.strictEqual(yield* counter.countMessage(Message.user("hi")), 5)
      }))

    it.effect("fails for an encoding that there is not, and lists those that there are", () =>
      Effect.gen(function*() {
        const encoding = "cl200k" as Encoding.Encoding
        const inherited = "constructor" as Encoding.Encoding
        for (const options of [{ encoding }, { model: "llama-9", fallback: encoding }, { encoding: inherited }]) {
          const error = yield* Effect.flip(TiktokenCounter.make(options))
          assert.instanceOf(error, MemoryError.TokenCountError)
          assert.include(error.message, "o200k_base")
        }
      }))

    it.effect("names another convention where other figures count", () =>
      Effect.gen(function*() {
        const usual = yield* TiktokenCounter.make({ model: "gpt-4o" })
        const other = yield* TiktokenCounter.make({ model: "gpt-4o", figures: { message: 6 } })
        assert.notStrictEqual(other.id, usual.id)
        const message = Message.user("hello")
        assert.strictEqual(yield* other.countMessage(message), (yield* usual.countMessage(message)) + 2)
      }))
  })

  it.effect("make refuses figures that are no counts, and names them", () =>
    Effect.gen(function*() {
      const call = yield* Effect.flip(TiktokenCounter.make({ model: "gpt-4o", figures: { call: NaN } }))
      assert.instanceOf(call, MemoryError.TokenCountError)
      assert.include(call.message, "call is NaN")
      const factor = yield* Effect.flip(TiktokenCounter.makeEstimate({ model: "claude-opus-5", factor: -1 }))
      assert.include(factor.message, "factor is -1")
    }))

  describe("layers", () => {
    const idOfLayer = Effect.map(TokenCounter.TokenCounter, (counter) => counter.id)

    it.effect("layer provides the counter of the memory and the special one", () =>
      Effect.gen(function*() {
        const counter = yield* TokenCounter.TokenCounter
        const special = yield* TiktokenCounter.TiktokenCounter
        assert.strictEqual(counter.id, "tiktoken/gpt-4o-mini")
        assert.strictEqual(special.id, counter.id)
      }).pipe(Effect.provide(TiktokenCounter.layer({ model: "gpt-4o-mini" }))))

    it.effect("layerConfig reads the model, and an encoding", () =>
      Effect.gen(function*() {
        const provider = ConfigProvider.fromMap(new Map([["MODEL", "gpt-5"], ["ENCODING", "r50k_base"]]))
        const configured = Layer.provide(Layer.setConfigProvider(provider))
        const byModel = TiktokenCounter.layerConfig({ model: Config.string("MODEL") })
        const byEncoding = TiktokenCounter.layerConfig({ encoding: Config.literal("r50k_base")("ENCODING") })
        assert.strictEqual(yield* Effect.provide(idOfLayer, configured(byModel)), "tiktoken/gpt-5")
        assert.strictEqual(yield* Effect.provide(idOfLayer, configured(byEncoding)), "tiktoken/r50k_base")
      }))

    it.effect("tables that cannot be loaded fail with TokenCountError", () =>
      Effect.gen(function*() {
        const cause = new Error("no such file")
        const error = yield* Effect.flip(loadFrom("o200k_base", () => Promise.reject(cause)))
        assert.instanceOf(error, MemoryError.TokenCountError)
        assert.strictEqual(error.counter, "o200k_base")
        assert.strictEqual(error.cause, cause)
      }))

    it.effect("tables that are not those known fail with TokenCountError", () =>
      Effect.gen(function*() {
        const gpt2 = "'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)|\\s+"
        const tables = [
          { pat_str: "\\S+", bpe_ranks: "! 0 IQ== Ig==" },
          { pat_str: gpt2, bpe_ranks: "! 0 IQ== Ig==" },
          { pat_str: gpt2, bpe_ranks: "" }
        ]
        for (const table of tables) {
          const result = yield* Effect.either(loadFrom("gpt2", () => Promise.resolve({ default: table })))
          assert.isTrue(Either.isLeft(result))
        }
      }))

    it.effect("layerEstimate counts other families by a factor", () =>
      Effect.gen(function*() {
        const counter = yield* TokenCounter.TokenCounter
        assert.strictEqual(counter.id, "estimate/claude*2")
        assert.strictEqual(yield* counter.count(samples["code"]), 2 * reference("o200k_base")(samples["code"]))
      }).pipe(Effect.provide(TiktokenCounter.layerEstimate({ model: "claude-sonnet-4-5", factor: 2 }))))

    it.effect("layerEstimate fails for a family that was not measured", () =>
      Effect.gen(function*() {
        const error = yield* Effect.flip(TiktokenCounter.makeEstimate({ model: "gpt-4o" }))
        assert.instanceOf(error, TiktokenCounter.UnknownModel)
        assert.deepStrictEqual(error.known, ["claude", "gemini"])
      }))
  })

  describe("count", () => {
    it.live("of a long text lets timers fire", () =>
      Effect.gen(function*() {
        const counter = yield* TiktokenCounter.make({ encoding: "o200k_base" })
        const counting = yield* Effect.fork(counter.count("The ferry is late and the harbour waits. ".repeat(300_000)))
        yield* Effect.sleep(1)
        assert.isNull(counting.unsafePoll(), "it goes on")
        yield* Fiber.interrupt(counting)
      }))

    it.effect("is one count for a long text, sliced as it may be", () =>
      Effect.gen(function*() {
        const counter = yield* TiktokenCounter.make({ encoding: "o200k_base" })
        const long = longText(1, 300_000)
        assert.strictEqual(yield* counter.count(long), reference("o200k_base")(long))
      }))

    it.effect("is right while other fibers count", () =>
      Effect.gen(function*() {
        const counter = yield* TiktokenCounter.make({ encoding: "o200k_base" })
        const texts = Array.from({ length: 8 }, (_, i) => longText(i, 100_000 + 7_919 * i))
        const alone = yield* Effect.forEach(texts, counter.count)
        const together = yield* Effect.forEach(texts, counter.count, { concurrency: "unbounded" })
        assert.deepStrictEqual(together, alone)
      }))

    it.effect("of texts without a place to cut is right while other fibers count", () =>
      Effect.gen(function*() {
        const counter = yield* TiktokenCounter.make({ encoding: "o200k_base" })
        // Pieces that are longer than what is counted at a time, and many pieces in a slice that has to grow.
        const texts = ["=", "-", "的", "ab", "xyzzy"].map((run) => run.repeat(200_000 / run.length))
        texts.push(("-".repeat(70_000) + " ".repeat(70_000)).repeat(3) + "end", "!? ".repeat(100_000))
        const alone = yield* Effect.forEach(texts, counter.count)
        const together = yield* Effect.forEach(texts, counter.count, { concurrency: "unbounded" })
        assert.deepStrictEqual(together, alone)
        const { count } = yield* load("o200k_base")
        assert.deepStrictEqual(texts.map(count), alone)
        // Tokens of 64 and, at the end of each run, what remains.
        assert.strictEqual(count("-".repeat(70_400)), 1_100)
      }))

    it.effect("of one piece of 1 MB can be interrupted", () =>
      Effect.gen(function*() {
        const counter = yield* TiktokenCounter.make({ encoding: "o200k_base" })
        const counting = yield* Effect.fork(counter.count("的".repeat(350_000)))
        yield* Effect.yieldNow().pipe(Effect.repeatN(4))
        const exit = yield* Fiber.interrupt(counting)
        assert.isTrue(Exit.isInterrupted(exit))
        assert.strictEqual(yield* counter.count(samples["prose"]), reference("o200k_base")(samples["prose"]))
      }))

    it.effect("of 10 MB lets others run and can be interrupted", () =>
      Effect.gen(function*() {
        const counter = yield* TiktokenCounter.make({ encoding: "o200k_base" })
        const turns = yield* Ref.make(0)
        const others = yield* Effect.fork(
          Effect.forever(Effect.zipRight(Ref.update(turns, (n) => n + 1), Effect.yieldNow()))
        )
        const counting = yield* Effect.fork(counter.count("ten bytes ".repeat(1_000_000)))
        yield* Effect.yieldNow().pipe(Effect.repeatN(4))
        const exit = yield* Fiber.interrupt(counting)
        assert.isTrue(Exit.isInterrupted(exit))
        assert.isAbove(yield* Ref.get(turns), 2)
        yield* Fiber.interrupt(others)
        // What was left undone does not show in the next count.
        assert.strictEqual(yield* counter.count(samples["prose"]), reference("o200k_base")(samples["prose"]))
      }))
  })

  describe("countUpTo and bounds", () => {
    it.effect.prop(
      "countUpTo gives the count exactly if it is within the limit",
      { text, limit: FastCheck.nat(60) },
      (_) =>
        Effect.gen(function*() {
          const counter = yield* TiktokenCounter.make({ encoding: "o200k_base" })
          const tokens = yield* counter.count(_.text)
          const upTo = yield* counter.countUpTo(_.text, _.limit)
          assert.deepStrictEqual(upTo, tokens <= _.limit ? Option.some(tokens) : Option.none())
        })
    )

    it.effect.prop("bounds hold the count between them", { text }, (_) =>
      Effect.gen(function*() {
        const exact = yield* TiktokenCounter.make({ encoding: "cl100k_base" })
        const estimate = yield* TiktokenCounter.makeEstimate({ model: "claude-opus-4-8" })
        for (const counter of [exact, estimate]) {
          const { atLeast, atMost } = counter.bounds(_.text)
          const tokens = yield* counter.count(_.text)
          assert.isAtLeast(tokens, atLeast)
          assert.isAtMost(tokens, atMost)
        }
      }))

    it.effect("countUpTo of a long text stops at the slice that passes the limit", () =>
      Effect.gen(function*() {
        const counter = yield* TiktokenCounter.make({ encoding: "o200k_base" })
        const long = longText(3, 200_000)
        const tokens = yield* counter.count(long)
        assert.deepStrictEqual(yield* counter.countUpTo(long, tokens), Option.some(tokens))
        assert.deepStrictEqual(yield* counter.countUpTo(long, tokens - 1), Option.none())
        assert.deepStrictEqual(yield* counter.countUpTo("ten bytes ".repeat(10_000_000), 1_000), Option.none())
      }))
  })

  describe("countMessage", () => {
    it.effect("adds the framing of a message and its author's name", () =>
      Effect.gen(function*() {
        const counter = yield* TiktokenCounter.make({ model: "gpt-4o" })
        const content = yield* counter.count("Where is the report?")
        assert.strictEqual(counter.overhead, 3)
        assert.strictEqual(yield* counter.countMessage(Message.user("Where is the report?")), 4 + content)
        assert.strictEqual(
          yield* counter.countMessage(Message.user("Where is the report?", { openai: { name: "Ada" } })),
          4 + content + 1 + (yield* counter.count("Ada"))
        )
      }))

    it.effect("adds the framing of calls, more where they are parallel", () =>
      Effect.gen(function*() {
        const figures = { call: 8, parallelCalls: 19 }
        const counter = yield* TiktokenCounter.make({ model: "gpt-4o", figures })
        const call = (id: string) => Message.toolCall({ id, name: "search", params: { query: "ferry" } })
        const texts = (yield* counter.count("search")) + (yield* counter.count("{\"query\":\"ferry\"}"))
        assert.strictEqual(yield* counter.countMessage(Message.assistant([call("1")])), 4 + texts + 8)
        assert.strictEqual(
          yield* counter.countMessage(Message.assistant([call("1"), call("2")])),
          4 + 2 * (texts + 8) + 19
        )
      }))
  })

  describe("countTools", () => {
    it.effect("counts names, descriptions, parameters and choices, also nested ones", () =>
      Effect.gen(function*() {
        const counter = yield* TiktokenCounter.make({ model: "gpt-4o" })
        const weather: TiktokenCounter.ToolDefinition = {
          name: "weather",
          description: "Tells the weather.",
          parameters: {
            type: "object",
            properties: { city: { type: "string" }, unit: { type: "string", enum: ["C", "F"] } }
          }
        }
        const nested: TiktokenCounter.ToolDefinition = {
          ...weather,
          parameters: { type: "object", properties: { places: { type: "array", items: weather.parameters } } }
        }
        const texts = ["weather:Tells the weather", "city:string:", "unit:string:", "C", "F"]
        const tokens = yield* Effect.reduce(texts, 0, (sum, text) => Effect.map(counter.count(text), (n) => sum + n))
        assert.strictEqual(yield* counter.countTools([weather]), tokens + 12 + 7 + 3 + 2 * 3 + 3)
        assert.isAbove(yield* counter.countTools([nested]), yield* counter.countTools([weather]))
        assert.strictEqual(yield* counter.countTools([]), 0)
      }))

    it.effect("does not fall for a schema that contains itself", () =>
      Effect.gen(function*() {
        const counter = yield* TiktokenCounter.make({ model: "gpt-4o" })
        const schema: Record<string, unknown> = { type: "array" }
        schema["items"] = schema
        assert.isAbove(yield* counter.countTools([{ name: "loop", parameters: schema }]), 0)
      }))

    it.effect("ends where schemas refer to themselves or stand in many places", () =>
      Effect.gen(function*() {
        const counter = yield* TiktokenCounter.make({ model: "gpt-4o" })
        const tree: Record<string, unknown> = { type: "object" }
        tree["properties"] = { left: tree, middle: tree, right: tree }
        assert.isBelow(yield* counter.countTools([{ name: "tree", parameters: tree }]), 100)
        let shared: unknown = { type: "string" }
        for (let i = 0; i < 40; i++) shared = { type: "object", properties: { a: shared, b: shared, c: shared } }
        assert.isBelow(yield* counter.countTools([{ name: "shared", parameters: shared }]), 100_000)
      }))

    it.effect("takes choices of any kind", () =>
      Effect.gen(function*() {
        const counter = yield* TiktokenCounter.make({ model: "gpt-4o" })
        const choices = [1, true, null, "C", Object.create(null), { a: 1 }]
        const parameters = { properties: { unit: { enum: choices } } }
        assert.isAbove(yield* counter.countTools([{ name: "odd", parameters }]), 0)
      }))
  })

  describe("faults that others have", () => {
    const counting = TiktokenCounter.make({ model: "gpt-4o" })

    it.effect("a control token in a message is text, not an error", () =>
      Effect.gen(function*() {
        const counter = yield* counting
        const tokens = yield* counter.countMessage(Message.user(samples["special"]))
        assert.strictEqual(tokens, 4 + reference("o200k_base")(samples["special"]))
      }))

    it.effect("names of object members are text, not table entries", () =>
      Effect.gen(function*() {
        const counter = yield* counting
        for (const name of samples["prototype"].split(" ")) {
          assert.strictEqual(yield* counter.count(name), reference("o200k_base")(name))
        }
      }))

    it.effect("a million times one character ends, with the count of its parts", () =>
      Effect.gen(function*() {
        const counter = yield* counting
        for (const char of ["a", "=", " ", "的"]) {
          const part = char.repeat(1_280)
          assert.strictEqual(yield* counter.count(part), reference("o200k_base")(part))
          const tokens = yield* counter.count(char.repeat(1_000_000))
          const expected = (yield* counter.count(part)) * 1_000_000 / 1_280
          assert.approximately(tokens, expected, 2)
        }
      }), 30_000)

    it.effect("a dense run in a tool result weighs what it costs", () =>
      Effect.gen(function*() {
        const counter = yield* counting
        const random = makeRandom(4)
        const alphabet = Array.from("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")
        const dense = Array.from({ length: 20_000 }, () => random.pick(alphabet)).join("")
        const result = Message.toolResult({ id: "1", name: "read", result: dense })
        const tokens = yield* counter.countMessage(Message.tool([result]))
        assert.strictEqual(tokens, 4 + reference("o200k_base")(dense))
        assert.isAbove(tokens, dense.length / 2)
      }))

    it.effect("a small screenshot costs by its size, not by its payload", () =>
      Effect.gen(function*() {
        const counter = yield* counting
        const header = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0, 0, 0, 13, 0x49, 0x48, 0x44, 0x52]
        const png = new Uint8Array(1_000_000)
        png.set([...header, 0, 0, 2, 0, 0, 0, 2, 0])
        const message = Message.user([Message.file({ mediaType: "image/png", data: png })])
        assert.strictEqual(yield* counter.countMessage(message), 4 + 85 + 170)
      }))

    it.effect("the whole is the sum of its messages and the overhead", () =>
      Effect.gen(function*() {
        const counter = yield* counting
        const messages = [Message.system("a"), Message.user("b")]
        const tokens = yield* Effect.forEach(messages, counter.countMessage)
        assert.strictEqual(tokens.reduce((sum, n) => sum + n, counter.overhead), 3 + (4 + 1) + (4 + 1))
      }))
  })
})
