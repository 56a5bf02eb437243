/**
 * The character heuristic: an ideograph is a token, four other code points are one.
 */

const isIdeograph = (codePoint: number): boolean =>
  (codePoint >= 0x4e00 && codePoint <= 0x9fff) ||
  (codePoint >= 0x3400 && codePoint <= 0x4dbf) ||
  (codePoint >= 0xf900 && codePoint <= 0xfaff) ||
  (codePoint >= 0x20000 && codePoint <= 0x2fa1f)

/** @internal */
export const countCharacters = (text: string): number => {
  let ideographs = 0
  let others = 0
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i)
    if (unit < 0x3400) {
      others++
      continue
    }
    const codePoint = text.codePointAt(i)!
    if (codePoint > 0xffff) i++
    if (isIdeograph(codePoint)) ideographs++
    else others++
  }
  return ideographs + Math.ceil(others / 4)
}
