import * as fs from "node:fs"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { pathOf, transcripts } from "./data.js"
import * as files from "./files.js"
import { json, lines, run } from "./run.js"

const { samplePath: sample } = files

describe("fit", () => {
  it.effect("writes on standard output and tells on standard error", () =>
    Effect.gen(function*() {
      const { code, stderr, stdout } = yield* run(["fit", sample, "--max-tokens", "8000"])
      assert.strictEqual(code, 0)
      const [title, sizes, done] = lines(stderr)
      assert.strictEqual(title, `${sample}  native`)
      const left = /^ {2}116 messages, 21,170 tokens → (\d+) messages, 7,\d{3} tokens, 9\d% of 8,000$/.exec(sizes)
      assert.strictEqual(json(stdout).length, Number(left?.[1]))
      assert.match(done, /^ {2}\d+ rounds left out$/)
    }))

  it.effect("tells on standard output where the transcript goes to a file", () =>
    Effect.gen(function*() {
      const output = files.at("fitted.json")
      const args = ["fit", sample, "--max-tokens", "8000", "--strategy", "cascade", "--target", "0.5"]
      const { code, stderr, stdout } = yield* run([...args, "--to", "openai-chat", "--output", output, "--json"])
      assert.deepStrictEqual([code, stderr], [0, ""])
      const [report] = json(stdout)
      assert.deepInclude(report, {
        _tag: "Fitted",
        conversation: 1,
        from: "native",
        to: "openai-chat",
        strategy: "cascade",
        maxTokens: 8000,
        rules: "openai",
        recorded: { messages: 116, rounds: 21, tokens: 21170 }
      })
      assert.isAtMost(report.charged as number, 4000)
      assert.isAbove(report.summarized as number, 0)
      assert.containsAllKeys(JSON.parse(files.read(output)), ["messages"])
    }))

  it.effect("keeps what is protected", () =>
    Effect.gen(function*() {
      const { stdout } = yield* run(["fit", sample, "--max-tokens", "2000"])
      assert.lengthOf(json(stdout).filter(({ options }) => JSON.stringify(options).includes("protected")), 1)
    }))

  it.effect("writes what is over the budget all the same, and says so", () =>
    Effect.gen(function*() {
      const { code, stderr, stdout } = yield* run(["fit", "-", "--max-tokens", "500"], { stdin: files.read(sample) })
      assert.strictEqual(code, 1)
      assert.lengthOf(json(stdout), 5)
      assert.match(
        lines(stderr)[lines(stderr).length - 1],
        /^standard input, conversation 1: what must stay takes 839 tokens, over the budget of 500: raise --max-tokens, or/
      )
    }))

  it.effect("says what is free of charge beside the budget", () =>
    Effect.gen(function*() {
      const { stderr } = yield* run(["fit", sample, "--max-tokens", "1000", "--strategy", "truncate"])
      assert.match(stderr, /tokens, 319 of them free of charge in system messages, \d+% of 1,000/)
    }))

  it.effect("charges no system messages where the strategy does not", () =>
    Effect.gen(function*() {
      const { code, stderr } = yield* run(["fit", sample, "--max-tokens", "1000", "--strategy", "truncate", "--json"])
      const [{ charged, context }] = json(stderr)
      assert.strictEqual(code, 0)
      assert.isAtMost(charged as number, 1000)
      assert.isAbove((context as { readonly tokens: number }).tokens, charged as number)
    }))

  it.effect("may write the file that it reads, with its permissions", () =>
    Effect.gen(function*() {
      const file = files.write("own.jsonl", files.read(sample))
      fs.chmodSync(file, 0o640)
      assert.strictEqual((yield* run(["fit", file, "--max-tokens", "8000", "-o", file])).code, 0)
      assert.isBelow(lines(files.read(file)).length, 116)
      assert.strictEqual(fs.statSync(file).mode & 0o777, 0o640)
      const own = files.names().filter((name) => /^\.?own\.jsonl/.test(name))
      assert.deepStrictEqual(own, ["own.jsonl"], "no temporary file stays behind")
    }))

  it.effect("writes nothing for a conversation of nothing", () =>
    Effect.gen(function*() {
      const file = files.write("nothing.json", `{"model":"m","messages":[]}`)
      const output = files.at("nothing.jsonl")
      const { code, stderr } = yield* run(["fit", file, "--max-tokens", "9", "--to", "native", "-o", output])
      assert.deepStrictEqual([code, stderr, files.read(output)], [0, "", ""])
    }))

  it.effect("repairs by the rules of the target, or by those that are named", () =>
    Effect.gen(function*() {
      const late = files.write(
        "late.jsonl",
        ["user", "system", "user"].map((role) => `${JSON.stringify({ role, content: role })}\n`).join("")
      )
      const roles = (args: ReadonlyArray<string>) =>
        Effect.map(run(["fit", late, "--max-tokens", "99", ...args]), ({ stdout }) =>
          Array.from(stdout.matchAll(/"role":"(\w+)"/g), (match) => match[1]).join(" "))
      assert.strictEqual(yield* roles([]), "user system user")
      assert.strictEqual(yield* roles(["--provider", "strict"]), "user")
      assert.strictEqual(yield* roles(["--to", "anthropic-messages"]), "user")
      assert.strictEqual(yield* roles(["--to", "openai-chat"]), "user system user")
    }))
})

/** The conversations that `check` finds faults in. */
const faulty = (file: string, format: string) =>
  Effect.map(run(["check", file, "--format", format, "--json"]), ({ code, stderr, stdout }) => {
    assert.deepStrictEqual(
      json(stdout).filter(({ _tag, open }) => _tag === "Finding" && open === false),
      []
    )
    assert.deepStrictEqual([code, stderr], [0, ""])
    return json(stdout).filter(({ _tag }) => _tag === "Checked").length
  })

/** Fits a transcript, and reads what was written by the same format. */
const fitAndCheck = Effect.fnUntraced(function*(file: string, args: ReadonlyArray<string>) {
  const output = files.at(file.replaceAll("/", "-"))
  const { stderr, stdout } = yield* run(["fit", pathOf(file), ...args, "--output", output, "--json"])
  // The newest round may be over the budget.
  assert.deepStrictEqual(lines(stderr).filter((line) => !line.includes("what must stay takes")), [])
  const reports = json(stdout)
  assert.isNotEmpty(reports)
  assert.strictEqual(yield* faulty(output, reports[0].to as string), reports.length)
})

describe.skipIf(transcripts.length === 0)("what fit writes can be read and sent", { sequential: true }, () => {
  for (const file of transcripts) {
    it.live(file, () =>
      Effect.forEach(
        ["500", "4000", "32000"],
        (maxTokens) => fitAndCheck(file, ["--max-tokens", maxTokens, "--strategy", "cascade"]),
        { discard: true }
      ), 60_000)
  }
})
