/**
 * Over-long text and JSON, shortened to head and tail. Cuts fall between code points, JSON stays JSON.
 */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type { TokenCountError } from "../MemoryError.js"
import type * as Message from "../Message.js"
import type * as TokenCounter from "../TokenCounter.js"
import type { TrimInput, TrimResult } from "../TrimStrategy.js"
import * as json from "./json.js"
import { remembered, rewriteUntil, tokensToWin } from "./rewriting.js"
import * as tag from "./tag.js"
import type * as window from "./window.js"

/** Each try keeps at most this share of the one before. */
const shrink = 0.9

/** Keys are names, not content: only absurd ones are cut. */
const longestKey = 200

/** Of what is kept, so much is taken from the head. */
const headShare = 2 / 3

const isHighSurrogate = (unit: number): boolean => unit >= 0xd800 && unit <= 0xdbff
const isLowSurrogate = (unit: number): boolean => unit >= 0xdc00 && unit <= 0xdfff

/** A place to cut at or before `at` that is no inside of a code point. */
const boundary = (text: string, at: number): number =>
  at > 0 && at < text.length && isHighSurrogate(text.charCodeAt(at - 1)) && isLowSurrogate(text.charCodeAt(at))
    ? at - 1
    : at

/** The first `length` units of a text, cut between code points. */
const head = (text: string, length: number): string => text.slice(0, boundary(text, length))

/**
 * Head and tail of a text, `keep` units in all, with a mark that says how much is missing.
 */
const headAndTail = (text: string, keep: number): string => {
  if (keep >= text.length) return text
  const start = boundary(text, Math.ceil(keep * headShare))
  const end = boundary(text, text.length - Math.floor(keep * (1 - headShare)))
  return `${text.slice(0, start)}[… ${end - start} characters left out …]${text.slice(end)}`
}

/** A JSON value in which no string is longer than `keep` and no list or object has more entries. */
const shortenJson = (value: unknown, keep: number): unknown => {
  if (typeof value === "string") return headAndTail(value, keep)
  if (Array.isArray(value)) {
    const items = value.slice(0, keep).map((item) => shortenJson(item, keep))
    return items.length < value.length ? [...items, `[… ${value.length - items.length} items left out …]`] : items
  }
  if (typeof value === "object" && value !== null) {
    const entries = Object.entries(value)
    const kept = entries.slice(0, keep).map(([key, item]) => [head(key, longestKey), shortenJson(item, keep)] as const)
    return Object.fromEntries(
      kept.length < entries.length ? [...kept, ["…", `${entries.length - kept.length} entries left out`]] : kept
    )
  }
  return value
}

const parse = Option.liftThrowable((text: string): unknown => JSON.parse(text))

const canBeCut = (value: unknown): boolean =>
  typeof value === "string" || (typeof value === "object" && value !== null && json.normalize(value).ok)

/** Shortens text that holds JSON to text that holds JSON. */
const shortenText = (text: string): (keep: number) => string =>
  Option.match(Option.filter(parse(text), canBeCut), {
    onNone: () => (keep) => headAndTail(text, keep),
    onSome: (value) => (keep) => JSON.stringify(shortenJson(value, keep))
  })

/**
 * Shortens by `cut(keep)` until the counter finds no more than `maxTokens`, starting from the share that should fit.
 * What still does not fit with nothing kept is returned as short as it gets.
 */
const shortenTo = <A>(
  options: { readonly maxTokens: number; readonly length: number; readonly tokens: number },
  count: (text: string) => Effect.Effect<number, TokenCountError>,
  cut: (keep: number) => A
): Effect.Effect<A, TokenCountError> => {
  const attempt = (keep: number): Effect.Effect<A, TokenCountError> => {
    const shortened = cut(keep)
    return Effect.flatMap(count(json.stringify(shortened)), (tokens) =>
      tokens <= options.maxTokens || keep === 0
        ? Effect.succeed(shortened)
        : attempt(Math.floor(keep * Math.min(options.maxTokens / tokens, shrink))))
  }
  return attempt(Math.floor(options.length * options.maxTokens / options.tokens))
}

