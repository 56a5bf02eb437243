import { assert, describe, it } from "@effect/vitest"
import { Model } from "@effect-memory/tiktoken"
import { Encoding, FastCheck, Option } from "effect"
import { Message } from "effect-memory"
import { countFile } from "../src/internal/files.js"
import { fromBase64, fromUint8Array, imageSize } from "../src/internal/imageSize.js"

const ascii = (text: string): Array<number> => Array.from(text, (char) => char.charCodeAt(0))
const big = (value: number, bytes: number): Array<number> =>
  Array.from({ length: bytes }, (_, i) => value / 256 ** (bytes - 1 - i) & 0xff)
const little = (value: number, bytes: number): Array<number> => big(value, bytes).reverse()

const png = (width: number, height: number): Array<number> => [
  ...[0x89, ...ascii("PNG\r\n"), 0x1a, 0x0a, ...big(13, 4), ...ascii("IHDR")],
  ...[...big(width, 4), ...big(height, 4), 8, 6, 0, 0, 0]
]
const gif = (width: number, height: number): Array<number> => [
  ...ascii("GIF89a"),
  ...little(width, 2),
  ...little(height, 2)
]
/** With an EXIF segment of 300 bytes and a Huffman table before the frame. */
const jpeg = (width: number, height: number): Array<number> => [
  ...[0xff, 0xd8, 0xff, 0xe1, ...big(302, 2), ...Array.from({ length: 300 }, () => 0xff)],
  ...[0xff, 0xc4, ...big(4, 2), 1, 2, 0xff, 0xff],
  ...[0xc2, ...big(17, 2), 8, ...big(height, 2), ...big(width, 2), 3, 0, 0, 0]
]
const riff = (chunk: ReadonlyArray<number>): Array<number> => [...ascii("RIFF"), 0, 0, 0, 0, ...ascii("WEBP"), ...chunk]
const lossy = (width: number, height: number): Array<number> =>
  riff([...ascii("VP8 "), ...Array.from({ length: 10 }, () => 0), ...little(width, 2), ...little(height, 2)])
const lossless = (width: number, height: number): Array<number> =>
  riff([...ascii("VP8L"), 0, 0, 0, 0, 0x2f, ...little((width - 1) + (height - 1) * 16_384, 4)])
const extended = (width: number, height: number): Array<number> =>
  riff([...ascii("VP8X"), ...Array.from({ length: 8 }, () => 0), ...little(width - 1, 3), ...little(height - 1, 3)])

const formats = { png, gif, jpeg, lossy, lossless, extended }

describe("imageSize", () => {
  for (const [format, write] of Object.entries(formats)) {
    it(`reads the size from the header of ${format}`, () => {
      for (const [width, height] of [[1, 1], [640, 480], [1023, 4097], [16_000, 3]]) {
        const bytes = Uint8Array.from(write(width, height))
        assert.deepStrictEqual(imageSize(fromUint8Array(bytes)), { width, height })
        assert.deepStrictEqual(imageSize(fromBase64(Encoding.encodeBase64(bytes))), { width, height })
        assert.deepStrictEqual(imageSize(fromBase64(Encoding.encodeBase64Url(bytes))), { width, height })
      }
    })

    it(`takes ${format} cut at any byte without failing`, () => {
      const bytes = Uint8Array.from(write(300, 200))
      for (let length = 0; length < bytes.length; length++) {
        const size = imageSize(fromUint8Array(bytes.subarray(0, length)))
        assert.isTrue(size === undefined || (size.width > 0 && size.height > 0))
      }
    })
  }

  it("is undefined for anything else, and ends", () => {
    FastCheck.assert(FastCheck.property(FastCheck.uint8Array({ maxLength: 64 }), (bytes) => {
      const size = imageSize(fromUint8Array(Uint8Array.from([0xff, 0xd8, ...bytes])))
      return size === undefined || size.width > 0
    }))
    assert.isUndefined(imageSize(fromUint8Array(new Uint8Array(100_000).fill(0xff))))
    assert.isUndefined(imageSize(fromBase64("not an image")))
  })

  it("reads base64 as the decoder does", () => {
    FastCheck.assert(FastCheck.property(FastCheck.uint8Array({ maxLength: 40 }), (bytes) => {
      const read = fromBase64(Encoding.encodeBase64(bytes))
      assert.strictEqual(read.length, bytes.length)
      assert.deepStrictEqual(Array.from({ length: bytes.length + 1 }, (_, i) => read.at(i)), [...bytes, undefined])
    }))
  })
})

