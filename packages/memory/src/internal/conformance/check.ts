/**
 * What the cases of the conformance suite are made of.
 */
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Inspectable from "effect/Inspectable"
import * as Stream from "effect/Stream"
import type { MemoryStoreError } from "../../MemoryError.js"
import type * as MemoryStore from "../../MemoryStore.js"
import * as Message from "../../Message.js"
import { sameValue } from "./sameValue.js"

/** What was looked at, what should be there and what is, as text. @internal */
export interface Mismatch {
  readonly _tag: "Mismatch"
  readonly subject: string
  readonly expected: string
  readonly found: string
}

/** @internal */
export type Check = Effect.Effect<void, Mismatch | MemoryStoreError>

/** A case and how to check it on a store, by means of conversations whose ids begin with `id`. @internal */
export interface Case {
  readonly name: string
  readonly check: (store: MemoryStore.Service, id: string) => Check
}

/** @internal */
export const conforms = (name: string, check: Case["check"]): Case => ({ name, check })

const longest = 400

/** @internal */
export const render = (value: unknown): string => {
  const text = Inspectable.toStringUnknown(value instanceof Map ? Array.from(value) : value, 0)
  return text.length > longest ? `${text.slice(0, longest)}… (${text.length} characters)` : text
}

/** @internal */
export const expectEqual = (subject: string, found: unknown, expected: unknown): Effect.Effect<void, Mismatch> =>
  sameValue(found, expected)
    ? Effect.void
    : Effect.fail({ _tag: "Mismatch", subject, expected: render(expected), found: render(found) })

/** @internal */
export const expectConflict = (subject: string, effect: Effect.Effect<unknown, MemoryStoreError>): Check =>
  Effect.flatMap(Effect.either(effect), (outcome) =>
    expectEqual(
      subject,
      Either.isRight(outcome) ? { succeeded: outcome.right } : { failed: outcome.left.reason },
      { failed: "conflict" }
    ))

/** @internal */
export const entry = (
  sequence: number,
  id: string,
  message: Message.Message = Message.user(id)
): MemoryStore.Entry => ({
  sequence,
  id,
  message,
  protected: false,
  recordedAt: 0
})

/** @internal */
export const entries = (from: number, ids: ReadonlyArray<string>): ReadonlyArray<MemoryStore.Entry> =>
  ids.map((id, i) => entry(from + i, id))

const summary = Message.system("Summary of prior context:\nshort")

/** @internal */
export const compaction = (
  from: number,
  upTo: number,
  keep: ReadonlyArray<number> = [],
  messages: ReadonlyArray<Message.Message> = [summary]
): MemoryStore.Compaction => ({ from, upTo, keep, messages })

/** @internal */
export const idsOf = (entries: ReadonlyArray<MemoryStore.Entry>): ReadonlyArray<string> => entries.map(({ id }) => id)

/** @internal */
export const historyOf = (store: MemoryStore.Service, id: string) =>
  Effect.map(Stream.runCollect(store.history(id)), (chunk) => Array.from(chunk))

/** @internal */
export const expectIds = (subject: string, store: MemoryStore.Service, id: string, expected: ReadonlyArray<string>) =>
  Effect.flatMap(store.load(id), (snapshot) => expectEqual(subject, idsOf(snapshot.entries), expected))

/** What a writer does whom others get in the way of: loads again and appends at the end. @internal */
export const appendAtEnd = (
  store: MemoryStore.Service,
  id: string,
  ids: ReadonlyArray<string>,
  message?: Message.Message
) =>
  store.load(id).pipe(
    Effect.flatMap(({ nextSequence }) =>
      store.append(id, nextSequence, ids.map((own, i) => entry(nextSequence + i, own, message)))
    ),
    Effect.retry({ while: (error) => error.reason === "conflict" })
  )
