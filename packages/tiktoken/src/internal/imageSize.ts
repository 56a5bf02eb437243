/**
 * Reads width and height from the header of a PNG, JPEG, GIF or WebP file.
 *
 * @internal
 */

/** Random access to bytes; `undefined` behind the last one. */
export interface Bytes {
  readonly length: number
  readonly at: (index: number) => number | undefined
}

export interface Size {
  readonly width: number
  readonly height: number
}

export const fromUint8Array = (bytes: Uint8Array): Bytes => ({ length: bytes.length, at: (index) => bytes[index] })

const sextet = (char: number): number => {
  if (char >= 0x41 && char <= 0x5a) return char - 0x41
  if (char >= 0x61 && char <= 0x7a) return char - 0x61 + 26
  if (char >= 0x30 && char <= 0x39) return char - 0x30 + 52
  return char === 0x2b || char === 0x2d ? 62 : 63
}

/** Bytes of a base64 text, decoded where they are looked at. A picture's size is read without decoding its pixels. */
export const fromBase64 = (text: string): Bytes => {
  const padding = text.endsWith("==") ? 2 : text.endsWith("=") ? 1 : 0
  const length = Math.floor((text.length - padding) * 3 / 4)
  return {
    length,
    at: (index) => {
      if (index >= length) return undefined
      const bit = index * 8
      const first = Math.floor(bit / 6)
      const pair = sextet(text.charCodeAt(first)) << 6 | sextet(text.charCodeAt(first + 1))
      return pair >>> 4 - bit % 6 & 0xff
    }
  }
}

const bigEndian = (bytes: Bytes, start: number, count: number): number => {
  let value = 0
  for (let i = 0; i < count; i++) value = value * 256 + (bytes.at(start + i) ?? 0)
  return value
}

const littleEndian = (bytes: Bytes, start: number, count: number): number => {
  let value = 0
  for (let i = count - 1; i >= 0; i--) value = value * 256 + (bytes.at(start + i) ?? 0)
  return value
}

const startsWith = (bytes: Bytes, start: number, text: string): boolean => {
  for (let i = 0; i < text.length; i++) {
    if (bytes.at(start + i) !== text.charCodeAt(i)) return false
  }
  return true
}

/** A JPEG is a chain of segments. The one that starts a frame has the size; tables share its range of markers. */
const jpegSize = (bytes: Bytes): Size | undefined => {
  let at = 2
  while (at + 9 < bytes.length && bytes.at(at) === 0xff) {
    const marker = bytes.at(at + 1)!
    const isFrame = marker >= 0xc0 && marker <= 0xcf && marker !== 0xc4 && marker !== 0xc8 && marker !== 0xcc
    if (isFrame) return { height: bigEndian(bytes, at + 5, 2), width: bigEndian(bytes, at + 7, 2) }
    // Fill bytes may stand before a marker; a segment tells its length, which includes the two bytes that tell it.
    at += marker === 0xff ? 1 : 2 + Math.max(2, bigEndian(bytes, at + 2, 2))
  }
  return undefined
}

const webpSize = (bytes: Bytes): Size | undefined => {
  if (startsWith(bytes, 12, "VP8 ")) {
    return { width: littleEndian(bytes, 26, 2) & 0x3fff, height: littleEndian(bytes, 28, 2) & 0x3fff }
  }
  if (startsWith(bytes, 12, "VP8L")) {
    const bits = littleEndian(bytes, 21, 4)
    return { width: (bits & 0x3fff) + 1, height: (bits >>> 14 & 0x3fff) + 1 }
  }
  return startsWith(bytes, 12, "VP8X")
    ? { width: littleEndian(bytes, 24, 3) + 1, height: littleEndian(bytes, 27, 3) + 1 }
    : undefined
}

const read = (bytes: Bytes): Size | undefined => {
  if (startsWith(bytes, 0, "\x89PNG\r\n")) return { width: bigEndian(bytes, 16, 4), height: bigEndian(bytes, 20, 4) }
  if (startsWith(bytes, 0, "\xff\xd8")) return jpegSize(bytes)
  if (startsWith(bytes, 0, "GIF8")) return { width: littleEndian(bytes, 6, 2), height: littleEndian(bytes, 8, 2) }
  return startsWith(bytes, 0, "RIFF") && startsWith(bytes, 8, "WEBP") ? webpSize(bytes) : undefined
}

/** The size of a picture, or `undefined` where the header does not tell one. */
export const imageSize = (bytes: Bytes): Size | undefined => {
  const size = read(bytes)
  return size !== undefined && size.width > 0 && size.height > 0 ? size : undefined
}
