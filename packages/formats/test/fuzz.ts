/**
 * Reads damaged texts with every reader, and writes what comes out: typed errors only.
 */
import { Conversation, Format } from "@effect-memory/formats"
import { Cause, Chunk, Effect, Exit, Stream } from "effect"
import { corpus } from "./corpus.js"
import { mutate, random } from "./mutate.js"

export interface Outcome {
  /** What the damage came to. */
  readonly kind: "read" | "refused" | "unknown" | "crash"
  readonly format: string
  readonly seed: number
  readonly milliseconds: number
  /** The defect, where there was one. */
  readonly defect?: string | undefined
}

const ids = Format.all.map(({ id }) => id)

const check = (bytes: Uint8Array, format: string | undefined, other: string) =>
  Effect.gen(function*() {
    const found = Chunk.toReadonlyArray(yield* Stream.runCollect(Format.read(Stream.make(bytes), { format })))
    const conversations = found.filter(Conversation.isConversation)
    for (const conversation of conversations) {
      yield* Effect.option(Format.encode(conversation))
      yield* Effect.option(Format.encode(conversation, { format: other }))
    }
    return conversations.some(({ messages }) => messages.length > 0) ? "read" as const : "refused" as const
  })

/** One damaged text; the seed says which. */
export const run = (seed: number): Outcome => {
  const chance = random(seed)
  const source = chance.pick(Object.keys(corpus))
  // Most texts are read by their own format, some by another, some by the one that is found.
  const format = chance.below(4) === 0 ? undefined : chance.below(4) === 0 ? chance.pick(ids) : source
  const bytes = mutate(corpus[source], chance)
  const start = performance.now()
  const exit = Effect.runSyncExit(Effect.suspend(() => check(bytes, format, chance.pick(ids))))
  const milliseconds = performance.now() - start
  const outcome = { format: format ?? "found by content", seed, milliseconds }
  if (Exit.isSuccess(exit)) return { ...outcome, kind: exit.value }
  return Cause.isDie(exit.cause)
    ? { ...outcome, kind: "crash", defect: Cause.pretty(exit.cause) }
    : { ...outcome, kind: "unknown" }
}
