import { createRequire } from "node:module"
import { assert, describe, it } from "@effect/vitest"
import { Model } from "@effect-memory/tiktoken"
import { Option } from "effect"

describe("Model", () => {
  it("knows each model that tiktoken knows, by the same encoding", () => {
    const models: Record<string, string> = createRequire(import.meta.url)("tiktoken/model_to_encoding.json")
    assert.isAbove(Object.keys(models).length, 50)
    for (const [name, encoding] of Object.entries(models)) {
      assert.strictEqual(Option.getOrUndefined(Model.find(name))?.encoding, encoding, name)
    }
  })

  it("takes the longest family that a name is of", () => {
    const families = {
      "gpt-4o": "gpt-4o",
      "gpt-4o-mini": "gpt-4o-mini",
      "gpt-4o-mini-2024-07-18": "gpt-4o-mini",
      "gpt-4.1-nano": "gpt-4.1-nano",
      "gpt-4": "gpt-4",
      "gpt-4-32k": "gpt-4",
      "gpt-5.2": "gpt-5",
      "gpt-oss-120b": "gpt-oss",
      "ft:gpt-4o:acme::1": "gpt-4o",
      "ft:gpt-4:acme": "gpt-4",
      "o3-mini-2025-01-31": "o3-mini"
    }
    for (const [name, family] of Object.entries(families)) {
      assert.strictEqual(Option.getOrUndefined(Model.find(name))?.family, family, name)
    }
  })

  it("does not take a name for another that it starts with", () => {
    for (const name of ["gpt-4oo", "o11", "gpt-", "", "claude-sonnet-4-5", "adamant"]) {
      assert.isTrue(Option.isNone(Model.find(name)), name)
    }
  })

  it("estimates Claude and Gemini", () => {
    assert.strictEqual(Option.getOrUndefined(Model.findEstimate("claude-opus-4-8"))?.family, "claude")
    assert.strictEqual(Option.getOrUndefined(Model.findEstimate("gemini-2.5-pro"))?.family, "gemini")
    assert.isTrue(Option.isNone(Model.findEstimate("gpt-4o")))
  })
})
