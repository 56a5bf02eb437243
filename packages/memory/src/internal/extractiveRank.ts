/**
 * Which sentences and facts of a conversation matter most, by word frequency, speaker and place.
 */
import type { Message } from "../Message.js"
import { headAndTail } from "./chunk.js"
import * as text from "./extractiveText.js"
import * as render from "./render.js"

/** A line that could stand in the summary. @internal */
export interface Candidate {
  readonly text: string
  /** Whether it comes from the previous summary. */
  readonly old: boolean
  /** Where it stands among all candidates. */
  readonly place: number
  /** Candidates of a higher tier go first, whatever their score. */
  readonly tier: number
  readonly score: number
}

/** Begins the line of the summary that lists facts. @internal */
export const factsLabel = "mentioned:"

// Tiers
const ordinary = 0
const request = 1
const decision = 2
const goal = 3

/** Words that announce decisions, duties and next steps. Elsewhere speaker and place must do. */
const decisive = new RegExp(
  [
    "\\bdeci(?:de|sion)|\\bagreed?\\b|\\bchose|\\bmust\\b|\\bnever\\b|\\balways\\b|\\binstead\\b|\\bnext step|\\bto-?do\\b",
    "entsch[ie]+d|beschl[oi]ss|vereinbart|\\bmuss\\b|nächster schritt",
    "décid|décision|convenu|il faut|prochaine étape",
    "decisi|decidi|acord|debe\\b|deve\\b|próximo pas|prossimo passo",
    "karar|решил|решен|договорил|необходимо|следующий шаг",
    "决定|決定|必须|必須|同意|下一步|決め|결정|반드시|합의|다음 단계",
    "قرر|قرار|اتفق|يجب|निर्णय|फैसला|ज़रूरी|ตัดสินใจ|ต้อง"
  ].join("|"),
  "iu"
)

const weights: Record<string, number> = { user: 4, assistant: 3, tool_calls: 3, system: 2, tool_result: 1 }

/** A stretch of text by one speaker. */
interface Passage {
  /** Empty for the previous summary, whose lines have their labels. */
  readonly label: string
  readonly text: string
  readonly weight: number
  /** How many sentences, at its beginning, stand for the whole. */
  readonly openers: number
}

const isFactsLine = (line: string): boolean => line.startsWith(factsLabel)

/** Text of a JSON value without escaped line breaks, which would stick to words. */
const unescape = (text: string): string => text.replace(/(?<!\\)\\[nrt]/g, " ")

const isJson = (label: string, text: string): boolean =>
  label === "tool_calls" || (label === "tool_result" && /^ (?:\(failed\) )?(?:\{"|\[[[{"])/.test(text))

const passages = (messages: ReadonlyArray<Message>, previous: string | undefined): ReadonlyArray<Passage> => {
  const all: Array<Passage> = []
  if (previous !== undefined) {
    const prose = previous.split("\n").filter((line) => !isFactsLine(line)).join("\n")
    all.push({ label: "", text: prose, weight: weights.user, openers: 2 })
  }
  messages.forEach((message, i) => {
    // Later messages say more about where things stand.
    const recency = 1 + i / messages.length
    const closes = i === messages.length - 1 || messages[i + 1].role === "user"
    for (const line of render.lines(message)) {
      const colon = line.indexOf(":")
      const label = line.slice(0, colon)
      const body = line.slice(colon + 1)
      const openers = label === "user" ? 2 : label === "assistant" && closes ? 1 : 0
      const text = isJson(label, body) ? unescape(body) : body
      all.push({ label, text, weight: weights[label] * recency, openers })
    }
  })
  return all
}

/** A candidate before its words are weighed. */
interface Draft extends Omit<Candidate, "score"> {
  readonly words: ReadonlyArray<string>
  readonly weight: number
}

/** Fixed, so that results do not depend on the machine's. */
const locale = "en"

/** A shorter sentence, such as a greeting, opens nothing where there are longer ones. In words. */
const minOpening = 3

/** Of a call, the beginning and the end of its arguments say enough. In code units. */
const maxCall = 200

/** Lines of tools that differ in their numbers only, as in a log, count as one. */
const keyOf = (label: string, line: string): string =>
  label === "tool_result" ? line.toLowerCase().replace(/\p{N}+/gu, "0") : line.toLowerCase()

/** The first `n` items that pass a test. */
const firstWhere = <A>(items: ReadonlyArray<A>, n: number, test: (item: A) => boolean): ReadonlyArray<A> => {
  const found: Array<A> = []
  for (let i = 0; i < items.length && found.length < n; i++) {
    if (test(items[i])) found.push(items[i])
  }
  return found
}

