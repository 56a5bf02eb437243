import { assert, describe, it } from "@effect/vitest"
import { Conversation, Format } from "@effect-memory/formats"
import { Chunk, Effect, Exit, FastCheck as fc, Stream } from "effect"
import { Message } from "effect-memory"
import { conversations, errors, lines, readAll } from "./utilities.js"

const chat = (text: string) => ({ model: "gpt-4o", messages: [{ role: "user", content: text }] })

const texts = (found: ReadonlyArray<Conversation.Conversation>) =>
  found.map(({ messages }) =>
    messages.map((message) => Message.parts(message).map((part) => "text" in part && part.text).join()).join()
  )

/** The text as bytes, cut at the given places. */
const cut = (text: string, places: ReadonlyArray<number>): ReadonlyArray<Uint8Array> => {
  const bytes = new TextEncoder().encode(text)
  const ends = [...places.map((place) => place % (bytes.length + 1)), bytes.length].toSorted((a, b) => a - b)
  return ends.map((end, i) => bytes.slice(i === 0 ? 0 : ends[i - 1], end))
}

const collect = (chunks: Iterable<string | Uint8Array>, options?: Format.ReadOptions) =>
  Effect.map(Stream.runCollect(Format.read(Stream.fromIterable(chunks), options)), Chunk.toReadonlyArray)

