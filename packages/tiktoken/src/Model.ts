/**
 * What is known of models by family: their encoding, and what a request costs beside its text. The latter are estimates,
 * measured on billed requests or published; they can be given anew where they are used.
 *
 * @since 0.1.0
 */
import * as Option from "effect/Option"
import type { Encoding } from "./Encoding.js"

/**
 * How an image is counted, by its size in pixels.
 *
 * - `tiles`: `base`, and `tile` for each tile of 512 × 512 after shrinking to 2048 × 2048 and the shorter side to 768.
 * - `patches`: `factor` for each square of `side`, of which there are at most `max`.
 * - `crops`: `tile` for each square of `side` after shrinking to `max` × `max`, once if neither side exceeds `small`.
 *
 * @since 0.1.0
 * @category models
 */
export type ImageRule =
  | { readonly type: "tiles"; readonly base: number; readonly tile: number }
  | { readonly type: "patches"; readonly side: number; readonly max: number; readonly factor: number }
  | {
    readonly type: "crops"
    readonly side: number
    readonly small: number
    readonly max: number
    readonly tile: number
  }

/**
 * What a request costs beside its text, in tokens.
 *
 * @since 0.1.0
 * @category models
 */
export interface Figures {
  /** A message, with its role. */
  readonly message: number
  /** The name of a message's author, beside its text. */
  readonly name: number
  /** The priming of the reply, once. */
  readonly reply: number
  /** A tool call with its result. */
  readonly call: number
  /** More than one call in a message, once. */
  readonly parallelCalls: number
  /** All tool definitions together, once where there are any. */
  readonly tools: number
  /** A tool definition. */
  readonly tool: number
  /** A tool that has parameters. */
  readonly parameters: number
  /** A parameter. */
  readonly parameter: number
  /** A value that a parameter may have. */
  readonly choice: number
  /** An image. */
  readonly image: ImageRule
}

/**
 * @since 0.1.0
 * @category models
 */
export interface Model {
  /** The family that the model is of, such as `gpt-4o-mini`. */
  readonly family: string
  readonly encoding: Encoding
  readonly figures: Figures
}

/**
 * The figures of chat models, as far as nothing else is known.
 *
 * @since 0.1.0
 * @category figures
 */
export const chat: Figures = {
  message: 4,
  name: 1,
  reply: 3,
  call: 8,
  parallelCalls: 19,
  tools: 12,
  tool: 7,
  parameters: 3,
  parameter: 3,
  choice: 3,
  image: { type: "tiles", base: 85, tile: 170 }
}

const tiles = (base: number, tile: number): ImageRule => ({ type: "tiles", base, tile })

const patches = (factor: number): ImageRule => ({ type: "patches", side: 32, max: 1536, factor })

/** Reasoning models have one token less of framing. */
const reasoning: Figures = { ...chat, reply: 2, image: tiles(75, 150) }

/** Their tools stand in a longer frame. */
const gpt5: Figures = { ...reasoning, tools: 95, call: 13, image: tiles(70, 140) }

const o200k: ReadonlyArray<readonly [family: string, figures: Figures]> = [
  ["gpt-4o", chat],
  ["chatgpt-4o", chat],
  ["gpt-4o-mini", { ...chat, image: tiles(2833, 5667) }],
  ["gpt-4.1", chat],
  ["gpt-4.1-mini", { ...chat, image: patches(1.62) }],
  ["gpt-4.1-nano", { ...chat, image: patches(2.46) }],
  ["gpt-4.5", chat],
  ["gpt-5", gpt5],
  // Published as 1.62, billed as 1.2.
  ["gpt-5-mini", { ...gpt5, image: patches(1.2) }],
  ["gpt-5-nano", { ...gpt5, image: patches(2.46) }],
  ["o1", reasoning],
  ["o1-mini", { ...reasoning, reply: 10 }],
  ["o3", reasoning],
  ["o3-mini", reasoning],
  ["o4-mini", { ...reasoning, image: patches(1.72) }]
]

