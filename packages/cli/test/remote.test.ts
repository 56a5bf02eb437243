/**
 * Counters and summarizers that ask a service, here a server of the test.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as files from "./files.js"
import { json, lines, run } from "./run.js"
import { type Asked, type Handler, listen, nowhere, type Reply } from "./service.js"

const key = "sk-test-0123456789"

const secret = "the vault opens at midnight"

const words = `${secret}, `.repeat(12)

const talk = files.write(
  "talk.jsonl",
  Array.from({ length: 6 }, (_, i) => [
    { role: "user", content: `Question ${i}: ${words}` },
    { role: "assistant", content: `Answer ${i}: ${words}` }
  ]).flat().map((message) => `${JSON.stringify(message)}\n`).join("")
)

/** About as much as is counted here, and nothing that is. */
const tokensOf = ({ body }: Asked): number => Math.ceil(body.length / 5)

const counters = [
  {
    name: "anthropic:claude-sonnet-4-5",
    base: "",
    path: "/v1/messages/count_tokens",
    variable: "ANTHROPIC_API_KEY",
    header: ["x-api-key", key],
    answer: (tokens: number): unknown => ({ input_tokens: tokens })
  },
  {
    name: "openai:gpt-4o",
    base: "/v1",
    path: "/v1/responses/input_tokens",
    variable: "OPENAI_API_KEY",
    header: ["authorization", `Bearer ${key}`],
    answer: (tokens: number): unknown => ({ input_tokens: tokens })
  },
  {
    name: "gemini:gemini-2.5-pro",
    base: "/v1beta",
    path: "/v1beta/models/gemini-2.5-pro:countTokens",
    variable: "GEMINI_API_KEY",
    header: ["x-goog-api-key", key],
    answer: (tokens: number): unknown => ({ totalTokens: tokens })
  },
  {
    name: "vllm:qwen3",
    base: "",
    path: "/tokenize",
    variable: "",
    header: ["authorization", undefined],
    answer: (tokens: number): unknown => ({ count: tokens })
  },
  {
    name: "llamacpp",
    base: "",
    path: "/v1/chat/completions/input_tokens",
    variable: "",
    header: ["authorization", undefined],
    answer: (tokens: number): unknown => ({ input_tokens: tokens })
  },
  {
    name: "tgi",
    base: "",
    path: "/chat_tokenize",
    variable: "",
    header: ["authorization", undefined],
    answer: (tokens: number): unknown => ({ tokenize_response: Array.from({ length: tokens }, () => ({})) })
  }
] as const

const summarizers = [
  {
    name: "anthropic:claude-haiku-4-5",
    base: "",
    path: "/v1/messages",
    answer: (text: string): unknown => ({ content: [{ type: "text", text }], stop_reason: "end_turn" })
  },
  {
    name: "openai:gpt-4.1-mini",
    base: "/v1",
    path: "/v1/chat/completions",
    answer: (text: string): unknown => ({ choices: [{ message: { content: text }, finish_reason: "stop" }] })
  },
  {
    name: "gemini:gemini-2.5-flash",
    base: "/v1beta",
    path: "/v1beta/models/gemini-2.5-flash:generateContent",
    answer: (text: string): unknown => ({ candidates: [{ content: { parts: [{ text }] }, finishReason: "STOP" }] })
  }
] as const

const [anthropic] = counters

const counting: Handler = (asked) => ({ body: anthropic.answer(tokensOf(asked)) })

const notFound: Reply = { status: 404, body: { error: { type: "not_found_error", message: "model: claude-x" } } }

const budget = ["--max-tokens", "500"]

const withCounter = (url: string, name: string = anthropic.name) => ["--counter", name, "--base-url", url]

const tagged = (stdout: string, tag: string) => json(stdout).filter(({ _tag }) => _tag === tag)

const service = (stdout: string) => {
  const [{ _tag, ...one }] = tagged(stdout, "Service")
  return one
}

