/**
 * The command as a user runs it: every command as a process of its own. What needs no process is tested without one.
 */
import { execFile, execFileSync, spawn } from "node:child_process"
import * as fs from "node:fs"
import * as path from "node:path"
import { assert, beforeAll, describe, it } from "@effect/vitest"
import { Deferred, Effect } from "effect"
import * as files from "./files.js"
import { json, lines, type Outcome } from "./run.js"
import { listen } from "./service.js"

const { root, sample } = files

/** Runs a command at the root, as npm does for one who stands in `from`. */
const run = (command: string, args: ReadonlyArray<string>, from: string = root): Effect.Effect<Outcome> =>
  Effect.async((resume) => {
    const env = { ...process.env, INIT_CWD: from }
    execFile(command, args, { cwd: root, env, maxBuffer: 64 * 1024 * 1024 }, (error, stdout, stderr) => {
      resume(Effect.succeed({ code: error === null ? 0 : Number(error.code), stdout, stderr }))
    })
  })

const tsx = ["--import", "tsx"]

const cli = (...args: ReadonlyArray<string>) => run(process.execPath, [...tsx, "packages/cli/src/bin.ts", ...args])

const bin = "packages/cli/dist/bin.js"

/** The same as published, which starts much faster. */
const bundle = (...args: ReadonlyArray<string>) => run(process.execPath, [bin, ...args])

const start = (...args: ReadonlyArray<string>) =>
  run(process.execPath, [...tsx, "packages/cli/examples/start.ts", ...args])

const bash = (script: string) => run("bash", ["-c", `set -o pipefail; ${script}`])

// Through tsx, a process takes a second or two to start.
const timeout = 60_000