const others: ReadonlyArray<readonly [encoding: Encoding, families: ReadonlyArray<string>]> = [
  ["o200k_harmony", ["gpt-oss"]],
  [
    "cl100k_base",
    [
      "gpt-4",
      "gpt-3.5",
      "gpt-3.5-turbo",
      "gpt-35-turbo",
      "davinci-002",
      "babbage-002",
      "text-embedding-ada-002",
      "text-embedding-3"
    ]
  ],
  [
    "p50k_base",
    ["text-davinci-003", "text-davinci-002", "code-davinci", "code-cushman", "davinci-codex", "cushman-codex"]
  ],
  ["p50k_edit", ["text-davinci-edit", "code-davinci-edit"]],
  [
    "r50k_base",
    [
      "text-davinci-001",
      "text-curie",
      "text-babbage",
      "text-ada",
      "davinci",
      "curie",
      "babbage",
      "ada",
      "text-similarity",
      "text-search",
      "code-search"
    ]
  ],
  ["gpt2", ["gpt2", "gpt-2"]]
]

/**
 * The families that are known.
 *
 * @since 0.1.0
 * @category accessors
 */
export const known: ReadonlyArray<Model> = [
  ...o200k.map(([family, figures]): Model => ({ family, encoding: "o200k_base", figures })),
  ...others.flatMap(([encoding, families]) => families.map((family): Model => ({ family, encoding, figures: chat })))
]

/**
 * A family whose tokenizer is not public: `o200k_base` counts times a measured factor.
 *
 * @since 0.1.0
 * @category models
 */
export interface Estimate extends Model {
  /** What a token of `o200k_base` is billed as, in the median of recorded agent sessions. */
  readonly factor: number
}

/**
 * The families that can be estimated.
 *
 * @since 0.1.0
 * @category accessors
 */
export const estimated: ReadonlyArray<Estimate> = [
  {
    family: "claude",
    encoding: "o200k_base",
    factor: 1.4,
    figures: {
      ...chat,
      reply: 4,
      tools: 500,
      call: 50,
      parallelCalls: 0,
      image: { type: "patches", side: 28, max: 1568, factor: 1 }
    }
  },
  {
    family: "gemini",
    encoding: "o200k_base",
    factor: 1.2,
    figures: {
      ...chat,
      message: 1,
      reply: 1,
      tools: 0,
      call: 8,
      parallelCalls: 0,
      image: { type: "crops", side: 768, small: 384, max: 3072, tile: 258 }
    }
  }
]

const isOf = (model: string, family: string): boolean =>
  model.startsWith(family) && !/[a-z0-9]/i.test(model.charAt(family.length))

const longest = <A extends Model>(models: ReadonlyArray<A>, name: string): Option.Option<A> =>
  Option.fromNullable(
    models
      .filter((model) => isOf(name, model.family))
      .sort((a, b) => b.family.length - a.family.length)[0]
  )

/**
 * Finds a model by its name, its dated name (`gpt-4o-2024-11-20`) or the name of a fine-tuned one (`ft:gpt-4o:acme`). Of
 * several families, the longest is meant: `gpt-4o-mini` before `gpt-4o`.
 *
 * @example
 * ```ts
 * import { strictEqual } from "node:assert"
 * import { Option } from "effect"
 * import { Model } from "@effect-memory/tiktoken"
 *
 * const model = Option.getOrThrow(Model.find("gpt-4o-mini-2024-07-18"))
 *
 * strictEqual(model.family, "gpt-4o-mini")
 * strictEqual(model.encoding, "o200k_base")
 * ```
 *
 * @since 0.1.0
 * @category accessors
 */
export const find = (name: string): Option.Option<Model> =>
  longest(known, name.startsWith("ft:") ? name.slice(3) : name)

/**
 * Finds what is estimated of a model by its name.
 *
 * @since 0.1.0
 * @category accessors
 */
export const findEstimate = (name: string): Option.Option<Estimate> => longest(estimated, name)
