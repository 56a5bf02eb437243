import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { normalized } from "../src/internal/argv.js"
import { checkArgs } from "../src/internal/checkArgs.js"

describe("arguments", () => {
  const cases: ReadonlyArray<readonly [given: string, normal: string]> = [
    ["fit a.jsonl --max-tokens=5 --to native", "fit a.jsonl --max-tokens 5 --to native"],
    ["fit - --max-tokens 5", "fit --max-tokens 5 -- -"],
    ["fit - -o - --json", "fit -o - --json -- -"],
    ["fit --output - a.jsonl", "fit --output - a.jsonl"],
    ["fit --json -- --a=b", "fit --json -- --a=b"],
    ["fit --option=a=b", "fit --option a=b"],
    ["fit --option=", "fit --option "]
  ]

  for (const [given, normal] of cases) {
    it(given, () => {
      assert.deepStrictEqual(normalized(given.split(" ")), normal.split(" "))
    })
  }

  it.effect("name the option where a choice is none", () =>
    Effect.gen(function*() {
      yield* checkArgs(["replay", "a.jsonl", "--strategy", "cascade", "--provider", "none"])
      const error = yield* Effect.flip(checkArgs(["replay", "a.jsonl", "--rules", "cohere"]))
      assert.strictEqual(
        error.message,
        `--rules is "cohere": give one of pairing, anthropic, openai, gemini, strict, none`
      )
    }))
})
