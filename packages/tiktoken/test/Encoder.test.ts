import { assert, describe, it } from "@effect/vitest"
import type { Encoding } from "@effect-memory/tiktoken"
import { Effect } from "effect"
import { Tiktoken } from "js-tiktoken/lite"
import ranks from "js-tiktoken/ranks/o200k_base"
import { isCounted, makeProgress } from "../src/internal/encoder.js"
import { load } from "../src/internal/load.js"
import { lastBoundary } from "../src/internal/slice.js"
import { makeRandom, randomText, randomUnits } from "./support/random.js"
import { reference } from "./support/reference.js"
import { samples } from "./support/samples.js"

const encodings = ["o200k_base", "cl100k_base", "p50k_base", "p50k_edit", "r50k_base", "gpt2"] as const

/** Asserts that all texts count as tiktoken counts them. */
const assertExact = (encoding: (typeof encodings)[number], texts: Iterable<string>) =>
  Effect.map(load(encoding), ({ count }) => {
    const expected = reference(encoding)
    for (const text of texts) {
      const tokens = count(text)
      // Writing the text out takes longer than counting it.
      if (tokens !== expected(text)) assert.strictEqual(tokens, expected(text), JSON.stringify(text.slice(0, 200)))
    }
  })

const texts = (seed: number, amount: number, length: number): Array<string> => {
  const random = makeRandom(seed)
  return Array.from(
    { length: amount },
    (_, i) => i % 10 === 0 ? randomUnits(random, length) : randomText(random, length)
  )
}

