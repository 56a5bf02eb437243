import { assert, describe, it } from "@effect/vitest"
import cl100k from "js-tiktoken/ranks/cl100k_base"
import o200k from "js-tiktoken/ranks/o200k_base"
import { codePointOfThree, isThreeBytes, isTrail } from "../src/internal/characters.js"
import { makeMayCross } from "../src/internal/crossings.js"
import { makeMerge } from "../src/internal/merge.js"
import { makeRankOf } from "../src/internal/pairs.js"
import { makePieces } from "../src/internal/pieces.js"
import { parseRanks, type Tokens } from "../src/internal/ranks.js"
import { makeVocabulary, NO_TOKEN } from "../src/internal/vocabulary.js"
import { makeRandom } from "./support/random.js"

const PADDING = 16

const tables = { o200k_base: o200k, cl100k_base: cl100k }

const encoder = new TextEncoder()
const decoder = new TextDecoder("utf-8", { ignoreBOM: true })

const tokenAt = ({ bytes, offsets }: Tokens, token: number): ReadonlyArray<number> =>
  Array.from(bytes.subarray(offsets[token], offsets[token + 1]))

/** The bytes of a token with what is missing of a character of three bytes at its start and at its end. */
const completed = (token: ReadonlyArray<number>, lead: number, trail: number): ReadonlyArray<number> => {
  const trails = token.findIndex((byte) => !isTrail(byte))
  const before = trails === 1 ? [lead, trail] : trails === 2 ? [lead] : []
  const whole = token.length - 1
  const behind = isThreeBytes(token[whole]) ? [trail, trail] : isThreeBytes(token[whole - 1]) ? [trail] : []
  return [...before, ...token, ...behind]
}

for (const [encoding, table] of Object.entries(tables)) {
  const tokens = parseRanks(table.bpe_ranks)
  const vocabulary = makeVocabulary(tokens)
  const merge = makeMerge(vocabulary, makeRankOf(vocabulary))
  const pieces = makePieces(vocabulary)
  const mayCross = makeMayCross(tokens)
  const random = makeRandom(5)

  const assertMerged = (piece: Uint8Array): void => {
    const bytes = Uint8Array.from([...piece, ...Array<number>(PADDING).fill(0)])
    const view = new DataView(bytes.buffer)
    const expected = vocabulary.find(bytes, view, 0, piece.length) === NO_TOKEN
      ? merge.count(bytes, view, 0, piece.length)
      : 1
    const counted = pieces.count(bytes, view, 0, piece.length)
    if (counted !== expected) assert.strictEqual(counted, expected, piece.join())
  }

  describe(`pieces of ${encoding}`, () => {
    it("are crossed by tokens only where they may be", () => {
      let crossings = 0
      for (let token = 0; token < tokens.count; token++) {
        const inside = tokenAt(tokens, token)
        if (!inside.some(isThreeBytes)) continue
        const bytes = Uint8Array.from(completed(inside, 0xe0 | random.below(16), 0x80 | random.below(64)))
        for (let at = 3; at < bytes.length; at++) {
          if (!isThreeBytes(bytes[at - 3]) || !isThreeBytes(bytes[at])) continue
          crossings++
          if (mayCross(codePointOfThree(bytes, at - 3), codePointOfThree(bytes, at))) continue
          assert.fail(`token ${token} crosses at ${at} in ${bytes.join()}`)
        }
      }
      assert.isAbove(crossings, 500)
    })

    it("are not crossed between most characters of Chinese", () => {
      const characters = Array.from(
        "港口那天早晨很安静没有一条船离开海鸥在码头上空盘旋抱怨",
        (char) => char.codePointAt(0)!
      )
      let crossed = 0
      for (const first of characters) for (const second of characters) if (mayCross(first, second)) crossed++
      assert.isBelow(crossed, characters.length ** 2 / 4)
    })

    it("of tokens glued together count as they are merged", () => {
      const wide = Array.from({ length: tokens.count }, (_, token) => token)
        .filter((token) => tokenAt(tokens, token).some((byte) => byte >= 0xe0))
      for (let i = 0; i < 20_000; i++) {
        const parts = Array.from({ length: 1 + random.below(6) }, () => tokenAt(tokens, random.pick(wide)))
        assertMerged(encoder.encode(decoder.decode(Uint8Array.from(parts.flat()))))
      }
    })

    it("of characters of every width count as they are merged", () => {
      const common = "的一是不了人我在有他这中大来上国本語のにはを한국어가다—…“”，。、！？"
      for (let i = 0; i < 20_000; i++) {
        const text = Array.from({ length: 1 + random.below(14) }, () => {
          const kind = random.below(8)
          if (kind < 5) return random.pick(Array.from(common))
          if (kind === 5) return String.fromCodePoint(0x4e00 + random.below(0x5200))
          return kind === 6
            ? random.pick(["a", " ", "é", "ф", "😀", "x1"])
            : String.fromCodePoint(0x800 + random.below(0xd000))
        }).join("")
        assertMerged(encoder.encode(text))
      }
    })
  })
}