describe("Format", () => {
  describe("what a file may hold", () => {
    it.effect("one body on one line, and over many lines", () =>
      Effect.gen(function*() {
        for (
          const text of [
            JSON.stringify(chat("hi")),
            JSON.stringify(chat("hi"), null, 2),
            `\ufeff\r\n${JSON.stringify(chat("hi"))}\r\n`
          ]
        ) {
          assert.deepStrictEqual(texts(yield* conversations(text)), ["hi"])
        }
      }))

    it.effect("lines, each a conversation of its own", () =>
      Effect.gen(function*() {
        const found = yield* conversations(`${lines([chat("a")])}\n${lines([chat("b"), chat("c")])}`)
        assert.deepStrictEqual(texts(found), ["a", "b", "c"])
        assert.deepStrictEqual(found.map(({ index, line }) => [index, line]), [[0, 1], [1, 3], [2, 4]])
      }))

    it.effect("a list of bodies, by itself or by name", () =>
      Effect.gen(function*() {
        assert.deepStrictEqual(texts(yield* conversations(JSON.stringify([chat("a"), chat("b")], null, 1))), ["a", "b"])
        assert.deepStrictEqual(texts(yield* conversations(JSON.stringify({ x: chat("a"), y: chat("b") }))), ["a", "b"])
        const traj = [{ traj: chat("a").messages }, { traj: chat("b").messages }]
        assert.deepStrictEqual(texts(yield* conversations(JSON.stringify(traj))), ["a", "b"])
      }))

    it.effect("recorded exchanges", () =>
      Effect.gen(function*() {
        const response = { choices: [{ message: { role: "assistant", content: "hello" } }] }
        const usage = { prompt_tokens: 8, completion_tokens: 1 }
        const [ok, failed] = yield* conversations(lines([
          { request: chat("a"), usage, response },
          { request: chat("b"), usage: null, response: { error: { message: "no" } } }
        ]))
        assert.deepStrictEqual(ok.response, [Message.assistant("hello")])
        assert.deepStrictEqual(ok.usage, [{ messages: 1, inputTokens: 8, outputTokens: 1 }])
        assert.deepStrictEqual([failed.response, failed.usage], [[], []])
      }))

    it.effect("nothing", () =>
      Effect.gen(function*() {
        assert.deepStrictEqual(yield* readAll(""), [])
        assert.deepStrictEqual(yield* readAll(" \n\n"), [])
      }))
  })

  describe("streaming", () => {
    const sample = lines([chat("Größe 動物園 👩‍👩‍👧‍👦"), chat("b"), { messages: 5 }, chat("c")])

    it.effect.prop(
      "reads the same however the bytes are cut",
      { places: fc.array(fc.nat(), { maxLength: 12 }), pretty: fc.boolean() },
      ({ places, pretty }) =>
        Effect.gen(function*() {
          const text = pretty ? JSON.stringify([chat("動物園 👩‍👩‍👧‍👦"), chat("b")], null, 2) : sample
          assert.deepStrictEqual(yield* collect(cut(text, places)), yield* collect([text]))
        })
    )

    it.effect("gives out a line before it asks for what comes after the next", () =>
      Effect.gen(function*() {
        const chunks = Stream.concat(
          Stream.fromIterable(lines([chat("a"), chat("b")]).split(/(?<=\n)/)),
          Stream.die("asked for too much")
        ).pipe(Stream.rechunk(1))
        const found = yield* Stream.runCollect(Stream.take(Format.read(chunks, { format: "openai-chat" }), 2))
        assert.strictEqual(found.length, 2)
      }))
  })

  describe("damage", () => {
    it.effect("reads good lines and reports bad ones in their places", () =>
      Effect.gen(function*() {
        const text = `${lines([chat("a")])}{"messages":[{"role\n${
          lines([chat("b"), { messages: [{ role: "user", content: 5 }] }, 7])
        }`
        const found = yield* readAll(text, { file: "log.jsonl" })
        assert.deepStrictEqual(found.map((one) => one._tag === "Conversation" ? one.index : one.message), [
          0,
          "log.jsonl, line 2 is not valid JSON: mend or remove it",
          1,
          "log.jsonl, line 4: messages.0.content is 5: expected text or a list or null",
          "log.jsonl, line 5: messages is no list: expected a list of messages in \"messages\" or \"traj\""
        ])
      }))

    it.effect("makes no conversation of records that are all bad", () =>
      Effect.gen(function*() {
        for (const format of ["native", "claude-code", "pi", "oasst", "openai-chat"]) {
          const found = yield* readAll(lines([{ neither: 1 }, { nor: 2 }]), { format })
          assert.isNotEmpty(found)
          assert.isTrue(found.every((one) => one._tag === "FormatError"), format)
        }
      }))

    it.effect("ends at the first bad record when strict", () =>
      Effect.gen(function*() {
        const exit = yield* Effect.exit(readAll(`${lines([chat("a")])}oops\n`, { strict: true }))
        assert.isTrue(Exit.isFailure(exit))
      }))

    it.effect("reads on where the first line is cut short or is garbage", () =>
      Effect.gen(function*() {
        for (const first of ["{\"messages\":[{\"role\":\"user\",\"cont", "garbage"]) {
          const text = `${first}\n${lines([chat("a"), chat("b")])}`
          assert.deepStrictEqual(texts(yield* conversations(text)), ["a", "b"])
          assert.deepStrictEqual((yield* errors(text)).map((error) => error.line), [1])
        }
      }))

    it.effect("reads the whole items of a list that is cut short", () =>
      Effect.gen(function*() {
        for (const text of [JSON.stringify([chat("a"), chat("b")]), JSON.stringify([chat("a"), chat("b")], null, 2)]) {
          const found = yield* readAll(text.slice(0, -8))
          assert.deepStrictEqual(found.map((one) => one._tag), ["Conversation", "FormatError"])
        }
      }))

    it.effect("reports a document that is cut short", () =>
      Effect.gen(function*() {
        const [error, ...more] = yield* readAll(JSON.stringify(chat("a"), null, 2).slice(0, -8), {
          format: "openai-chat"
        })
        assert.strictEqual(error._tag, "FormatError")
        assert.deepStrictEqual(more, [])
      }))

    it.effect("takes lists that are too long for the stack", () =>
      Effect.gen(function*() {
        const count = 150_000
        const parts = Array.from({ length: count }, () => ({ type: "text", text: "" }))
        const values = [
          { messages: [{ role: "assistant", content: parts }] },
          Array.from({ length: count }, (_, i) => ({
            message_id: `${i}`,
            parent_id: i === 0 ? null : "0",
            role: i === 0 ? "prompter" : "assistant",
            text: ""
          }))
        ]
        for (const value of values) {
          const [conversation] = yield* conversations(JSON.stringify(value))
          yield* Format.encode(conversation)
        }
      }), 60_000)

    it.effect("refuses nesting that would exhaust the stack", () =>
      Effect.gen(function*() {
        const deep = `{"messages":${"[".repeat(100_000)}${"]".repeat(100_000)}}`
        const [error] = yield* errors(deep, { format: "openai-chat" })
        assert.match(error.message, /nested deeper than/)
      }))
  })

  describe("finding the format", () => {
    it.effect("lists the known formats where there is none", () =>
      Effect.gen(function*() {
        const byName = yield* Effect.flip(Format.find("word"))
        assert.match(byName.message, /^there is no format "word": take one of .*openai-chat/)
        const byContent = yield* Effect.flip(readAll("{\"a\":1}", { file: "a.json" }))
        assert.match(byContent.message, /^a.json: the content is of no known format: name one of .*openai-chat/)
        assert.strictEqual((yield* Effect.flip(Format.detect("hello")))._tag, "UnknownFormat")
        assert.strictEqual((yield* Effect.flip(readAll("{}", { format: "word" })))._tag, "UnknownFormat")
        assert.strictEqual(
          (yield* Effect.flip(Effect.flip(readAll("{}", { format: "openai-chat" }))))[0]._tag,
          "FormatError"
        )
      }))

    it.effect.prop(
      "tells the format of a text that is cut anywhere",
      { at: fc.nat({ max: 200 }) },
      ({ at }) =>
        Effect.gen(function*() {
          const tools = [{ type: "function", function: { name: "a", parameters: {} } }]
          const text = JSON.stringify({
            messages: [{ role: "user", content: "a \\\"b" }, { role: "user", content: "[{" }],
            tools
          })
          const whole = text.slice(0, 50 + at)
          assert.strictEqual((yield* Format.detect(whole)).id, "openai-chat")
        })
    )

    it.effect("takes a codec of one's own", () =>
      Effect.gen(function*() {
        const native = yield* Format.find("native")
        const [found] = yield* conversations(lines([{ role: "user", content: "hi" }]), {
          format: { ...native, id: "mine" }
        })
        assert.strictEqual(found.format, "mine")
      }))
  })

  describe("writing", () => {
    it.effect("writes conversations so that they can be read again", () =>
      Effect.gen(function*() {
        const written = Format.write(
          Stream.make(Conversation.make([Message.user("a")]), Conversation.make([Message.user("b")])),
          {
            format: "openai-chat"
          }
        )
        const text = yield* Stream.mkString(Stream.map(written, ({ text }) => text))
        assert.deepStrictEqual(texts(yield* conversations(text)), ["a", "b"])
      }))

    it.effect("never joins conversations", () =>
      Effect.gen(function*() {
        const two = Stream.make(Conversation.make([Message.user("a")]), Conversation.make([Message.user("b")]))
        const error = yield* Effect.flip(Stream.runDrain(Format.write(two, { format: "native" })))
        assert.match(error.message, /a file of native holds one conversation, and this is the second/)
      }))

    it.effect("says which fields of the record another format leaves out", () =>
      Effect.gen(function*() {
        const [conversation] = yield* conversations(lines([chat("a")]))
        const { notes } = yield* Format.encode(conversation, { format: "anthropic-messages" })
        assert.deepStrictEqual(notes, [{ kind: "lost", what: "field \"model\" of the record", count: 1 }])
      }))
  })
})
