/**
 * A counter from an encoder and the figures of a model.
 *
 * @internal
 */
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Option from "effect/Option"
import * as Struct from "effect/Struct"
import { TokenCountError } from "effect-memory/MemoryError"
import type * as Message from "effect-memory/Message"
import * as TokenCounter from "effect-memory/TokenCounter"
import type { Figures } from "../Model.js"
import type { Bounds, Service } from "../TiktokenCounter.js"
import { type Encoder, isCounted, makeProgress, SLICE } from "./encoder.js"
import { countFile } from "./files.js"
import { costOfTools } from "./tools.js"

export interface Convention {
  readonly name: string
  readonly encoder: Encoder
  /** What a token of the encoding counts as. */
  readonly factor: number
  readonly figures: Figures
  /** Figures that were given anew. */
  readonly replaced: Partial<Figures> | undefined
}

/** Slices between which other fibers run, but no timer fires and nothing is read. */
const SLICES = 8

/** `yieldNow` lets fibers run that can go on; what ends the waiting of others comes only now. */
const yieldToTimers = Effect.sleep(0)

/** Without what was given as undefined. */
const givenOf = (replaced: Partial<Figures> = {}): Partial<Figures> =>
  Struct.keys(replaced).reduce<Partial<Figures>>(
    (given, field) => replaced[field] === undefined ? given : { ...given, [field]: replaced[field] },
    {}
  )

/** Counts that are made with other figures are another convention. */
const idOf = (name: string, replaced: Partial<Figures>): string =>
  [
    name,
    ...Object.entries(replaced).map(([field, value]) =>
      `${field}=${typeof value === "object" ? Object.values(value).join(":") : value}`
    )
  ].join(",")

/** The first figure that would spoil every count. */
const invalid = (factor: number, figures: Figures): readonly [field: string, value: unknown] | undefined =>
  [["factor", factor] as const, ...Object.entries(figures), ...Object.entries(figures.image)].find(([, value]) =>
    typeof value === "number" && !(Number.isFinite(value) && value >= 0)
  )

export const make = (convention: Convention): Effect.Effect<Service, TokenCountError> => {
  const { encoder, factor } = convention
  const replaced = givenOf(convention.replaced)
  const id = idOf(convention.name, replaced)
  const figures = { ...convention.figures, ...replaced }
  const found = invalid(factor, figures)
  if (found !== undefined) {
    return Effect.fail(
      new TokenCountError({ counter: id, reason: `${found[0]} is ${found[1]}: give a finite number of at least 0` })
    )
  }

  const scale = (tokens: number): number => Math.ceil(tokens * factor)

  /** Counts slice by slice, until the end of the text or past the limit. */
  const countSlices = (text: string, limit: number): Effect.Effect<number> =>
    Effect.suspend(() => {
      const progress = makeProgress(text)
      const isGoing = (): boolean => !isCounted(progress) && scale(progress.tokens) <= limit
      if (isGoing()) encoder.countSlice(progress)
      if (!isGoing()) return Effect.succeed(scale(progress.tokens))
      let counted = 0
      const slices = Effect.whileLoop({
        while: isGoing,
        body: () =>
          Effect.map(++counted % SLICES ? Effect.yieldNow() : yieldToTimers, () => encoder.countSlice(progress)),
        step: () => {}
      })
      return Effect.map(slices, () => scale(progress.tokens))
    })

  /** A text of one slice is counted when it is asked for: an answer that is there spares the memory the steps of waiting. */
  const count = (text: string): Effect.Effect<number> =>
    text.length <= SLICE ? Exit.succeed(scale(encoder.count(text))) : countSlices(text, Infinity)

  const countUpTo = (text: string, limit: number): Effect.Effect<Option.Option<number>> =>
    bounds(text).atLeast > limit
      ? Effect.succeedNone
      : Effect.map(countSlices(text, limit), (tokens) => tokens <= limit ? Option.some(tokens) : Option.none())

  const bounds = (text: string): Bounds => ({
    atLeast: scale(Math.ceil(text.length / encoder.maxTokenLength)),
    atMost: scale(3 * text.length)
  })

  /** What the framing of a message, of its calls and of the author's name adds to its parts. */
  const countFrame = (message: Message.Message): number => {
    const name = message.options["openai"]?.["name"]
    const calls = message.role === "assistant"
      ? message.content.reduce((sum, part) => part.type === "tool-call" ? sum + 1 : sum, 0)
      : 0
    return figures.message + (typeof name === "string" ? figures.name + scale(encoder.count(name)) : 0) +
      calls * figures.call + (calls > 1 ? figures.parallelCalls : 0)
  }

  const base = TokenCounter.make({
    id,
    count,
    overhead: figures.reply,
    messageOverhead: countFrame,
    countFile: countFile(figures.image)
  })

  return Effect.succeed({
    ...base,
    count,
    countUpTo,
    bounds,
    countTools: (tools) =>
      Effect.suspend(() => {
        const { frame, texts } = costOfTools(figures, tools)
        return Effect.reduce(texts, frame, (sum, text) => Effect.map(count(text), (tokens) => sum + tokens))
      })
  })
}
