import { assert, describe, it } from "@effect/vitest"
import ranks from "js-tiktoken/ranks/o200k_base"
import { GIVEN_UP, makeBacktrack } from "../src/internal/backtrack.js"
import { makeMerge } from "../src/internal/merge.js"
import { makeRankOf } from "../src/internal/pairs.js"
import { parseRanks } from "../src/internal/ranks.js"
import { makeShortMerge, MAX_SHORT } from "../src/internal/shortMerge.js"
import { makeVocabulary, NO_TOKEN } from "../src/internal/vocabulary.js"
import { makeCountWindow, makeLongPiece } from "../src/internal/windows.js"
import { makeRandom } from "./support/random.js"
import { samples } from "./support/samples.js"

const PADDING = 16

const tokens = parseRanks(ranks.bpe_ranks)
const vocabulary = makeVocabulary(tokens)
const rankOf = makeRankOf(vocabulary)
const { count: backtrack, readEnds: readEndsOfBacktrack } = makeBacktrack(vocabulary, rankOf)
const { count: merge, readEnds: readEndsOfMerge } = makeMerge(vocabulary, rankOf)
const countWindow = makeCountWindow(makeBacktrack(vocabulary, rankOf), makeMerge(vocabulary, rankOf))
const shortMerge = makeShortMerge(vocabulary)

const withPadding = (piece: Uint8Array): Uint8Array => {
  const padded = new Uint8Array(piece.length + PADDING)
  padded.set(piece)
  return padded
}

const find = (piece: Uint8Array): number => {
  const bytes = withPadding(piece)
  return vocabulary.find(bytes, new DataView(bytes.buffer), 0, piece.length)
}

const count = (method: typeof merge, piece: Uint8Array): number => {
  const bytes = withPadding(piece)
  return method(bytes, new DataView(bytes.buffer), 0, piece.length)
}

const countInWindows: typeof merge = (bytes, view, start, end) => {
  const piece = makeLongPiece(bytes, view, start, end)
  while (!piece.isDone) countWindow(piece)
  return piece.count
}

/** Merging by its definition: look at each pair, merge the lowest, begin again. */
const naive = (piece: Uint8Array): number => {
  const bytes = withPadding(piece)
  const view = new DataView(bytes.buffer)
  const starts = Array.from({ length: piece.length + 1 }, (_, i) => i)
  for (;;) {
    let lowest = Infinity
    let second = -1
    for (let i = 0; i + 2 < starts.length; i++) {
      const rank = vocabulary.find(bytes, view, starts[i], starts[i + 2] - starts[i])
      if (rank !== NO_TOKEN && rank < lowest) {
        lowest = rank
        second = i + 1
      }
    }
    if (second < 0) return starts.length - 1
    starts.splice(second, 1)
  }
}

const random = makeRandom(11)

/** Some bytes of text, of tokens glued together, or of anything. */
const randomPiece = (length: number): Uint8Array => {
  const parts: Array<number> = []
  const text = new TextEncoder().encode(samples[random.pick(Object.keys(samples))] + "-")
  const kind = random.below(3)
  while (parts.length < length) {
    if (kind === 0) {
      const start = random.below(text.length)
      parts.push(...text.subarray(start, start + 1 + random.below(12)))
    } else if (kind === 1) {
      const token = random.below(tokens.count)
      parts.push(...tokens.bytes.subarray(tokens.offsets[token], tokens.offsets[token + 1]))
    } else {
      parts.push(random.below(256))
    }
  }
  return Uint8Array.from(parts.slice(0, length))
}

