import { assert, describe, it } from "@effect/vitest"
import { Effect, FastCheck as fc } from "effect"
import { MemoryError, Message, Summarizer, TokenCounter } from "effect-memory"
import * as generators from "./generators.js"

const bytes = TokenCounter.make({
  id: "bytes",
  count: (text) => Effect.succeed(new TextEncoder().encode(text).length)
})

/** Longer texts cost more than their parts. */
const superadditive = TokenCounter.make({
  id: "superadditive",
  count: (text) => Effect.succeed(Math.ceil(text.length ** 1.2))
})

const summarize = (
  messages: ReadonlyArray<Message.Message>,
  maxTokens: number,
  previous?: string,
  counter: TokenCounter.Service = TokenCounter.characters
) =>
  Effect.map(Summarizer.extractive(counter).summarize({ messages, previous, maxTokens }), (summary) => {
    assert.isUndefined(summary.usage)
    return summary.text
  })

const chatter = Array.from({ length: 40 }, (_, i) => [
  Message.user(`And what about the weather in the garden on day ${i}?`),
  Message.assistant(`It is fine in the garden. The weather on day ${i} is fine, and the flowers like the weather.`)
]).flat()

const task: ReadonlyArray<Message.Message> = [
  Message.user("Hello!"),
  Message.user("Hi! The checkout page must load in less than two seconds. Please find out why it is slow."),
  ...chatter.slice(0, 40),
  Message.assistant([
    Message.text("I look at the profile."),
    Message.toolCall({ id: "1", name: "read_profile", params: { path: "/var/log/checkout/profile-77.json" } })
  ]),
  Message.tool([Message.toolResult({
    id: "1",
    name: "read_profile",
    result: Array.from({ length: 500 }, (_, i) => `sample ${i} renderCart took ${i % 90} ms`).join("\n")
  })]),
  Message.assistant("See https://example.com/trace?id=ab12&page=3 for details. We decided to cache the cart in Redis."),
  ...chatter.slice(40),
  Message.user("Thanks. Deploy build 4711 to staging_eu then.")
]

