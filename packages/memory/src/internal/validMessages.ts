/**
 * Several messages that are checked together: what is wrong with one says which it is.
 */
import * as Effect from "effect/Effect"
import { InvalidMessage } from "../MemoryError.js"
import * as Message from "../Message.js"

/** @internal */
export const validMessages = (
  messages: Iterable<unknown>
): Effect.Effect<Array<Message.Message>, InvalidMessage> =>
  Effect.forEach(
    messages,
    (message, i) =>
      Effect.mapError(Message.fromUnknown(message), ({ expected, field, given }) =>
        new InvalidMessage({
          field: field === "message" ? `messages.${i}` : `messages.${i}.${field}`,
          given,
          expected
        })),
    { concurrency: 1 }
  )