describe("a remote counter", () => {
  for (const { answer, base, header: [header, value], name, path, variable } of counters) {
    it.scopedLive(`${name} counts what is handed out`, () =>
      Effect.gen(function*() {
        const { seen, url } = yield* listen((asked) => ({ body: answer(tokensOf(asked)) }))
        const { code, stderr, stdout } = yield* run(
          ["replay", talk, ...budget, ...withCounter(url + base, name), "--json"],
          { env: { [variable]: key } }
        )
        assert.deepStrictEqual([code, stderr], [0, ""])
        const requests = yield* seen
        for (const asked of requests) {
          assert.strictEqual(asked.path, path)
          if (value !== undefined) assert.strictEqual(asked.headers[header], value)
        }
        const exact = tagged(stdout, "Turn").map((turn) => turn.exact as number)
        assert.isTrue(exact.every((tokens) => tokens > 0 && tokens <= 500))
        assert.isAbove(Math.max(...exact), 200)
        assert.strictEqual(tagged(stdout, "Totals")[0].largest, Math.max(...exact))
        assert.deepStrictEqual(service(stdout), {
          use: "counter",
          name,
          requests: requests.length,
          retries: 0,
          failures: 0,
          fallbacks: 0
        })
        assert.notInclude(stdout, key)
      }))
  }

  it.scopedLive("needs no key where the server is one's own", () =>
    Effect.gen(function*() {
      const { seen, url } = yield* listen(counting)
      const { code } = yield* run(["count", talk, ...withCounter(url)], { env: { ANTHROPIC_API_KEY: "" } })
      assert.strictEqual(code, 0)
      assert.lengthOf(yield* seen, 1)
    }))

  it.scopedLive("is told in the table, and by the rows", () =>
    Effect.gen(function*() {
      const { url } = yield* listen(counting)
      const { stdout } = yield* run(["replay", talk, ...budget, ...withCounter(url)])
      assert.match(lines(stdout)[1], /^turn {2}role {8}recorded {3}context {5}exact {2}of 500/)
      assert.match(
        stdout,
        /\nServices\n {2}counter {5}anthropic:claude-sonnet-4-5 {2}\d+ requests, 0 retries, 0 failures\n$/
      )
      const compared = yield* run(["replay", talk, ...budget, "--max-tokens", "800", ...withCounter(url)])
      assert.match(compared.stdout, /\nServices\n {2}counter/)
    }))

  it.scopedLive("is asked again where it fails for a while", () =>
    Effect.gen(function*() {
      const { url } = yield* listen((asked, n) => n === 0 ? { status: 503, body: "" } : counting(asked, n))
      const { code, stderr, stdout } = yield* run(["replay", talk, ...budget, ...withCounter(url), "--json"])
      assert.deepStrictEqual([code, stderr], [0, ""])
      assert.deepInclude(service(stdout), { retries: 1, failures: 0, fallbacks: 0 })
    }))

  const failing: ReadonlyArray<readonly [what: string, reply: Reply, sentence: RegExp]> = [
    ["does not know the model", notFound, /\(status 404\): the model is not known there: check the name/],
    ["has no such route", { status: 404, body: "<html>nothing here</html>" }, /has no such route: check the base URL/],
    ["refuses the key", { status: 401, body: { error: { type: "authentication_error" } } }, /the key was refused/],
    ["answers with garbage", { body: { tokens: "many" } }, /the answer is not what such a service answers/],
    ["answers with no JSON", { body: "<html>welcome</html>" }, /the answer is not what such a service answers/]
  ]

  for (const [what, reply, sentence] of failing) {
    it.scopedLive(`that ${what} is done without, and that is said once`, () =>
      Effect.gen(function*() {
        const { url } = yield* listen(() => reply)
        const args = ["replay", talk, ...budget, ...withCounter(url), "--json"]
        const { code, stderr, stdout } = yield* run(args, { env: { ANTHROPIC_API_KEY: key } })
        assert.strictEqual(code, 0)
        assert.lengthOf(lines(stderr), 1)
        assert.match(stderr, sentence)
        assert.match(stderr, /; contexts are held by what is counted locally, with a margin\n$/)
        const turns = tagged(stdout, "Turn")
        assert.lengthOf(turns, 7)
        for (const { context, exact } of turns) {
          assert.isUndefined(exact)
          assert.isAtMost((context as { readonly tokens: number }).tokens, 500)
        }
        const { failures, fallbacks, requests } = service(stdout)
        assert.isAbove(requests as number, 0)
        assert.isAbove(failures as number, 0)
        assert.isAtLeast(fallbacks as number, failures as number)
        assert.notInclude(stdout + stderr, key)
        assert.notInclude(stdout + stderr, secret)
      }))
  }

  it.live("that is down is done without", () =>
    Effect.gen(function*() {
      const url = yield* nowhere
      const replayed = yield* run(["replay", talk, ...budget, ...withCounter(url)])
      assert.strictEqual(replayed.code, 0)
      assert.match(
        replayed.stderr,
        /^[^\n]*no answer came: check that the base URL can be reached from here; [^\n]*\n$/
      )
      assert.match(replayed.stdout, /2 failures, \d+ calls without an answer\n$/)
      const fitted = yield* run(["fit", talk, ...budget, ...withCounter(url), "-o", files.at("down.jsonl"), "--json"])
      assert.strictEqual(fitted.code, 0)
      assert.lengthOf(lines(fitted.stderr), 1)
      assert.isUndefined(tagged(fitted.stdout, "Fitted")[0].exact)
    }))
})