describe("Cli", () => {
  beforeAll(() => {
    execFileSync("npm", ["run", "--silent", "build", "--prefix", "packages/cli"], { cwd: root, stdio: "pipe" })
  }, timeout)

  describe("every command as a process", () => {
    it.effect("replay: a table and totals, the same as published", () =>
      Effect.gen(function*() {
        const args = ["replay", sample, "--max-tokens", "8000"]
        const { code, stderr, stdout } = yield* cli(...args)
        assert.deepStrictEqual([code, stderr], [0, ""])
        assert.deepStrictEqual(yield* bundle(...args), { code, stderr, stdout })
        const printed = lines(stdout)
        assert.strictEqual(printed[0], `${sample}  native, 116 messages`)
        assert.match(printed[1], /^turn {2}role .* left out$/)
        assert.match(printed[2], /^ {3}1 {2}user .* 5% /)
        assert.include(stdout, "\nTotals\n  conversations          1\n  messages             116  in 21 rounds\n")
        assert.notInclude(stdout, "\u001b")
      }), timeout)

    it.effect("convert, fit and check: one after the other in a pipe", () =>
      Effect.gen(function*() {
        const command = `"${process.execPath}" ${bin}`
        const { code, stderr, stdout } = yield* bash(
          `${command} convert ${sample} --to openai-chat 2>/dev/null` +
            ` | ${command} fit - --max-tokens 4000 --strategy cascade 2>/dev/null | ${command} check -`
        )
        assert.deepStrictEqual([code, stderr], [0, ""])
        assert.match(lines(stdout)[0], /^standard input {2}openai-chat, \d+ messages$/)
        assert.strictEqual(lines(stdout)[1], "nothing found  (openai)")
      }), timeout)

    it.effect("count: exactly, with tables that are loaded on use", () =>
      Effect.gen(function*() {
        const args = ["count", sample, "--by", "part", "--counter", "tiktoken:gpt-4o", "--json"]
        const { code, stderr, stdout } = yield* bundle(...args)
        assert.deepStrictEqual([code, stderr], [0, ""])
        const objects = json(stdout)
        assert.deepInclude(objects[objects.length - 1], { _tag: "Total", messages: 116, counter: "tiktoken/gpt-4o" })
      }), timeout)

    it.effect("formats: a table", () =>
      Effect.gen(function*() {
        const { code, stderr, stdout } = yield* bundle("formats")
        assert.deepStrictEqual([code, stderr], [0, ""])
        assert.include(stdout, "openai-chat")
      }), timeout)
  })

  describe("npm start", () => {
    it.effect("replays the sample where it is given nothing", () =>
      Effect.gen(function*() {
        const { code, stdout } = yield* start()
        assert.strictEqual(code, 0)
        assert.strictEqual(lines(stdout)[0], `${sample}  native, 116 messages`)
      }), timeout)

    it.effect("takes a file from where it was started", () =>
      Effect.gen(function*() {
        const script = [...tsx, "packages/cli/examples/start.ts", path.basename(files.many)]
        const { code, stderr, stdout } = yield* run(process.execPath, script, path.dirname(files.many))
        assert.deepStrictEqual([code, stderr], [0, ""])
        assert.match(lines(stdout)[0], /^many.jsonl /)
      }), timeout)

    it.effect("takes a file and options, and prints nothing but JSON", () =>
      Effect.gen(function*() {
        const { code, stderr, stdout } = yield* start(files.many, "--json", "--strict", "--conversation", "2")
        assert.deepStrictEqual([code, stderr], [0, ""])
        assert.deepStrictEqual(json(stdout).map(({ _tag, conversation }) => [_tag, conversation]), [
          ["Turn", 2],
          ["Summary", 2],
          ["Totals", undefined]
        ])
      }), timeout)
  })

  describe("as published", () => {
    it.effect("knows its version", () =>
      Effect.gen(function*() {
        const { version } = JSON.parse(fs.readFileSync(new URL("../package.json", import.meta.url), "utf8"))
        assert.deepStrictEqual(yield* bundle("--version"), { code: 0, stdout: `${version}\n`, stderr: "" })
      }), timeout)

    it("comes with the licences of what is in it", () => {
      const notices = fs.readFileSync(path.join(root, "packages/cli/dist/THIRD-PARTY-NOTICES.txt"), "utf8")
      for (const name of ["effect", "@effect/cli", "@effect/platform-node", "js-tiktoken"]) {
        assert.match(notices, new RegExp(`^${name} [\\d.]+ \\(MIT\\)$`, "m"))
      }
      assert.notInclude(notices, "@effect-memory/")
    })

    it.effect("completes in bash", () =>
      Effect.gen(function*() {
        const complete = (words: ReadonlyArray<string>) =>
          `COMP_WORDS=(${words.join(" ")}) COMP_CWORD=${words.length - 1}; ` +
          `_effect-memory_bash_completions effect-memory ${words.slice(-1)[0]} ${
            words.slice(-2)[0]
          }; echo "\${COMPREPLY[*]}"`
        const { stdout } = yield* bash(
          `source <("${process.execPath}" ${bin} --completions bash); ` +
            [
              ["effect-memory", "con"],
              ["effect-memory", "fit", "--tar"],
              ["effect-memory", "fit", "--strategy", "ca"],
              ["effect-memory", "fit", "--to", "tau"]
            ]
              .map(complete).join("; ")
        )
        assert.deepStrictEqual(lines(stdout), ["convert", "--target", "cascade", "tau-bench"])
      }), timeout)

    it.effect("takes a reader that goes away for no fault", () =>
      Effect.gen(function*() {
        for (
          const args of [`replay ${sample} --max-tokens 100 --json`, "replay --help", `count ${sample} --by message`]
        ) {
          const outcome = yield* bash(`"${process.execPath}" ${bin} ${args} | head -1`)
          assert.deepStrictEqual([outcome.code, outcome.stderr], [0, ""])
          assert.lengthOf(lines(outcome.stdout), 1)
        }
      }), timeout)

    it.scopedLive("asks services, with a part that is loaded on use", () =>
      Effect.gen(function*() {
        const { url } = yield* listen(() => ({ body: { input_tokens: 1234 } }))
        const args = ["count", sample, "--counter", "anthropic:claude-sonnet-4-5", "--base-url", url, "--json"]
        const { code, stderr, stdout } = yield* bundle(...args)
        assert.deepStrictEqual([code, stderr], [0, ""])
        assert.deepStrictEqual(json(stdout).map(({ exact, requests }) => exact ?? requests), [1234, 1])
      }), timeout)

    it.scopedLive("can be interrupted while a service does not answer", () =>
      Effect.gen(function*() {
        const [asked, gone] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
        const { url } = yield* listen(() => undefined, { asked, gone })
        const args = ["count", sample, "--counter", "llamacpp", "--base-url", url]
        const child = yield* Effect.sync(() => spawn(process.execPath, [bin, ...args], { cwd: root }))
        yield* Deferred.await(asked)
        const code = yield* Effect.async<number | null>((resume) => {
          child.on("close", (code) => resume(Effect.succeed(code)))
          child.kill("SIGINT")
        })
        assert.strictEqual(code, 130)
        yield* Deferred.await(gone)
      }), timeout)

    it.effect("can be interrupted", () =>
      Effect.gen(function*() {
        const messages = lines(fs.readFileSync(path.join(root, sample), "utf8"))
        const repeated = Array.from({ length: 50 }, (_, i) =>
          messages.slice(i === 0 ? 0 : 1).map((line) => `${line.replaceAll("call_", `call_${i}_`)}\n`))
        const long = files.write("long.jsonl", repeated.flat().join(""))
        const outcome = yield* Effect.async<readonly [number | null, string]>((resume) => {
          const child = spawn(process.execPath, [bin, "replay", long, "--max-tokens", "8000"], { cwd: root })
          let stderr = ""
          child.stderr.on("data", (data) => {
            stderr += data
          })
          child.stdout.once("data", () =>
            child.kill("SIGINT"))
          child.stdout.resume()
          child.on("close", (code) => resume(Effect.succeed([code, stderr])))
        })
        assert.deepStrictEqual(outcome, [130, ""])
      }), timeout)
  })
})
