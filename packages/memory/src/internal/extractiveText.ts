/**
 * Sentences, words and verbatim facts of a text in any script.
 */

/** A longer sentence is cut, so that a line without an end is many candidates, not one. In code units. */
const maxSentence = 400

const hasWord = /[\p{L}\p{N}]/u

const lineBreaks = /[\n\r\v\f\u0085\u2028\u2029]+/

/** What `Intl.Segmenter` knows. The locale is fixed so that results do not depend on the machine's. */
export interface Segmenters {
  readonly sentence: Intl.Segmenter
  readonly word: Intl.Segmenter
}

/** @internal */
export const segmenters = (): Segmenters => ({
  sentence: new Intl.Segmenter("en", { granularity: "sentence" }),
  word: new Intl.Segmenter("en", { granularity: "word" })
})

const tidy = (text: string): string => text.replace(/\s+/gu, " ").trim()

/** Where to cut so that no code point is split. */
const cutAt = (text: string, at: number): number =>
  at < text.length && (text.codePointAt(at - 1) ?? 0) > 0xffff ? at - 1 : at

/**
 * Sentences with at least one letter or digit, on one line each.
 *
 * @internal
 */
export const sentences = ({ sentence }: Segmenters, text: string): ReadonlyArray<string> => {
  const found: Array<string> = []
  const take = (segment: string) => {
    if (hasWord.test(segment)) found.push(tidy(segment))
  }
  for (const line of text.split(lineBreaks)) {
    // In short blocks, because the segmenter takes time quadratic in the length of what it is given.
    let rest = ""
    for (let at = 0; at < line.length;) {
      const end = cutAt(line, at + maxSentence)
      const segments = Array.from(sentence.segment(rest + line.slice(at, end)), ({ segment }) => segment)
      at = end
      rest = segments.pop() ?? ""
      segments.forEach(take)
      if (rest.length >= maxSentence) {
        take(rest)
        rest = ""
      }
    }
    take(rest)
  }
  return found
}

/** The different words of a sentence, without numbers. @internal */
export const words = ({ word }: Segmenters, sentence: string): ReadonlyArray<string> => {
  const found = new Set<string>()
  for (const { isWordLike, segment } of word.segment(sentence)) {
    if (isWordLike === true && !/\p{N}/u.test(segment)) found.add(segment.toLowerCase())
  }
  return Array.from(found)
}

const unspaced = ["Han", "Hiragana", "Katakana", "Thai", "Lao", "Khmer", "Myanmar"]
  .map((script) => `\\p{Script=${script}}`)
  .join("")

/** A run without blanks, quotes and brackets. Letters of scripts without blanks end it: 文件src/a.ts在. */
const token = new RegExp(`[^\\s"'\`<>\\(\\)\\{\\}\\[\\],;\\|*，。、；：！？「」『』“”‘’[[${unspaced}]--\\p{N}]]+`, "gv")

/** Longer runs are data, not names. */
const maxFact = 200

const isUrl = (text: string): boolean => /^[a-z][a-z\d+.-]*:\/\/./i.test(text)

const isPath = (text: string): boolean =>
  /\p{L}/u.test(text) && (/^[~.]*[\\/]./.test(text) || /[\\/].*[\\/]/.test(text) || /[\\/].*\.\w{1,5}$/.test(text))

const isIdentifier = (text: string): boolean =>
  (/\p{L}/u.test(text) && /\p{N}/u.test(text)) ||
  /[\p{L}\p{N}]_+[\p{L}\p{N}]/u.test(text) ||
  /\p{Ll}\p{Lu}/u.test(text) ||
  /\p{L}{2}[.@]\p{L}/u.test(text) ||
  /^[@#$]\p{L}/u.test(text)

const isNumber = (text: string): boolean => !/\p{L}/u.test(text) && (text.match(/\p{N}/gu)?.length ?? 0) >= 2

/** @internal */
export interface Fact {
  readonly text: string
  /** Whether it is a number and nothing else. */
  readonly bare: boolean
}

/**
 * Identifiers, paths, URLs and numbers of at least two digits, as they stand.
 *
 * @internal
 */
export const facts = (text: string): ReadonlyArray<Fact> =>
  Array.from(text.match(token) ?? []).flatMap((match): ReadonlyArray<Fact> => {
    if (match.length > maxFact) return []
    const fact = match.replace(/^[:!?]+|[.:!?]+$/g, "")
    if (isNumber(fact)) return [{ text: fact, bare: true }]
    return isUrl(fact) || isPath(fact) || isIdentifier(fact) ? [{ text: fact, bare: false }] : []
  })