describe("countFile", () => {
  const image = (data: ReadonlyArray<number> | URL | string, options: Message.ProviderOptions = {}): Message.FilePart =>
    Message.file({
      mediaType: "image/png",
      data: typeof data === "string" || data instanceof URL ? data : Uint8Array.from(data),
      options
    })
  const ruleOf = (model: string): Model.ImageRule =>
    Option.getOrThrow(Option.orElse(Model.find(model), () => Model.findEstimate(model))).figures.image

  it("counts tiles of 512 after shrinking", () => {
    const count = countFile(ruleOf("gpt-4o"))
    assert.strictEqual(count(image(png(512, 512))), 85 + 170)
    assert.strictEqual(count(image(png(1024, 1024))), 85 + 4 * 170)
    assert.strictEqual(count(image(png(2048, 4096))), 85 + 6 * 170)
    assert.strictEqual(count(image(png(100_000, 1))), 85 + 4 * 170)
    assert.strictEqual(countFile(ruleOf("gpt-4o-mini"))(image(png(512, 512))), 2833 + 5667)
  })

  it("counts the base alone where low detail is asked for", () => {
    const count = countFile(ruleOf("gpt-4o"))
    assert.strictEqual(count(image(png(1024, 1024), { openai: { detail: "low" } })), 85)
    assert.strictEqual(count(image(png(1024, 1024), { openai: { imageDetail: "low" } })), 85)
  })

  it("counts patches up to their most", () => {
    const count = countFile(ruleOf("gpt-4.1-mini"))
    assert.strictEqual(count(image(png(33, 32))), Math.ceil(2 * 1.62))
    assert.strictEqual(count(image(png(8000, 8000))), Math.ceil(1536 * 1.62))
    assert.strictEqual(countFile(ruleOf("claude-opus-5"))(image(png(280, 29))), 20)
    assert.strictEqual(countFile(ruleOf("claude-opus-5"))(image(png(8000, 8000))), 1568)
  })

  it("counts crops of 768, one for a small picture", () => {
    const count = countFile(ruleOf("gemini-2.5-pro"))
    assert.strictEqual(count(image(png(384, 384))), 258)
    assert.strictEqual(count(image(png(769, 768))), 2 * 258)
    assert.strictEqual(count(image(png(2 ** 31, 2 ** 31))), 16 * 258)
  })

  it("takes an image of unknown size for a typical one, whatever its payload", () => {
    const count = countFile(ruleOf("gpt-4o"))
    const typical = 85 + 4 * 170
    assert.strictEqual(count(image(new URL("https://example.org/a.png"))), typical)
    assert.strictEqual(count(image("AAAA".repeat(100_000))), typical)
    assert.strictEqual(count(image([])), typical)
  })

  it("reads the payload of a data URL", () => {
    const url = `data:image/png;base64,${Encoding.encodeBase64(Uint8Array.from(png(512, 512)))}`
    const count = countFile(ruleOf("gpt-4o"))
    assert.strictEqual(count(image(url)), 85 + 170)
    assert.strictEqual(count(image(new URL(url))), 85 + 170)
  })

  it("counts other files by their bytes, and never as nothing", () => {
    const count = countFile(ruleOf("gpt-4o"))
    const file = (mediaType: string, bytes: number) => Message.file({ mediaType, data: new Uint8Array(bytes) })
    assert.strictEqual(count(file("text/plain", 4_000)), 1_000)
    assert.strictEqual(count(file("application/ld+json", 4_000)), 1_000)
    assert.strictEqual(count(file("application/pdf", 100_000)), 2_000)
    assert.strictEqual(count(file("audio/mpeg", 100_000)), 200)
    assert.strictEqual(count(file("application/pdf", 0)), 1)
    assert.strictEqual(count(Message.file({ mediaType: "application/pdf", data: new URL("https://a.b/c.pdf") })), 1_000)
    assert.strictEqual(count(Message.file({ mediaType: "application/pdf", data: "https://a.b/c.pdf" })), 1_000)
    assert.strictEqual(count(file("Application/JSON; charset=utf-8", 400)), count(file("application/json", 400)))
  })
})
