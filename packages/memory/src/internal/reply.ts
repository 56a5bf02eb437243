/**
 * What makes a summary of a reply.
 */
import * as Effect from "effect/Effect"
import { SummarizeError } from "../MemoryError.js"
import type { Completion, Request, Summary } from "../Summarizer.js"
import * as json from "./json.js"

/** @internal */
export const isBlank = (text: string): boolean => !/[^\p{Z}\p{Cc}\p{Cf}]/u.test(text)

/** @internal */
export const accept = (completion: Completion, maxTokens: number): Effect.Effect<Summary, SummarizeError> => {
  if (completion.finish === "refusal") {
    return new SummarizeError({ reason: "refused", detail: "the model declined: use another model or prompt" })
  }
  if (completion.finish === "length") {
    return new SummarizeError({
      reason: "truncated",
      detail: `the reply was cut at its limit of ${maxTokens} tokens: raise it, or use a model that thinks less`
    })
  }
  if (isBlank(completion.text)) {
    return new SummarizeError({ reason: "empty", detail: "the reply has no text: use another model or prompt" })
  }
  return Effect.succeed({ text: json.wellFormed(completion.text.trim()), usage: completion.usage })
}

/**
 * Without new messages the previous summary stands as it is, so that it is never summarized alone.
 *
 * @internal
 */
export const unchanged = ({ previous }: Request): Effect.Effect<Summary, SummarizeError> =>
  previous === undefined || isBlank(previous)
    ? new SummarizeError({ reason: "empty", detail: "there is nothing to summarize: give at least one message" })
    : Effect.succeed({ text: previous.trim(), usage: undefined })