describe("vocabulary", () => {
  it("finds each token by its bytes, and no token where there is none", () => {
    for (let token = 0; token < tokens.count; token++) {
      const found = vocabulary.find(
        tokens.bytes,
        new DataView(tokens.bytes.buffer),
        tokens.offsets[token],
        vocabulary.lengths[token]
      )
      if (found !== token) assert.strictEqual(found, token)
    }
    assert.strictEqual(find(new TextEncoder().encode("qzxjkv")), NO_TOKEN)
    assert.strictEqual(find(new Uint8Array(300)), NO_TOKEN)
  })

  it("finds the longest token within a limit", () => {
    for (let i = 0; i < 3_000; i++) {
      const piece = randomPiece(1 + random.below(40))
      const bytes = withPadding(piece)
      const limit = random.below(piece.length + 1)
      let expected = NO_TOKEN
      for (let length = 1; length <= limit; length++) {
        const found = find(piece.subarray(0, length))
        if (found !== NO_TOKEN) expected = found
      }
      assert.strictEqual(vocabulary.findLongest(bytes, new DataView(bytes.buffer), 0, limit), expected)
    }
  })
})

describe("merging", () => {
  it("makes each token of its own bytes", () => {
    for (let token = 0; token < tokens.count; token++) {
      const merged = merge(
        tokens.bytes,
        new DataView(tokens.bytes.buffer),
        tokens.offsets[token],
        tokens.offsets[token + 1]
      )
      if (merged !== 1) assert.strictEqual(merged, 1, `token ${token}`)
    }
  })

  it("gives what its definition gives", () => {
    for (let i = 0; i < 2_000; i++) {
      const piece = randomPiece(1 + random.below(60))
      assert.strictEqual(count(merge, piece), naive(piece), piece.join())
    }
  })

  it("of short pieces gives what its definition gives", () => {
    for (let i = 0; i < 20_000; i++) {
      const piece = randomPiece(1 + random.below(MAX_SHORT))
      assert.strictEqual(count(shortMerge, piece), naive(piece), piece.join())
    }
  })

  it("gives the same in windows as in one", () => {
    for (let i = 0; i < 300; i++) {
      const piece = randomPiece(2_049 + random.below(8_000))
      assert.strictEqual(count(countInWindows, piece), count(merge, piece), piece.join())
    }
  })

  it("gives the same where windows are alike, or nearly so", () => {
    const runs = ["-", "=", "*", "#", "_", "~", ".", "/", " ", "\n", "=-", "-=-", "a", "0", "的", "─"]
    const others = ["", " ", "=", "-", "a", "的", "<!--", "\n"]
    for (const run of runs) {
      for (let i = 0; i < 12; i++) {
        const before = run.repeat(random.below(4_000 / run.length))
        const text = random.pick(others) + before + random.pick(others) + run.repeat(3_000 / run.length)
        const piece = new TextEncoder().encode(text)
        assert.strictEqual(count(countInWindows, piece), count(merge, piece), text)
      }
    }
  })

  it("and going back and forth tell where the tokens end", () => {
    for (let i = 0; i < 2_000; i++) {
      const piece = randomPiece(2 + random.below(300))
      const tokens = count(merge, piece)
      const ends = new Int32Array(tokens)
      readEndsOfMerge(ends)
      assert.strictEqual(ends[tokens - 1], piece.length)
      ends.forEach((end, i) => assert.notStrictEqual(find(piece.subarray(i === 0 ? 0 : ends[i - 1], end)), NO_TOKEN))
      if (count(backtrack, piece) === GIVEN_UP) continue
      const others = new Int32Array(tokens)
      readEndsOfBacktrack(others)
      assert.deepStrictEqual(others, ends)
    }
  })

  it("gives what going back and forth gives", () => {
    let given = 0
    for (let i = 0; i < 10_000; i++) {
      const piece = randomPiece(2 + random.below(i % 100 === 0 ? 2_000 : 40))
      if (find(piece) !== NO_TOKEN) continue
      const tokens = count(backtrack, piece)
      if (tokens === GIVEN_UP) continue
      given++
      assert.strictEqual(tokens, count(merge, piece), piece.join())
    }
    assert.isAbove(given, 5_000)
  })

  it("is left to where going back and forth takes many steps", () => {
    const dashes = new TextEncoder().encode("-".repeat(700))
    assert.strictEqual(count(backtrack, dashes), GIVEN_UP)
    assert.strictEqual(count(merge, dashes), naive(dashes))
  })
})
