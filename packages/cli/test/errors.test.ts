import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as files from "./files.js"
import { lines, run } from "./run.js"

const { samplePath: sample } = files

type Case = readonly [what: string, args: ReadonlyArray<string>, sentence: RegExp]

const cases: ReadonlyArray<Case> = [
  ["a missing budget", ["replay", sample], /^--max-tokens is missing: give/],
  ["a missing budget of fit", ["fit", sample], /^--max-tokens is missing: give/],
  ["a missing file name", ["count"], /^the file is missing: name a transcript, or - for standard input$/],
  ["a file of no name", ["count", ""], /^an argument is empty: name the file/],
  ["a place of no name", ["convert", sample, "--to", "pi", "-o", ""], /^-o has no value: give one behind it$/],
  ["a second file", ["count", sample, sample], /session.jsonl" is too much: give one file, and each option once$/],
  ["a switch that is there twice", ["count", sample, "--json", "--json"], /^--json is no option .* stands there twice/],
  [
    "an option of another command",
    ["count", sample, "--max-tokens", "5"],
    /^--max-tokens is no option of this command/
  ],
  ["a budget in words", ["replay", sample, "--max-tokens", "many"], /^--max-tokens is "many": give a whole number/],
  ["a negative budget", ["replay", sample, "--max-tokens=-1"], /^--max-tokens is "-1": give a whole number/],
  [
    "a budget without end",
    ["replay", sample, "--max-tokens", "99999999999999999999"],
    /^--max-tokens is 9{20}, which is too large: give at most 9007199254740991$/
  ],
  ["a fraction of a round", ["fit", sample, "--max-tokens", "9", "--max-rounds", "1.5"], /^--max-rounds is "1.5"/],
  ["a target of nothing", ["fit", sample, "--max-tokens", "9", "--target", "0"], /^--target is "0": give a fraction/],
  ["conversation 0", ["count", sample, "--conversation", "0"], /at least 1$/],
  ["conversation 2 of 1", ["count", sample, "--conversation", "2"], /there is no conversation 2/],
  ["an unknown command", ["play"], /^the command is "play": give one of replay, fit,/],
  ["no command", ["-x"], /^there is no such command: give one of 'replay'/],
  ["an unknown option", ["count", sample, "--colour"], /^there is no option --colour: see effect-memory count --help$/],
  ["an unknown option before a missing one", ["fit", sample, "--max-token", "5"], /^there is no option --max-token:/],
  ["questions for nobody", ["count", "--wizard"], /^--wizard asks questions: run it in a terminal$/],
  ["an unknown shell", ["--completions", "csh"], /^--completions is "csh": give one of sh, bash, fish, zsh$/],
  [
    "an unknown strategy",
    ["replay", sample, "--max-tokens", "9", "--strategy", "x"],
    /^--strategy is "x": give one of window, truncate, summarize, cascade$/
  ],
  ["an unknown provider", ["check", sample, "--rules=x"], /^--rules is "x": give one of pairing,/],
  [
    "no rules to check by",
    ["check", sample, "--provider", "none"],
    /^--provider is "none": give one of pairing, anthropic, openai, gemini, strict$/
  ],
  [
    "an unknown grouping",
    ["count", sample, "--by", "word"],
    /^--by is "word": give one of message, round, role, part$/
  ],
  ["an option without its value", ["count", sample, "--by"], /^--by has no value: give one behind it$/],
  ["an option without its value before a dash", ["fit", "-", "--max-tokens"], /^--max-tokens has no value: give one/],
  ["an unknown format", ["count", sample, "--format", "x"], /^--format is "x": give one of .*native/],
  ["an unknown format to write", ["convert", sample, "--to", "x"], /^--to is "x": give one of .*native/],
  ["an unknown format to fit", ["fit", sample, "--max-tokens", "9", "--to", "x"], /^--to is "x": give one of .*native/],
  ["an unknown counter", ["count", sample, "--counter", "x"], /^--counter is "x": give characters/],
  [
    "an unknown model",
    ["count", sample, "--counter", "tiktoken:x"],
    /^--counter is "tiktoken:x": .*gpt-4o.*o200k_base/
  ],
  ["a place for what is not written", ["check", sample, "--output", "x"], /^--output is for what --fix writes/],
  ["several for a format of one", ["convert", files.many, "--to", "native"], /many.jsonl holds several conversations/],
  ["a missing file", ["count", "nowhere.jsonl"], /^nowhere.jsonl: there is no such file/],
  ["a folder", ["count", files.root], /this is not a file/],
  ["a file below a file", ["count", `${sample}/x`], /session.jsonl\/x: /],
  ["plain text", ["count", files.text], /notes.txt/],
  ["an empty file", ["count", files.empty], /empty.jsonl: there is no conversation in it/],
  ["a record that is cut", ["count", files.cut], /cut.jsonl/],
  ["JSON of no known format", ["count", files.other], /is of no known format: name it with --format, one of those/],
  ["a compressed file", ["count", files.compressed], /compressed.jsonl.gz: this is compressed: unpack it first$/],
  ["an archive", ["count", files.archive], /archive.zip: this is an archive: unpack it first$/],
  ["UTF-16", ["count", files.utf16], /utf16.json: this is UTF-16: save it as UTF-8$/],
  ["a folder to write", ["convert", sample, "--to", "pi", "-o", files.root], /this is a folder: name a file/],
  ["a file to write below a file", ["convert", sample, "--to", "pi", "-o", `${sample}/x`], /session.jsonl\/x: /],
  ["a file in no folder", ["convert", sample, "--to", "pi", "-o", "no/where"], /^no\/where: there is no such folder/],
  ["standard input of nothing", ["count", "-"], /^standard input: there is no conversation in it/]
]

describe("what goes wrong", () => {
  for (const [what, args, sentence] of cases) {
    it.effect(`${what} is one sentence`, () =>
      Effect.gen(function*() {
        const { code, stderr, stdout } = yield* run(args)
        assert.strictEqual(code, 1)
        if (what !== "several for a format of one") assert.strictEqual(stdout, "")
        const sentences = lines(stderr).filter((line) => sentence.test(line))
        assert.lengthOf(sentences, 1)
        if (what !== "several for a format of one") assert.lengthOf(lines(stderr), 1)
        assert.notInclude(stderr, "secret")
      }))
  }

  const commands: ReadonlyArray<ReadonlyArray<string>> = [
    ["replay", files.mixed, "--max-tokens", "9", "--json"],
    ["fit", files.mixed, "--max-tokens", "9", "-o", files.at("mixed-fit.jsonl"), "--json"],
    ["count", files.mixed, "--json"],
    ["check", files.mixed, "--json"],
    ["convert", files.mixed, "--to", "gemini", "-o", files.at("mixed-gemini.jsonl"), "--json"]
  ]

  for (const args of commands) {
    it.effect(`${args[0]} tells each bad record after what it could read`, () =>
      Effect.gen(function*() {
        const { code, stderr, stdout } = yield* run(args)
        assert.strictEqual(code, 1)
        assert.deepStrictEqual(lines(stderr).map((line) => /mixed.jsonl, line (\d) /.exec(line)?.[1]), ["2", "4"])
        const conversations = lines(stdout).map((line) => JSON.parse(line).conversation)
        assert.deepStrictEqual(new Set(conversations.filter((n) => n !== undefined)), new Set([1, 2]))
      }))

    it.effect(`${args[0]} refuses them where it is strict`, () =>
      Effect.gen(function*() {
        const strict = args.map((arg) => arg.replace("mixed-", "strict-"))
        const { code, stderr } = yield* run([...strict, "--strict"])
        assert.strictEqual(code, 1)
        assert.lengthOf(lines(stderr), 1)
        assert.match(stderr, /mixed.jsonl, line 2 /)
        // The tests of other commands write at the same time.
        const own = strict.find((arg) => arg.includes("strict-"))?.split("/").at(-1)
        const left = files.names().filter((name) => own !== undefined && name.includes(own))
        assert.deepStrictEqual(left, [], "nothing is left half written")
      }))
  }

  it.effect("says twenty times at most what is wrong", () =>
    Effect.gen(function*() {
      const good = `{"messages":[{"role":"user","content":"u"}]}\n`
      const file = files.write("bad.jsonl", good + `{"mess\n`.repeat(30))
      const { stderr } = yield* run(["count", file])
      assert.lengthOf(lines(stderr), 20)
      assert.match(lines(stderr)[19], /line 21 .* \(10 more like it\)$/)
      const long = files.write("long.jsonl", good.replace("u\"}]", "one two three four\"}]").repeat(25))
      const fitted = yield* run(["fit", long, "--max-tokens", "2"])
      assert.lengthOf(lines(fitted.stdout), 25)
      assert.match(lines(fitted.stderr).slice(-1)[0], /conversation 20: what must stay .* \(5 more like it\)$/)
    }))
})
