/**
 * What several test files need: short conversations, and memories from parts.
 */
import { assert } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { Memory, MemoryStore, Message, TokenCounter, TrimStrategy } from "effect-memory"

const { assistant, user } = Message

/** `u1`, `a1`, … `un`, `an`: one token each. */
export const rounds = (n: number, from = 1): ReadonlyArray<Message.Message> =>
  Array.from({ length: n }, (_, i) => [user(`u${from + i}`), assistant(`a${from + i}`)]).flat()

/** Each message in a word: its text, its result, or the kind of its parts. */
export const texts = (messages: ReadonlyArray<Message.Message>): ReadonlyArray<string> =>
  messages.map((message) =>
    Message.parts(message).map((part) =>
      part.type === "text" ? part.text : part.type === "tool-result" ? String(part.result) : part.type
    ).join("+")
  )

/** Records messages in one go and answers the context that follows. */
export const contextOf = (messages: ReadonlyArray<Message.Message>) =>
  Effect.gen(function*() {
    const memory = yield* Memory.Memory
    yield* memory.recordAll(messages)
    return texts(yield* memory.context)
  })

/** A counter that reads the number of tokens from the text. */
export const numbers: TokenCounter.Service = TokenCounter.make({
  id: "numbers",
  count: (text) => Effect.succeed(Number(text))
})

export interface MemoryParts extends Memory.Options {
  readonly strategy?: TrimStrategy.Service | undefined
  readonly counter?: TokenCounter.Service | undefined
  readonly store?: MemoryStore.Service | undefined
}

/** A memory from parts: characters, the plain window and a store of its own unless others are given. */
export const makeMemory = Effect.fnUntraced(function*({ counter, store, strategy, ...options }: MemoryParts) {
  return yield* Memory.make(options).pipe(
    Effect.provideService(TokenCounter.TokenCounter, counter ?? TokenCounter.characters),
    Effect.provideService(TrimStrategy.TrimStrategy, strategy ?? TrimStrategy.windowDrop()),
    Effect.provideService(MemoryStore.MemoryStore, store ?? (yield* MemoryStore.makeMemory))
  )
})

/** {@link makeMemory} as a layer. */
export const memoryLayer = (parts: MemoryParts) => Layer.scoped(Memory.Memory, makeMemory(parts))

/** Deep equality that takes no time over what is the same reference. */
export const assertMessages = (
  found: ReadonlyArray<Message.Message>,
  expected: ReadonlyArray<Message.Message>,
  what = "messages"
): void => {
  const same = found.length === expected.length &&
    found.every((message, i) => message === expected[i])
  if (!same) assert.deepStrictEqual(found, expected, what)
}

const canonicals = new WeakMap<Message.Message, string>()

/** What a message holds as text, whatever the order of its keys. */
export const canonical = (message: Message.Message): string => {
  const known = canonicals.get(message)
  if (known !== undefined) return known
  const text = JSON.stringify(
    message,
    (_, value) =>
      typeof value === "object" && value !== null && !Array.isArray(value)
        ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => a < b ? -1 : 1))
        : value
  )
  canonicals.set(message, text)
  return text
}

/** Whether the messages stand in the list in this order, by what they hold. */
export const isWithinOrder = (
  messages: ReadonlyArray<Message.Message>,
  list: ReadonlyArray<Message.Message>
): boolean => {
  let at = 0
  return messages.every((message) => {
    while (at < list.length && list[at] !== message && canonical(list[at]) !== canonical(message)) at++
    return at++ < list.length
  })
}

/** For properties: many runs on a machine that does other things too. */
export const runs = (numRuns: number) => ({ fastCheck: { numRuns }, timeout: 300_000 })
