import { assert, describe, it } from "@effect/vitest"
import { TiktokenCounter } from "@effect-memory/tiktoken"
import { Effect } from "effect"
import { type Billed, isPresent, openAiRequests } from "./support/billed.js"

const count = (billed: Billed) =>
  Effect.gen(function*() {
    const counter = yield* TiktokenCounter.make({ model: billed.model })
    const messages = yield* Effect.forEach(billed.messages, counter.countMessage)
    return messages.reduce((sum, tokens) => sum + tokens, counter.overhead + (yield* counter.countTools(billed.tools)))
  })

describe.skipIf(!isPresent)("billed requests", () => {
  it.effect("of text alone cost exactly what is counted, nearly so where a message has several parts", () =>
    Effect.gen(function*() {
      const plain = openAiRequests().filter((billed) => billed.tools.length === 0 && !billed.isOpaque)
      assert.isAbove(plain.length, 10)
      for (const billed of plain) {
        const tokens = yield* count(billed)
        const isOnePart = billed.messages.every(({ content }) => typeof content === "string" || content.length === 1)
        if (isOnePart) assert.strictEqual(tokens, billed.tokens, billed.model)
        else assert.isBelow(Math.abs(tokens / billed.tokens - 1), 0.01, billed.model)
      }
    }))

  it.effect("with tools cost about what is counted", () =>
    Effect.gen(function*() {
      const hasFile = (billed: Billed): boolean =>
        billed.messages.some(({ content }) =>
          typeof content !== "string" && content.some(({ type }) => type === "file")
        )
      const withTools = openAiRequests().filter((billed) =>
        billed.tools.length > 0 && !billed.isOpaque && !hasFile(billed)
      )
      assert.isAbove(withTools.length, 20)
      for (const billed of withTools) {
        assert.isBelow(Math.abs((yield* count(billed)) / billed.tokens - 1), 0.25, billed.model)
      }
    }))
})
