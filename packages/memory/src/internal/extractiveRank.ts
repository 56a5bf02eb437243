/**
 * Which sentences and facts of a conversation matter most, by word frequency, speaker and place.
 */
import type { Message } from "../Message.js"
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

/** A stretch of text by one speaker; none for the previous summary. */
interface Passage {
  readonly label: string | undefined
  readonly text: string
  readonly weight: number
  /** How many of its sentences open it, and their tier. */
  readonly opening: { readonly sentences: number; readonly tier: number }
}

const nothing = { sentences: 0, tier: ordinary }

const isFactsLine = (line: string): boolean => line.startsWith(factsLabel)

const passages = (messages: ReadonlyArray<Message>, previous: string | undefined): ReadonlyArray<Passage> => {
  const all: Array<Passage> = []
  if (previous !== undefined) {
    const prose = previous.split("\n").filter((line) => !isFactsLine(line)).join("\n")
    all.push({ label: undefined, text: prose, weight: weights.user, opening: { sentences: 2, tier: goal } })
  }
  const firstUser = messages.findIndex((message) => message.role === "user")
  messages.forEach((message, i) => {
    // Later messages say more about where things stand.
    const recency = 1 + i / messages.length
    const closes = i === messages.length - 1 || messages[i + 1].role === "user"
    for (const line of render.lines(message)) {
      const colon = line.indexOf(":")
      const label = line.slice(0, colon)
      const opening = label === "user"
        ? { sentences: 2, tier: i === firstUser && previous === undefined ? goal : request }
        : label === "assistant" && closes
        ? { sentences: 1, tier: request }
        : nothing
      all.push({ label, text: line.slice(colon + 1), weight: weights[label] * recency, opening })
    }
  })
  return all
}

/** A candidate before its words are weighed. */
interface Draft extends Omit<Candidate, "score"> {
  readonly words: ReadonlyArray<string>
  readonly weight: number
}

const drafts = (all: ReadonlyArray<Passage>): ReadonlyArray<Draft> => {
  const segmenters = text.segmenters()
  const seen = new Set<string>()
  const out: Array<Draft> = []
  for (const { label, opening, text: body, weight } of all) {
    text.sentences(segmenters, body).forEach((sentence, i) => {
      const key = sentence.toLowerCase()
      if (seen.has(key)) return
      seen.add(key)
      const opens = i < opening.sentences
      const decides = (label === undefined || label === "user" || label === "assistant") && decisive.test(sentence)
      out.push({
        text: label === undefined ? sentence : `${label}: ${sentence}`,
        old: label === undefined,
        place: out.length,
        tier: Math.max(opens ? opening.tier : ordinary, decides ? decision : ordinary),
        words: text.words(segmenters, sentence),
        weight: weight * (opens ? 1.5 : 1) * (1 + Math.min(text.facts(sentence).length, 4) / 4)
      })
    })
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
 * Facts to keep verbatim, the most important first.
 *
 * @internal
 */
export const facts = (messages: ReadonlyArray<Message>, previous: string | undefined): ReadonlyArray<string> => {
  const found = new Map<string, { score: number; last: number }>()
  let place = 0
  const note = (body: string, weight: number) => {
    for (const { bare, text: name } of text.facts(body)) {
      const score = (found.get(name)?.score ?? 0) + weight / (bare ? 4 : 1)
      found.set(name, { score, last: place++ })
    }
  }
  if (previous !== undefined) {
    const listed = previous.split("\n").filter(isFactsLine).map((line) => line.slice(factsLabel.length))
    listed.forEach((line) => note(line, weights.user))
  }
  for (const passage of passages(messages, previous)) note(passage.text, passage.weight)
  return Array.from(found)
    .sort(([, a], [, b]) => b.score - a.score || b.last - a.last)
    .slice(0, maxFacts)
    .map(([name]) => name)
}