const shortenValue = (
  value: unknown,
  maxTokens: number,
  counter: TokenCounter.Service,
  cutter = (): (keep: number) => unknown => (keep) => shortenJson(value, keep)
): Effect.Effect<unknown, TokenCountError> =>
  Effect.suspend(() => {
    const text = json.stringify(value)
    return Effect.flatMap(counter.count(text), (tokens) =>
      tokens <= maxTokens
        ? Effect.succeed(value)
        : shortenTo({ maxTokens, length: text.length, tokens }, counter.count, cutter()))
  })

/** Arguments that are text may hold JSON, which a provider parses. */
const shortenParams = (
  params: unknown,
  maxTokens: number,
  counter: TokenCounter.Service
): Effect.Effect<unknown, TokenCountError> =>
  typeof params === "string"
    ? shortenValue(params, maxTokens, counter, () => shortenText(params))
    : shortenValue(params, maxTokens, counter)

/** What the provider has run itself goes back as it came; what was cleared is short. */
const staysWhole = (part: Message.Part): boolean =>
  (part.type === "tool-call" && part.providerExecuted) ||
  (part.type === "tool-result" && (part.providerExecuted || tag.isCleared(part)))

const shortenPart = <P extends Message.Part>(
  part: P,
  maxTokens: number,
  counter: TokenCounter.Service
): Effect.Effect<P, TokenCountError> => {
  if (staysWhole(part)) return Effect.succeed(part)
  switch (part.type) {
    case "text":
      return Effect.map(
        shortenValue(part.text, maxTokens, counter),
        (text) => text === part.text ? part : { ...part, text }
      )
    case "tool-call":
      return Effect.map(
        shortenParams(part.params, maxTokens, counter),
        (params) => params === part.params ? part : { ...part, params }
      )
    case "tool-result":
      return Effect.map(
        shortenValue(part.result, maxTokens, counter),
        (result) => result === part.result ? part : { ...part, result }
      )
    default:
      // Reasoning stays as the provider made it; a file cannot be cut.
      return Effect.succeed(part)
  }
}

/**
 * A message whose texts, results and arguments are no longer than `maxTokens` each; the same reference where none was.
 */
const shortenMessage = (
  message: Message.Message,
  maxTokens: number,
  counter: TokenCounter.Service
): Effect.Effect<Message.Message, TokenCountError> => {
  if (message.role === "system") return Effect.succeed(message)
  const parts = message.content as ReadonlyArray<Message.Part>
  return Effect.map(
    Effect.forEach(parts, (part) => shortenPart(part, maxTokens, counter)),
    (shortened) =>
      shortened.every((part, i) => part === parts[i]) ? message : { ...message, content: shortened } as Message.Message
  )
}

/** @internal */
export const shortening = (maxTokens: number) => {
  // What a message is shortened to depends on who counts.
  const rewrites = new WeakMap<TokenCounter.Service, ReturnType<typeof rewriteWith>>()
  const rewriteWith = (counter: TokenCounter.Service) =>
    remembered((message) => shortenMessage(message, maxTokens, counter))
  const rewriteFor = (counter: TokenCounter.Service) => {
    const rewrite = rewrites.get(counter) ?? rewriteWith(counter)
    rewrites.set(counter, rewrite)
    return rewrite
  }
  return (input: TrimInput, target: window.Target): Effect.Effect<TrimResult, TokenCountError> =>
    rewriteUntil(
      input,
      input.messages.flatMap((_, i) => input.counts[i] > maxTokens ? [i] : []),
      rewriteFor(input.counter),
      tokensToWin(input, "keep", target),
      0,
      { strategy: "shortenParts", action: "shortened" }
    )
}