describe("Summarizer.extractive", () => {
  it.effect("keeps goals, decisions, identifiers, paths, URLs and numbers", () =>
    Effect.gen(function*() {
      const text = yield* summarize(task, 200)
      assert.isAtMost(yield* TokenCounter.characters.count(text), 200)
      for (
        const fact of [
          "user: The checkout page must load in less than two seconds.",
          "user: Please find out why it is slow.",
          "assistant: We decided to cache the cart in Redis.",
          "/var/log/checkout/profile-77.json",
          "https://example.com/trace?id=ab12&page=3",
          "4711",
          "staging_eu",
          "renderCart"
        ]
      ) assert.include(text, fact)
    }))

  it.effect("gives whole lines in the order of the conversation", () =>
    Effect.gen(function*() {
      const lines = (yield* summarize(task, 200)).split("\n").filter((line) => !line.startsWith("mentioned: "))
      const all = task.flatMap((message) => Message.parts(message).map((part) => part.type === "text" ? part.text : ""))
        .join("\n")
      const places = lines.filter((line) => /^(user|assistant): /.test(line))
        .map((line) => all.indexOf(line.slice(line.indexOf(" ") + 1)))
      assert.isAbove(places.length, 3)
      assert.isFalse(places.includes(-1))
      assert.deepStrictEqual(places, [...places].sort((a, b) => a - b))
    }))

  it.effect("takes lines of a tool that differ in numbers only for one", () =>
    Effect.gen(function*() {
      const text = yield* summarize(task.filter(({ role }) => role === "tool"), 300)
      assert.strictEqual(text.split("\n").filter((line) => line.startsWith("tool_result: ")).length, 1)
    }))

  it.effect("says everything where there is room", () =>
    Effect.gen(function*() {
      assert.strictEqual(
        yield* summarize([Message.user("One is here. Two is there!"), Message.assistant("三。四！")], 100),
        "user: One is here.\nuser: Two is there!\nassistant: 三。\nassistant: 四！"
      )
    }))

  it.effect("merges with the summary before", () =>
    Effect.gen(function*() {
      const first = yield* summarize(task, 200)
      const next = [
        Message.user("Now the search page is slow as well, see src/search/index.ts please."),
        ...chatter,
        Message.assistant("We agreed to add an index on column created_at.")
      ]
      const second = yield* summarize(next, 200, first)
      const third = yield* summarize(next.map((m) => Message.user(`Again: ${JSON.stringify(m.content)}`)), 200, second)
      for (const text of [second, third]) {
        assert.isAtMost(yield* TokenCounter.characters.count(text), 200)
        assert.include(text, "user: The checkout page must load in less than two seconds.")
        assert.include(text, "assistant: We decided to cache the cart in Redis.")
        assert.include(text, "src/search/index.ts")
        assert.include(text, "created_at")
      }
      assert.include(second, "staging_eu")
      assert.isBelow(second.indexOf("Redis"), second.indexOf("assistant: We agreed to add an index"))
    }))

  it.effect("leaves half of the room to what is new", () =>
    Effect.gen(function*() {
      const previous = Array.from({ length: 60 }, (_, i) => `Point ${i}: the team must never forget rule ${i}.`).join(
        "\n"
      )
      const text = yield* summarize([Message.user("x".repeat(7)), ...chatter], 200, previous)
      const lines = text.split("\n")
      const old = lines.filter((line) => line.startsWith("Point ")).join("\n")
      const fresh = lines.filter((line) => /^(user|assistant): /.test(line)).join("\n")
      assert.isAbove(yield* TokenCounter.characters.count(old), 40)
      assert.isAbove(yield* TokenCounter.characters.count(fresh), 60)
    }))

  it.effect("says a thing once", () =>
    Effect.gen(function*() {
      const messages = [Message.user("Please keep the door closed."), Message.user("PLEASE keep the door closed.")]
      assert.strictEqual(
        yield* summarize(messages, 100, "user: Please keep the door closed."),
        "user: Please keep the door closed."
      )
    }))

  it.effect.each([
    ["Chinese", "请修复登录页面的错误。", "用户今天很忙，我们决定使用新的数据库。", "文件src/登录/index.ts在主分支。"],
    [
      "Japanese",
      "ログインページのエラーを直してください。",
      "新しいデータベースを使うことに決めました。",
      "ファイルはsrc/login.tsです。"
    ],
    [
      "Korean",
      "로그인 페이지의 오류를 고쳐 주세요.",
      "새 데이터베이스를 쓰기로 결정했습니다.",
      "파일은 src/login.ts 입니다."
    ],
    ["Arabic", "من فضلك أصلح خطأ صفحة الدخول.", "قررنا استخدام قاعدة بيانات جديدة.", "الملف هو src/login.ts هنا."],
    ["Hindi", "कृपया लॉगिन पेज की गलती ठीक करें।", "हमने नया डेटाबेस लेने का निर्णय किया।", "फ़ाइल src/login.ts में है।"],
    ["Thai", "ช่วยแก้ข้อผิดพลาดหน้าเข้าสู่ระบบ", "เราตัดสินใจใช้ฐานข้อมูลใหม่", "ไฟล์คือsrc/login.tsครับ"],
    [
      "Russian",
      "Исправь ошибку на странице входа.",
      "Мы решили взять новую базу данных.",
      "Файл лежит в src/login.ts сейчас."
    ],
    [
      "German",
      "Bitte behebe den Fehler der Anmeldeseite.",
      "Beschlossen ist eine neue Datenbank.",
      "Die Datei ist src/login.ts jetzt."
    ]
  ])("works in %s", ([, goal, decision, place]) =>
    Effect.gen(function*() {
      const filler = Array.from({ length: 30 }, (_, i) => Message.assistant(`${i} 😀 … ${"~".repeat(i)}`))
      const text = yield* summarize([
        Message.user(goal),
        ...filler,
        Message.assistant(`${decision}\n${place}`),
        ...filler
      ], 70)
      assert.include(text, `user: ${goal}`)
      assert.include(text, `assistant: ${decision}`)
      assert.match(text, /src\/(login|登录\/index)\.ts|\/index\.ts/)
    }))

  it.effect("cuts the most important line rather than leave it out", () =>
    Effect.gen(function*() {
      const goal = `Please translate ${"this long text about the harbour ".repeat(10)}`
      const text = yield* summarize([Message.user(goal), ...chatter], 60)
      assert.include(text, "user: Please translate this long text")
      assert.include(text, "garden")
    }))

  it.effect("keeps a beginning where nothing else fits", () =>
    Effect.gen(function*() {
      assert.strictEqual(yield* summarize(task, 1), "user")
      assert.strictEqual(yield* summarize([Message.user("😀 yes")], 10, undefined, bytes), "user: 😀")
      assert.strictEqual(yield* summarize([Message.user("😀 yes")], 9, undefined, bytes), "user:")
    }))

  it.effect("takes messages without words as they are", () =>
    Effect.gen(function*() {
      assert.strictEqual(yield* summarize([Message.user("")], 10), "user:")
      assert.strictEqual(yield* summarize([Message.user("???"), Message.assistant([])], 10), "user: ???\nassistant:")
      assert.strictEqual(yield* summarize([Message.user("!")], 10, "mentioned: ab12"), "mentioned: ab12")
      assert.strictEqual(yield* summarize([Message.tool([])], 10, " ... "), "...")
    }))

  it.effect("fails where there is no text, or no room for any", () =>
    Effect.gen(function*() {
      for (
        const effect of [
          summarize([Message.tool([])], 10),
          summarize(task, 0),
          summarize(task, Number.NaN),
          summarize([], 10)
        ]
      ) {
        assert.strictEqual((yield* Effect.flip(effect)).reason, "empty")
      }
    }))

  it.effect("returns the summary before where there is nothing new", () =>
    Effect.gen(function*() {
      assert.strictEqual(yield* summarize([], 10, "before"), "before")
    }))

  it.effect("fails where the counter does", () =>
    Effect.gen(function*() {
      const cause = new MemoryError.TokenCountError({ counter: "broken", reason: "no answer" })
      const counter = TokenCounter.make({ id: "broken", count: () => Effect.fail(cause) })
      const error = yield* Effect.flip(summarize(task, 100, undefined, counter))
      assert.strictEqual(error.reason, "provider")
      assert.instanceOf(error.cause, MemoryError.TokenCountError)
    }))

  it.effect("never lists long data or field names as facts", () =>
    Effect.gen(function*() {
      const text = yield* summarize([
        Message.user("Look, please."),
        Message.tool([Message.toolResult({
          id: "1",
          name: "get",
          result: { order_id: "A-17", payload: "QUJD12".repeat(100), path: "C:\\new\\report.txt" }
        })])
      ], 60)
      const facts = text.split("\n").at(-1)!
      assert.include(facts, "A-17")
      assert.include(facts, "C:\\\\new\\\\report.txt")
      assert.notInclude(facts, "order_id")
      assert.notInclude(facts, "QUJD12")
    }))

  it.effect("is the service of layerExtractive", () =>
    Effect.gen(function*() {
      const summarizer = yield* Summarizer.Summarizer
      const { text } = yield* summarizer.summarize({ messages: task, previous: undefined, maxTokens: 5 })
      assert.isAtMost(new TextEncoder().encode(text).length, 5)
    }).pipe(
      Effect.provide(Summarizer.layerExtractive),
      Effect.provideService(TokenCounter.TokenCounter, bytes)
    ))

  it.effect.prop(
    "is within the limit, never blank, the same each time, for any messages",
    {
      messages: fc.oneof(generators.conversation, generators.hostile, generators.malformed),
      previous: fc.option(fc.oneof(generators.text, fc.string({ unit: "binary" })), { nil: undefined }),
      maxTokens: fc.oneof(fc.integer({ min: 5, max: 60 }), fc.integer({ min: 60, max: 600 })),
      counter: fc.constantFrom(TokenCounter.characters, bytes, superadditive)
    },
    ({ counter, maxTokens, messages, previous }) =>
      Effect.gen(function*() {
        generators.freeze(messages)
        if (!messages.some((message) => message.role !== "tool" || message.content.length > 0)) return
        const text = yield* summarize(messages, maxTokens, previous, counter)
        assert.isAtMost(yield* counter.count(text), maxTokens)
        assert.notStrictEqual(text.trim(), "")
        assert.strictEqual(text, text.trim())
        assert.isTrue(text.isWellFormed())
        assert.strictEqual(yield* summarize(messages, maxTokens, previous, counter), text)
      }),
    { fastCheck: { numRuns: 150 }, timeout: 30_000 }
  )

  it.effect.each([
    "The quick brown fox jumps over src/index.ts and returns 42 values. ",
    "a",
    " ",
    "\n",
    "a\n",
    ".",
    "a.",
    "? ",
    "_",
    "a/",
    "a@",
    "\\n",
    "\ud83d",
    "👩‍👩‍👧‍👦",
    "\u0301",
    "今天天气很好我们去公园散步",
    "สวัสดีครับผมชื่อสมชาย",
    "{\"a\":",
    "user:\n",
    "must "
  ])("is done with any large text (%j)", (unit) =>
    Effect.gen(function*() {
      const large = unit.repeat(300_000 / unit.length)
      const messages = [
        Message.user(large),
        Message.assistant([Message.toolCall({ id: "1", name: "x", params: { large } })]),
        Message.tool([Message.toolResult({ id: "1", name: "x", result: large })])
      ]
      const text = yield* summarize(messages, 100, large.toWellFormed())
      assert.isAtMost(yield* TokenCounter.characters.count(text), 100)
      assert.notStrictEqual(text.trim(), "")
    }), 30_000)
})
