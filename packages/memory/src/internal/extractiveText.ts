/**
 * Sentences, words and verbatim facts of a text in any script.
 */

/** A longer sentence is cut, so that text without an end is many candidates, not one. In code units. */
const maxSentence = 400

const hasWord = /[\p{L}\p{N}]/u

const tidy = (text: string): string => text.replace(/\s+/gu, " ").trim()

/** A place to cut a text, at most `at`, that splits no code point. */
const cutAt = (text: string, at: number): number =>
  at < text.length && (text.codePointAt(at - 1) ?? 0) > 0xffff ? at - 1 : at

/** Whether a sentence goes on: in `https://example.com/?a=b`, the question mark ends nothing. */
const goesOn = (sentence: string): boolean => /[.!?]$/.test(sentence)

/**
 * Sentences with at least one letter or digit, on one line each.
 *
 * @internal
 */
export const sentences = (segmenter: Intl.Segmenter, text: string): ReadonlyArray<string> => {
  const found: Array<string> = []
  const take = (sentence: string) => {
    if (hasWord.test(sentence)) found.push(tidy(sentence))
  }
  // In short blocks, because the segmenter takes time quadratic in the length of what it is given.
  let rest = ""
  for (let at = 0; at < text.length;) {
    const end = cutAt(text, at + maxSentence)
    const block = rest + text.slice(at, end)
    at = end
    rest = ""
    for (const { segment } of segmenter.segment(block)) {
      if (rest.length < maxSentence && (rest === "" || goesOn(rest))) {
        rest += segment
      } else {
        take(rest)
        rest = segment
      }
    }
    if (rest.length >= maxSentence) {
      take(rest)
      rest = ""
    }
  }
  take(rest)
  return found
}

/** Scripts that put no blanks between words. */
const unspaced = ["Han", "Hiragana", "Katakana", "Thai", "Lao", "Khmer", "Myanmar"]
  .map((script) => `\\p{Script=${script}}`)
  .join("")

const hasUnspaced = new RegExp(`[${unspaced}]`, "u")

/**
 * The different words of a sentence, without numbers.
 *
 * @internal
 */
export const words = (segmenter: Intl.Segmenter, sentence: string): ReadonlyArray<string> => {
  const found = new Set<string>()
  for (const run of sentence.toLowerCase().match(/[\p{L}\p{M}]+/gu) ?? []) {
    if (!hasUnspaced.test(run)) found.add(run)
    else for (const { segment } of segmenter.segment(run)) found.add(segment)
  }
  return Array.from(found)
}

/** A run without blanks, quotes and brackets. Letters of unspaced scripts end it: 文件src/a.ts在. */
const token = new RegExp(`[^\\s"'\`<>\\(\\)\\{\\}\\[\\],;\\|*，。、；：！？「」『』“”‘’[[${unspaced}]--\\p{N}]]+`, "gv")

/** Longer runs are data, not names. */
const maxFact = 200

const isPlainWord = (text: string): boolean => /^\p{L}\p{Ll}*[.:!?]?$/u.test(text)

const isUrl = (text: string): boolean => /^[a-z][a-z\d+.-]*:\/\/./i.test(text)

const isPath = (text: string): boolean =>
  /\p{L}/u.test(text) && (/^[~.]*[\\/]./.test(text) || /[\\/].*[\\/]/.test(text) || /[\\/].*\.\w{1,5}$/.test(text))

const isIdentifier = (text: string): boolean =>
  (/\p{L}/u.test(text) && /\p{N}/u.test(text)) ||
  /[\p{L}\p{N}]_+[\p{L}\p{N}]/u.test(text) ||
  /\p{Ll}\p{Lu}/u.test(text) ||
  /\p{L}{2}(?:@\p{L}|\.\p{Ll})/u.test(text) ||
  /^[@#$]\p{L}/u.test(text)

const isNumber = (text: string): boolean => !/\p{L}/u.test(text) && /\p{N}.*\p{N}/u.test(text)

/** @internal */
export interface Fact {
  readonly text: string
  /** Whether it is a number and nothing else. */
  readonly bare: boolean
}

/**
 * Identifiers, paths, URLs and numbers of at least two digits, as they stand. Names of JSON fields are not among them.
 *
 * @internal
 */
export const facts = (text: string): ReadonlyArray<Fact> => {
  const found: Array<Fact> = []
  for (const { 0: match, index } of text.matchAll(token)) {
    if (isPlainWord(match) || match.length > maxFact || text.startsWith("\":", index + match.length)) continue
    const fact = match.replace(/^[:!?]+|[.:!?]+$/g, "")
    if (isNumber(fact)) found.push({ text: fact, bare: true })
    else if (isUrl(fact) || isPath(fact) || isIdentifier(fact)) found.push({ text: fact, bare: false })
  }
  return found
}

/** Whether a sentence is likely to hold a fact. @internal */
export const looksFactual = (sentence: string): boolean => /\p{N}{2}|[_@\\/]|\p{Ll}\p{Lu}/u.test(sentence)
