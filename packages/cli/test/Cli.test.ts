import { execFile, execFileSync, spawn } from "node:child_process"
import * as fs from "node:fs"
import * as os from "node:os"
import * as path from "node:path"
import { fileURLToPath } from "node:url"
import { assert, beforeAll, describe, it } from "@effect/vitest"
import { Array as Arr, Effect } from "effect"

const root = fileURLToPath(new URL("../../..", import.meta.url))

const sample = "packages/cli/examples/session.jsonl"

const folder = fs.mkdtempSync(path.join(os.tmpdir(), "effect-memory-cli-"))

const write = (name: string, text: string): string => {
  const file = path.join(folder, name)
  fs.writeFileSync(file, text)
  return file
}

interface Outcome {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

const run = (command: string, args: ReadonlyArray<string>): Effect.Effect<Outcome> =>
  Effect.async((resume) => {
    execFile(command, args, { cwd: root, maxBuffer: 64 * 1024 * 1024 }, (error, stdout, stderr) => {
      resume(Effect.succeed({ code: error === null ? 0 : Number(error.code), stdout, stderr }))
    })
  })

const tsx = ["--import", "tsx"]

const cli = (...args: ReadonlyArray<string>) => run(process.execPath, [...tsx, "packages/cli/src/bin.ts", ...args])

/** The same as published: one file, which starts much faster. */
const bundle = (...args: ReadonlyArray<string>) => run(process.execPath, ["packages/cli/dist/bin.js", ...args])

const start = (...args: ReadonlyArray<string>) =>
  run(process.execPath, [...tsx, "packages/cli/examples/start.ts", ...args])

const lines = (text: string) => text.split("\n").slice(0, -1)

const json = (text: string): ReadonlyArray<Record<string, unknown>> => lines(text).map((line) => JSON.parse(line))

// Through tsx, a process takes a second or two to start.
const timeout = 60_000

describe("Cli", () => {
  beforeAll(() => {
    execFileSync("npm", ["run", "--silent", "build", "--prefix", "packages/cli"], { cwd: root, stdio: "pipe" })
  }, timeout)

  describe("what it prints", () => {
    it.effect("a table and totals for a person", () =>
      Effect.gen(function*() {
        const { code, stderr, stdout } = yield* cli("replay", sample, "--max-tokens", "8000")
        assert.deepStrictEqual([code, stderr], [0, ""])
        const printed = lines(stdout)
        assert.strictEqual(printed[0], `${sample}  native, 116 messages`)
        assert.match(printed[1], /^turn {2}role .* left out$/)
        assert.match(printed[2], /^ {3}1 {2}user .* 5% /)
        assert.include(stdout, "\nTotals\n  conversations          1\n  messages             116  in 21 rounds\n")
        assert.notInclude(stdout, "\u001b")
      }), timeout)

    it.effect("the same as JSON lines", () =>
      Effect.gen(function*() {
        const { code, stderr, stdout } = yield* bundle("replay", sample, "--max-tokens=8000", "--json")
        assert.deepStrictEqual([code, stderr], [0, ""])
        const objects = json(stdout)
        const turns = objects.filter(({ _tag }) => _tag === "Turn")
        assert.deepStrictEqual(objects.slice(turns.length).map(({ _tag }) => _tag), ["Summary", "Totals"])
        const totals = objects[objects.length - 1]
        assert.deepInclude(totals, { conversations: 1, messages: 116, rounds: 21, contexts: turns.length })
      }), timeout)

    it.effect("nothing but JSON through npm start, and one conversation of many", () =>
      Effect.gen(function*() {
        const many = write(
          "many.jsonl",
          ["one", "two", "three"]
            .map((text) => `${JSON.stringify({ model: "m", messages: [{ role: "user", content: text }] })}\n`)
            .join("")
        )
        const { code, stderr, stdout } = yield* start(many, "--json", "--conversation", "2")
        assert.deepStrictEqual([code, stderr], [0, ""])
        assert.deepStrictEqual(json(stdout).map(({ _tag, conversation }) => [_tag, conversation]), [
          ["Turn", 2],
          ["Summary", 2],
          ["Totals", undefined]
        ])
      }), timeout)

    it.effect("the sample where npm start is given nothing", () =>
      Effect.gen(function*() {
        const { code, stdout } = yield* start()
        assert.strictEqual(code, 0)
        assert.strictEqual(lines(stdout)[0], `${sample}  native, 116 messages`)
      }), timeout)

    it.effect("help without colours, with examples", () =>
      Effect.gen(function*() {
        const { code, stderr, stdout } = yield* bundle("replay", "--help")
        assert.deepStrictEqual([code, stderr], [0, ""])
        assert.include(stdout, "effect-memory replay session.jsonl --max-tokens 8000")
        assert.notInclude(stdout, "\u001b")
      }), timeout)

    it.effect("its version", () =>
      Effect.gen(function*() {
        const manifest = JSON.parse(fs.readFileSync(new URL("../package.json", import.meta.url), "utf8"))
        assert.deepStrictEqual(yield* bundle("--version"), { code: 0, stdout: `${manifest.version}\n`, stderr: "" })
      }), timeout)
  })

  describe("what goes wrong", () => {
    const message = `{"role":"user","content":"a secret"}`

    let files: Record<"text" | "empty" | "cut" | "mixed" | "other", string>

    beforeAll(() => {
      files = {
        text: write("notes.txt", "These are notes.\nNo transcript at all.\n"),
        empty: write("empty.jsonl", ""),
        cut: write("cut.jsonl", `${message.slice(0, -8)}`),
        mixed: write(
          "mixed.jsonl",
          `{"messages":[${message}]}\n{"messages":[{"role\n{"messages":[${message}]}\n{"mess\n`
        ),
        other: write("other.json", `{"name":"no transcript"}`)
      }
    })

    const cases: ReadonlyArray<readonly [what: string, args: () => ReadonlyArray<string>, sentence: RegExp]> = [
      ["a missing budget", () => [sample], /'--max-tokens'/],
      ["a budget in words", () => [sample, "--max-tokens", "many"], /^--max-tokens is "many": give a whole number/],
      ["a negative budget", () => [sample, "--max-tokens=-1"], /^--max-tokens is "-1": give a whole number/],
      ["a fraction of a round", () => [sample, "--max-tokens", "9", "--max-rounds", "1.5"], /^--max-rounds is "1.5"/],
      ["conversation 0", () => [sample, "--max-tokens", "9", "--conversation", "0"], /at least 1$/],
      ["conversation 2 of 1", () => [sample, "--max-tokens", "9", "--conversation", "2"], /there is no conversation 2/],
      ["an unknown option", () => [sample, "--max-tokens", "9", "--colour"], /'--colour'/],
      [
        "an unknown strategy",
        () => [sample, "--max-tokens", "9", "--strategy", "x"],
        /^--strategy is "x": give one of window, truncate, summarize, cascade$/
      ],
      [
        "an unknown provider",
        () => [sample, "--max-tokens", "9", "--rules=x"],
        /^--rules is "x": give one of pairing,/
      ],
      ["an unknown format", () => [sample, "--max-tokens", "9", "--format", "x"], /^--format is "x": .*native/],
      [
        "an unknown counter",
        () => [sample, "--max-tokens", "9", "--counter", "x"],
        /^--counter is "x": give characters/
      ],
      [
        "an unknown model",
        () => [sample, "--max-tokens", "9", "--counter", "tiktoken:x"],
        /^--counter is "tiktoken:x": .*gpt-4o.*o200k_base/
      ],
      [
        "a target of nothing",
        () => [sample, "--max-tokens", "9", "--target", "0"],
        /^--target is "0": give a fraction/
      ],
      ["a missing file", () => ["nowhere.jsonl", "--max-tokens", "9"], /^nowhere.jsonl: there is no such file/],
      ["a folder", () => ["packages", "--max-tokens", "9"], /^packages: this is not a file/],
      ["a file below a file", () => ["package.json/x", "--max-tokens", "9"], /^package.json\/x: /],
      ["plain text", () => [files.text, "--max-tokens", "9"], /notes.txt/],
      ["an empty file", () => [files.empty, "--max-tokens", "9"], /empty.jsonl/],
      ["a record that is cut", () => [files.cut, "--max-tokens", "9"], /cut.jsonl/],
      ["JSON of no known format", () => [files.other, "--max-tokens", "9"], /no known format/]
    ]

    for (const [what, args, sentence] of cases) {
      it.effect(`${what} is one sentence`, () =>
        Effect.gen(function*() {
          const { code, stderr, stdout } = yield* bundle("replay", ...args())
          assert.deepStrictEqual([code, stdout], [1, ""])
          assert.lengthOf(lines(stderr), 1)
          assert.match(lines(stderr)[0], sentence)
          assert.notInclude(stderr, "secret")
        }), timeout)
    }

    it.effect("an unknown command is one sentence", () =>
      Effect.gen(function*() {
        const { code, stderr, stdout } = yield* bundle("play")
        assert.deepStrictEqual([code, stdout], [1, ""])
        assert.deepStrictEqual(lines(stderr).length, 1)
        assert.match(stderr, /'replay'/)
      }), timeout)

    it.effect("bad records are a sentence each after what can be read", () =>
      Effect.gen(function*() {
        const { code, stderr, stdout } = yield* bundle("replay", files.mixed, "--max-tokens", "9", "--json")
        assert.strictEqual(code, 1)
        assert.deepInclude(Arr.lastNonEmpty(json(stdout) as Arr.NonEmptyArray<object>), { conversations: 2 })
        assert.lengthOf(lines(stderr), 2)
        assert.match(lines(stderr)[0], /mixed.jsonl, line 2/)
        assert.match(lines(stderr)[1], /mixed.jsonl, line 4/)
      }), timeout)

    it.effect("a strict reading stops at the first bad record", () =>
      Effect.gen(function*() {
        const { code, stderr, stdout } = yield* bundle("replay", files.mixed, "--max-tokens", "9", "--json", "--strict")
        assert.deepStrictEqual([code, json(stdout).map(({ _tag }) => _tag)], [1, ["Turn", "Summary"]])
        assert.lengthOf(lines(stderr), 1)
        assert.match(stderr, /mixed.jsonl, line 2/)
      }), timeout)

    it.effect("a reader that goes away is no fault", () =>
      Effect.gen(function*() {
        const commands = [
          `--import tsx packages/cli/src/bin.ts replay ${sample} --max-tokens 100 --json`,
          "packages/cli/dist/bin.js replay --help"
        ]
        for (const command of commands) {
          const outcome = yield* run("bash", ["-c", `set -o pipefail; "${process.execPath}" ${command} | head -1`])
          assert.deepStrictEqual([outcome.code, outcome.stderr], [0, ""])
          assert.lengthOf(lines(outcome.stdout), 1)
        }
      }), timeout)
  })

  it.effect("can be interrupted", () =>
    Effect.gen(function*() {
      const messages = lines(fs.readFileSync(path.join(root, sample), "utf8"))
      const long = write(
        "long.jsonl",
        Array.from({ length: 50 }, (_, i) =>
          messages.slice(i === 0 ? 0 : 1).map((line) => `${line.replaceAll("call_", `call_${i}_`)}\n`).join("")).join(
            ""
          )
      )
      const outcome = yield* Effect.async<readonly [number | null, string]>((resume) => {
        const child = spawn(process.execPath, ["packages/cli/dist/bin.js", "replay", long, "--max-tokens", "8000"], {
          cwd: root
        })
        let stderr = ""
        child.stderr.on("data", (data) =>
          stderr += data)
        child.stdout.once("data", () => child.kill("SIGINT"))
        child.stdout.resume()
        child.on("close", (code) => resume(Effect.succeed([code, stderr])))
      })
      assert.deepStrictEqual(outcome, [130, ""])
    }), timeout)

  it.effect("prints the same as published", () =>
    Effect.gen(function*() {
      const exact = ["--counter", "tiktoken:gpt-4o", "--strategy", "cascade"]
      for (const args of [["replay", sample, "--max-tokens", "8000", ...exact], ["replay", sample]]) {
        assert.deepStrictEqual(yield* bundle(...args), yield* cli(...args))
      }
    }), timeout)
})