describe("count with a service", () => {
  it.scopedLive("tells what is counted here, and what the service counts", () =>
    Effect.gen(function*() {
      const { url } = yield* listen(() => ({ body: { input_tokens: 1234 } }))
      const { code, stdout } = yield* run(["count", talk, "--by", "role", ...withCounter(url)])
      assert.strictEqual(code, 0)
      const [local, exact, title, services] = lines(stdout).slice(-4)
      assert.match(local, /^[\d,]+ tokens in 12 messages, 6 rounds {2}\(estimate\/claude\*1.4\)$/)
      assert.strictEqual(exact, "1,234 tokens as anthropic:claude-sonnet-4-5 counts the whole")
      assert.strictEqual(title, "Services")
      assert.match(services, / 1 request, 0 retries, 0 failures$/)
    }))

  it.scopedLive("adds up", () =>
    Effect.gen(function*() {
      const { url } = yield* listen(() => ({ body: { input_tokens: 100 } }))
      const { stdout } = yield* run(["count", files.many, ...withCounter(url)])
      assert.include(stdout, " in 3 conversations\n300 tokens as anthropic:claude-sonnet-4-5 counts the whole\n")
      const { stdout: objects } = yield* run(["count", files.many, ...withCounter(url), "--json"])
      assert.deepStrictEqual(tagged(objects, "Total").map(({ exact }) => exact), [100, 100, 100])
    }))

  it.scopedLive("fails where the service does, after what is counted here", () =>
    Effect.gen(function*() {
      const { url } = yield* listen(() => notFound)
      const { code, stderr, stdout } = yield* run(["count", files.many, ...withCounter(url), "--json"])
      assert.strictEqual(code, 1)
      assert.match(stderr, /many.jsonl, conversation 1: .* check the name of the model \(2 more like it\)\n$/)
      assert.lengthOf(lines(stderr), 1)
      assert.deepStrictEqual(tagged(stdout, "Total").map(({ exact }) => exact), [undefined, undefined, undefined])
    }))
})

describe("fit with a service", () => {
  it.scopedLive("tells what the service counts", () =>
    Effect.gen(function*() {
      const { url } = yield* listen(counting)
      const args = ["fit", talk, ...budget, ...withCounter(url), "-o", files.at("fitted.jsonl")]
      const { code, stdout } = yield* run(args)
      assert.strictEqual(code, 0)
      const found = /\n {2}(\d+) tokens as anthropic:claude-sonnet-4-5 counts what is left, \d+% of 500\n/.exec(stdout)
      assert.isAtMost(Number(found?.[1]), 500)
    }))

  it.scopedLive("is over the budget where the service says so", () =>
    Effect.gen(function*() {
      const { url } = yield* listen(() => ({ body: { input_tokens: 501 } }))
      const args = ["fit", talk, ...budget, ...withCounter(url), "-o", files.at("over.jsonl")]
      const { code, stderr } = yield* run(args)
      assert.strictEqual(code, 1)
      assert.match(
        stderr,
        /conversation 1: what is left takes 501 tokens as anthropic:claude-sonnet-4-5 counts it, over the budget of 500/
      )
    }))
})

describe("a remote summarizer", () => {
  for (const { answer, base, name, path } of summarizers) {
    it.scopedLive(`${name} writes the summary`, () =>
      Effect.gen(function*() {
        const { seen, url } = yield* listen(() => ({ body: answer("They asked about the vault.") }))
        const file = files.at(`summarized-${name.slice(0, 6)}.jsonl`)
        const { code, stderr, stdout } = yield* run(
          [
            "fit",
            talk,
            ...budget,
            "--strategy",
            "summarize",
            "--summarizer",
            name,
            "--base-url",
            url + base,
            "-o",
            file
          ]
        )
        assert.deepStrictEqual([code, stderr], [0, ""])
        assert.deepStrictEqual((yield* seen).map((asked) => asked.path), [path])
        assert.include(files.read(file), "They asked about the vault.")
        assert.match(
          stdout,
          new RegExp(`\\nServices\\n {2}summarizer {2}${name} {2}1 request, 0 retries, 0 failures\\n$`)
        )
      }))
  }

  it.scopedLive("works beside a remote counter", () =>
    Effect.gen(function*() {
      const [, openai] = summarizers
      const counter = yield* listen(counting)
      const model = yield* listen(() => ({ body: openai.answer("They asked about the vault.") }))
      const { code, stderr, stdout } = yield* run([
        ...["replay", talk, ...budget, "--strategy", "summarize", ...withCounter(counter.url)],
        ...["--summarizer", openai.name, "--summarizer-base-url", `${model.url}/v1`, "--json"]
      ])
      assert.deepStrictEqual([code, stderr], [0, ""])
      const asked = tagged(stdout, "Service").map(({ requests, use }) => [use, requests])
      assert.deepStrictEqual(asked, [
        ["counter", (yield* counter.seen).length],
        ["summarizer", (yield* model.seen).length]
      ])
      assert.isAbove(tagged(stdout, "Totals")[0].summarized as number, 0)
    }))

  it.scopedLive("is where the counter is, if both are the same service", () =>
    Effect.gen(function*() {
      const [{ answer, name, path }] = summarizers
      const { seen, url } = yield* listen((asked, n) =>
        asked.path === path ? { body: answer("They asked about the vault.") } : counting(asked, n)
      )
      const args = ["replay", talk, ...budget, "--strategy", "summarize", ...withCounter(url), "--summarizer", name]
      assert.strictEqual((yield* run(args)).code, 0)
      assert.isAbove((yield* seen).filter((asked) => asked.path === path).length, 0)
    }))

  it.scopedLive("that fails is done without, and that is said once", () =>
    Effect.gen(function*() {
      const { url } = yield* listen(() => ({ status: 400, body: { error: { message: secret } } }))
      const args = ["replay", talk, ...budget, "--strategy", "summarize", "--json", "--base-url", url]
      const { code, stderr, stdout } = yield* run([...args, "--summarizer", "openai:m"], {
        env: { OPENAI_API_KEY: key }
      })
      assert.strictEqual(code, 0)
      assert.match(stderr, /^[^\n]*refused the request[^\n]*; whole rounds are dropped until it is asked again\n$/)
      assert.deepInclude(service(stdout), { use: "summarizer", retries: 0 })
      assert.isAbove(tagged(stdout, "Totals")[0].leftOut as number, 0)
      assert.notInclude(stdout + stderr, key)
      assert.notInclude(stdout + stderr, secret)
    }))
})

