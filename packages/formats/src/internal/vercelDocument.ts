/**
 * What the documents of the Vercel AI SDK have in common.
 */
import * as Either from "effect/Either"
import type * as Message from "effect-memory/Message"
import type { Decoded, Issue } from "../Codec.js"
import * as decode from "./decode.js"
import * as envelope from "./envelope.js"

/** Cached tokens are among `inputTokens`. @internal */
export const usage = (value: unknown) =>
  envelope.usage(value, { input: ["inputTokens"], output: ["outputTokens"], at: "usage" })

/**
 * Reads a list of messages, or a record that holds one.
 *
 * @internal
 */
export const read = <Wire, State>(form: {
  /** Fields that may hold the messages. */
  readonly at: ReadonlyArray<string>
  readonly check: (value: unknown) => Either.Either<Wire, Issue>
  readonly state: () => State
  readonly messages: (message: Wire, state: State) => ReadonlyArray<Message.Message>
}) =>
(value: unknown): Either.Either<Decoded, Issue> =>
  Either.flatMap(envelope.open(value, form.at), ({ list, ...found }) => {
    const state = form.state()
    return Either.map(
      decode.each(list, found.at, (item) => Either.map(form.check(item), (message) => form.messages(message, state))),
      (messages) => ({ messages: messages.flat(), usage: envelope.answerUsage(usage(value)), envelope: found })
    )
  })