const drafts = (all: ReadonlyArray<Passage>): ReadonlyArray<Draft> => {
  const bySentence = new Intl.Segmenter(locale, { granularity: "sentence" })
  const byWord = new Intl.Segmenter(locale, { granularity: "word" })
  const wordsOf = (sentence: string) => text.words(byWord, sentence)
  const seen = new Set<string>()
  const out: Array<Draft> = []
  // The goal is how the previous summary begins, or else the first user message that says something.
  let goalKnown = false
  for (const { label, openers, text: body, weight } of all) {
    const sentences = text.sentences(bySentence, label === "tool_calls" ? headAndTail(body, maxCall) : body)
    const long = firstWhere(sentences, openers, (sentence) => wordsOf(sentence).length >= minOpening)
    const opening = new Set(long.length > 0 ? long : sentences.slice(0, openers))
    const isGoal: boolean = !goalKnown && long.length > 0 && (label === "" || label === "user")
    goalKnown = goalKnown || isGoal
    for (const sentence of sentences) {
      const line = label === "" ? sentence : `${label}: ${sentence}`
      const key = keyOf(label, line)
      if (seen.has(key)) continue
      seen.add(key)
      const opens = opening.has(sentence)
      const decides = !label.startsWith("tool_") && decisive.test(sentence)
      out.push({
        text: line,
        old: label === "",
        place: out.length,
        tier: Math.max(opens ? isGoal ? goal : request : ordinary, decides ? decision : ordinary),
        words: wordsOf(sentence),
        weight: weight * (opens ? 1.5 : 1) * (text.looksFactual(sentence) ? 1.5 : 1)
      })
    }
  }
  return out
}

/**
 * Weight of each word: the more often it is said, and the fewer sentences say it, the more. Words that every sentence
 * has weigh little, so that no list of stop words is needed in any language.
 */
const weigh = (all: ReadonlyArray<Draft>): ReadonlyMap<string, number> => {
  const frequency = new Map<string, number>()
  for (const { words } of all) {
    for (const word of words) frequency.set(word, (frequency.get(word) ?? 0) + 1)
  }
  return new Map(
    Array.from(frequency, ([word, n]) => [word, Math.log1p(n) * Math.log((all.length + 1) / n)])
  )
}

/**
 * All candidates, the most important first.
 *
 * @internal
 */
export const candidates = (
  messages: ReadonlyArray<Message>,
  previous: string | undefined
): ReadonlyArray<Candidate> => {
  const all = drafts(passages(messages, previous))
  const wordWeights = weigh(all)
  return all.map(({ old, place, text, tier, weight, words }): Candidate => {
    const sum = words.reduce((sum, word) => sum + (wordWeights.get(word) ?? 0), 0)
    return { old, place, text, tier, score: weight * sum / Math.sqrt(words.length + 1) }
  }).sort((a, b) => b.tier - a.tier || b.score - a.score || a.place - b.place)
}

/** Facts beyond these are never looked at. */
const maxFacts = 500

/**
 * Facts to keep verbatim, the most important first. A fact counts once for each speaker who mentions it, so that what
 * a tool repeats a hundred times does not push out what the user said once.
 *
 * @internal
 */
export const facts = (messages: ReadonlyArray<Message>, previous: string | undefined): ReadonlyArray<string> => {
  const found = new Map<string, { readonly speakers: Map<string, number>; last: number }>()
  let place = 0
  const note = (label: string, body: string, weight: number) => {
    for (const { bare, text: name } of text.facts(body)) {
      const fact = found.get(name) ?? { speakers: new Map<string, number>(), last: 0 }
      fact.speakers.set(label, bare ? weight / 4 : weight)
      fact.last = place++
      found.set(name, fact)
    }
  }
  const listed = previous?.split("\n").filter(isFactsLine).map((line) => line.slice(factsLabel.length)) ?? []
  listed.forEach((line) => note("", line, weights.user))
  for (const { label, text, weight } of passages(messages, previous)) note(label, text, weight)
  return Array.from(found, ([name, { last, speakers }]) => ({
    name,
    last,
    score: Array.from(speakers.values()).reduce((sum, weight) => sum + weight, 0)
  }))
    .sort((a, b) => b.score - a.score || b.last - a.last)
    .slice(0, maxFacts)
    .map(({ name }) => name)
}