describe("what goes wrong with services", () => {
  const url = "http://127.0.0.1:9"
  const summarize = ["replay", talk, ...budget, "--strategy", "summarize"]
  const cases: ReadonlyArray<readonly [what: string, args: ReadonlyArray<string>, sentence: RegExp]> = [
    ...counters.filter(({ variable }) => variable !== "").map(({ name, variable }) =>
      [`no ${variable}`, ["count", talk, "--counter", name], new RegExp(`^${variable} is not set`)] as const
    ),
    [
      "no key for a summarizer",
      [...summarize, "--summarizer", "openai:m"],
      /^OPENAI_API_KEY is not set .* --summarizer/
    ],
    ["no model", ["count", talk, "--counter", "openai"], /^--counter is "openai": name a model behind it, such as/],
    ["a blank model", ["count", talk, "--counter", "tgi:"], /^--counter is "tgi:": .*, or leave out the colon$/],
    ["no URL", ["count", talk, ...withCounter("localhost")], /^--base-url is no such URL: give an http or https URL/],
    ["no HTTP", ["count", talk, ...withCounter("ftp://x")], /^--base-url is no such URL: give an http or https URL/],
    ["a password", ["count", talk, ...withCounter("http://a:b@x")], /^--base-url is a URL with credentials: give/],
    [
      "a URL for nobody",
      ["count", talk, "--base-url", url],
      /^--base-url is where .* none is asked: name one with --c/
    ],
    ["another URL for nobody", [...summarize, "--summarizer-base-url", url], /^--summarizer-base-url is where/],
    [
      "a URL that may be another's",
      [...summarize, ...withCounter(url), "--summarizer", "openai:m"],
      /^--base-url is where anthropic is: say with --summarizer-base-url where openai is$/
    ],
    [
      "an unknown summarizer",
      [...summarize, "--summarizer", "x"],
      /^--summarizer is "x": give extractive, or a service/
    ],
    [
      "a summarizer without use",
      ["fit", talk, ...budget, "--summarizer", "openai:m"],
      /^--summarizer is for strategies that summarize: choose one/
    ]
  ]

  for (const [what, args, sentence] of cases) {
    it.effect(`${what} is one sentence`, () =>
      Effect.gen(function*() {
        const { code, stderr, stdout } = yield* run(args)
        assert.deepStrictEqual([code, stdout], [1, ""])
        assert.lengthOf(lines(stderr), 1)
        assert.match(lines(stderr)[0], sentence)
      }))
  }

  it.effect("a key that no header can hold is named, not shown", () =>
    Effect.gen(function*() {
      const { code, stderr } = yield* run(["count", talk, "--counter", anthropic.name], {
        env: { ANTHROPIC_API_KEY: `${key} x` }
      })
      assert.strictEqual(code, 1)
      assert.match(stderr, /^ANTHROPIC_API_KEY is blank, or has white space/)
      assert.notInclude(stderr, key)
    }))

  it.effect("keys are in no help", () =>
    Effect.gen(function*() {
      for (const command of ["replay", "fit", "count"]) {
        const env = { ANTHROPIC_API_KEY: key, OPENAI_API_KEY: key, GEMINI_API_KEY: key }
        assert.notInclude((yield* run([command, "--help"], { env })).stdout, key)
      }
    }))
})