describe("Encoder", () => {
  describe.each(encodings)("%s", (encoding) => {
    it.effect("counts each sample as tiktoken does", () => assertExact(encoding, Object.values(samples)))

    it.effect("counts each sample as tiktoken does from every character on", () =>
      assertExact(
        encoding,
        Object.values(samples).flatMap((text) =>
          Array.from({ length: Math.min(60, text.length) }, (_, i) => text.slice(i))
        )
      ))
  })

  it.effect(
    "counts 50,000 random texts as tiktoken does in o200k_base",
    () => assertExact("o200k_base", texts(1, 50_000, 24)),
    60_000
  )

  it.effect(
    "counts 30,000 random texts as tiktoken does in cl100k_base",
    () => assertExact("cl100k_base", texts(2, 30_000, 24)),
    60_000
  )

  it.effect("counts 20,000 random texts as tiktoken does in p50k_base and r50k_base", () =>
    Effect.zipRight(
      assertExact("p50k_base", texts(3, 10_000, 24)),
      assertExact("r50k_base", texts(4, 10_000, 24))
    ), 60_000)

  it.effect("counts all texts of one, two and three ASCII characters as tiktoken does", () =>
    Effect.suspend(() => {
      const ascii = Array.from({ length: 128 }, (_, code) => String.fromCharCode(code))
      const two = ascii.flatMap((first) => ascii.map((second) => first + second))
      return Effect.zipRight(
        assertExact("o200k_base", [...ascii, ...two]),
        Effect.forEach(ascii, (first) => assertExact("o200k_base", two.map((rest) => first + rest)), { discard: true })
      )
    }), 120_000)

  it.effect("counts long random texts as tiktoken does", () => assertExact("o200k_base", texts(5, 40, 5_000)), 60_000)

  it.effect("merges words of tokens glued together as tiktoken does", () =>
    Effect.suspend(() => {
      const words = Object.values(samples).join(" ").match(/\p{L}{2,}/gu)!
      const random = makeRandom(6)
      const glued = Array.from({ length: 20_000 }, () =>
        Array.from({ length: 2 + random.below(8) }, () => {
          const word = random.pick(words)
          return word.slice(random.below(word.length))
        }).join(""))
      return Effect.zipRight(
        assertExact("o200k_base", glued),
        assertExact("cl100k_base", glued.slice(0, 5_000))
      )
    }), 60_000)

  it.effect("counts dense runs of one and of few characters as tiktoken does", () =>
    Effect.suspend(() => {
      const runs = ["a", " ", "\n", "=", "-", "0", "的", "😀", "ab", "\r\n", " \n", "a1", "é", "'", "/", "\t"]
      const lengths = [1, 2, 3, 15, 16, 17, 63, 64, 65, 127, 128, 129, 130, 300, 1000]
      return Effect.forEach(
        ["o200k_base", "cl100k_base", "r50k_base"] as const,
        (encoding) => assertExact(encoding, runs.flatMap((run) => lengths.map((length) => run.repeat(length)))),
        { discard: true }
      )
    }))

  it.effect(
    "counts as js-tiktoken does outside the documented differences",
    () =>
      Effect.map(load("o200k_base"), ({ count }) => {
        const tiktoken = new Tiktoken(ranks)
        // White space by Unicode and by JavaScript, and the long s as a contraction.
        const differs = /[\u0085\ufeff]|'ſ/u
        const same = [...Object.values(samples), ...texts(7, 3_000, 24)].filter((text) => !differs.test(text))
        assert.isAbove(same.length, 2_000)
        for (const text of same) {
          assert.strictEqual(count(text), tiktoken.encode(text, [], []).length, JSON.stringify(text.slice(0, 200)))
        }
      }),
    60_000
  )

  it.effect("follows tiktoken where js-tiktoken differs", () =>
    Effect.map(load("o200k_base"), ({ count }) => {
      const tiktoken = new Tiktoken(ranks)
      const expected = reference("o200k_base")
      const texts = ["a\u0085's", "a \u00851", "a\ufeff//", "a \ufeffa", " \ufeff'ſa"]
      for (const text of texts) {
        assert.strictEqual(count(text), expected(text), JSON.stringify(text))
        assert.notStrictEqual(count(text), tiktoken.encode(text, [], []).length, JSON.stringify(text))
      }
    }))

  it.effect("counts a lone surrogate as U+FFFD", () =>
    Effect.map(load("o200k_base"), ({ count }) => {
      for (const text of ["\ud800", "a\udc00b", "\ud83d\ud83d\ude00", "x\udbff "]) {
        assert.strictEqual(count(text), count(text.toWellFormed()))
      }
    }))

  it.effect("gives the same count whatever was counted before", () =>
    Effect.map(load("o200k_base"), ({ count }) => {
      const many = texts(8, 3_000, 30)
      const first = many.map(count)
      assert.deepStrictEqual([...many].reverse().map(count).reverse(), first)
    }))

  describe("slices", () => {
    const cutAtBoundaries = (encoding: Encoding.Encoding, many: ReadonlyArray<string>) =>
      Effect.map(load(encoding), ({ count }) => {
        let cuts = 0
        for (const text of many.map((text) => text.toWellFormed())) {
          const bytes = new TextEncoder().encode(text)
          const decode = (part: Uint8Array): string => new TextDecoder("utf-8", { ignoreBOM: true }).decode(part)
          for (let cut = lastBoundary(bytes, bytes.length); cut > 0; cut = lastBoundary(bytes, cut)) {
            const parts = [decode(bytes.subarray(0, cut)), decode(bytes.subarray(cut))]
            assert.strictEqual(count(parts[0]) + count(parts[1]), count(text), JSON.stringify(parts))
            cuts++
          }
        }
        assert.isAbove(cuts, many.length)
      })

    it.effect("may be cut at any boundary without changing the count", () =>
      Effect.forEach(
        ["o200k_base", "cl100k_base", "r50k_base"] as const,
        (encoding) => cutAtBoundaries(encoding, texts(9, 4_000, 24)),
        { discard: true }
      ), 60_000)

    it.effect("add up to the count of the whole text", () =>
      Effect.suspend(() => {
        const random = makeRandom(10)
        const mixed = Array.from({ length: 6_000 }, () => randomText(random, 24)).join("")
        const chinese = samples["chinese"].repeat(1_000)
        const unspaced = "的是我".repeat(20_000) + "a"
        const surrogatePairs = "x" + "😀 ".repeat(30_000)
        return assertExact("o200k_base", [mixed, chinese, unspaced.slice(0, 4_000), surrogatePairs])
      }), 60_000)

    it.effect("grow until they find a boundary", () =>
      Effect.map(load("o200k_base"), ({ count, countSlice }) => {
        const progress = makeProgress("a".repeat(100_000) + " b".repeat(100_000))
        while (progress.at === 0 || progress.grown !== undefined) countSlice(progress)
        assert.isAtLeast(progress.at, 100_000)
        assert.isBelow(progress.at, progress.text.length)
        assert.strictEqual(progress.tokens, count(progress.text.slice(0, progress.at)))
      }))

    it.effect("that had to grow are counted in parts, whatever is counted between", () =>
      Effect.map(load("o200k_base"), ({ count, countSlice }) => {
        const pieces = ["=".repeat(40_000), " ".repeat(50_000), "-!".repeat(30_000), "的是".repeat(20_000)]
        for (const text of [...pieces, pieces.join("\n"), "?! ".repeat(40_000)]) {
          const progress = makeProgress(text)
          let parts = 0
          for (; !isCounted(progress); parts++) {
            countSlice(progress)
            count(samples["code"])
            count("+".repeat(5_000 + parts))
          }
          assert.isAtLeast(parts, 2)
          assert.strictEqual(progress.tokens, count(text))
        }
      }))

    it.effect("that had to grow count as tiktoken counts them", () =>
      Effect.suspend(() => {
        const random = makeRandom(12)
        // The reference takes a time quadratic in the length of such pieces.
        const runs = ["=", "-", " ", "#", "的", "ab", "/*"].map((run) => run.repeat(6_000 / run.length))
        const mixed = Array.from({ length: 60 }, () => random.pick(["-", "=", " ", "\n", "!?", "的"]).repeat(700))
        return assertExact("o200k_base", [
          ...runs.flatMap((run) => ["", " ", "=", "x", "//"].map((before) => before + run)),
          mixed.join("")
        ])
      }), 120_000)
  })
})
