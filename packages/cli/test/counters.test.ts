import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as counters from "../src/internal/counters.js"
import * as services from "../src/internal/services.js"

describe("counters", () => {
  const cases: ReadonlyArray<readonly [name: string, tokens: number]> = [
    ["characters", 3],
    ["tiktoken:gpt-4o", 6],
    ["tiktoken:gpt-4o-2024-11-20", 6],
    ["tiktoken:o200k_base", 6],
    ["estimate:claude-sonnet-4-5", 9]
  ]

  for (const [name, tokens] of cases) {
    it.effect(name, () =>
      Effect.gen(function*() {
        const counter = yield* counters.make(name)
        assert.strictEqual(yield* counter.count("a b c d e f"), tokens)
      }))
  }

  const besides: ReadonlyArray<readonly [name: string, id: string, margin: number | undefined]> = [
    ["openai:gpt-4o", "tiktoken/gpt-4o", 0.15],
    ["openai:qwen3", "characters", undefined],
    ["anthropic:claude-sonnet-4-5", "estimate/claude*1.4", 0.4],
    ["anthropic:mine", "characters", undefined],
    ["gemini:gemini-2.5-pro", "estimate/gemini*1.2", undefined],
    ["vllm:gpt-4o", "characters", undefined],
    ["llamacpp", "characters", undefined]
  ]

  for (const [name, id, margin] of besides) {
    it.effect(`${id} beside ${name}`, () =>
      Effect.gen(function*() {
        const named = services.find("--counter", name, services.counting)
        assert.isDefined(named)
        const beside = yield* counters.beside(named)
        assert.deepStrictEqual([beside.local.id, beside.margin], [id, margin])
      }))
  }

  it.effect("that there are not", () =>
    Effect.gen(function*() {
      const message = (name: string) => Effect.map(Effect.flip(counters.make(name)), (error) => error.message)
      assert.match(
        yield* message("words"),
        /^--counter is "words": give characters, tiktoken:MODEL or estimate:MODEL, or a service: anthropic:MODEL, .* tgi$/
      )
      assert.match(
        yield* message("tiktoken:llama"),
        /^--counter is "tiktoken:llama": give one of gpt-4o, .* for the model$/
      )
      assert.match(yield* message("estimate:gpt-4o"), /^--counter is "estimate:gpt-4o": give one of claude, gemini for/)
    }))
})
