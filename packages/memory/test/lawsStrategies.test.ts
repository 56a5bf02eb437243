import { assert, describe, it } from "@effect/vitest"
import { Effect, FastCheck as fc, Schedule, Stream } from "effect"
import { MemoryError, MemoryStore, Message, TokenCounter, TrimStrategy } from "effect-memory"
import { entries, freeze } from "./generators.js"
import * as naive from "./naive.js"
import { assertMessages, canonical, isWithinOrder, makeMemory, runs } from "./utilities.js"

/** What a strategy does when it is called: anything at all. */
interface Behaviour {
  /** What becomes of each input, by turns. */
  readonly actions: ReadonlyArray<"keep" | "keep" | "drop" | "rewrite" | "twice" | "spoil">
  readonly keepNewest: boolean
  /** New messages, and what they weigh. */
  readonly added: ReadonlyArray<
    { readonly role: "system" | "user" | "assistant" | "call" | "result"; readonly weight: number }
  >
  readonly addedFirst: boolean
  readonly reversed: boolean
  readonly replace: boolean
  readonly origin: "by reference" | "given" | "too short" | "out of range"
  readonly covers: "default" | "nothing" | "some" | "everything" | "out of range"
  readonly end: "succeeds" | "fails" | "dies" | "interrupts itself"
}

const mostly = <A>(usual: A, ...others: ReadonlyArray<A>): fc.Arbitrary<A> =>
  fc.oneof({ weight: 20, arbitrary: fc.constant(usual) }, { weight: 2, arbitrary: fc.constantFrom(...others) })

const behaviour: fc.Arbitrary<Behaviour> = fc.record({
  actions: fc.array(
    fc.oneof(
      { weight: 6, arbitrary: fc.constant("keep" as const) },
      { weight: 20, arbitrary: fc.constant("drop" as const) },
      { weight: 6, arbitrary: fc.constant("rewrite" as const) },
      { weight: 1, arbitrary: fc.constantFrom("twice" as const, "spoil" as const) }
    ),
    { minLength: 1, maxLength: 12 }
  ),
  keepNewest: fc.boolean(),
  added: fc.array(
    fc.record({
      role: mostly<Behaviour["added"][number]["role"]>("system", "user", "assistant", "call", "result"),
      weight: fc.oneof({ weight: 6, arbitrary: fc.nat(3) }, { weight: 1, arbitrary: fc.nat(40) })
    }),
    { maxLength: 2 }
  ),
  addedFirst: fc.boolean(),
  reversed: mostly(false, true),
  replace: fc.constantFrom(true, true, false),
  origin: fc.oneof(
    { weight: 12, arbitrary: fc.constantFrom("by reference" as const, "given" as const) },
    { weight: 1, arbitrary: fc.constantFrom("too short" as const, "out of range" as const) }
  ),
  covers: mostly<Behaviour["covers"]>("default", "nothing", "some", "everything", "out of range"),
  end: mostly<Behaviour["end"]>("succeeds", "fails", "dies", "interrupts itself")
})

interface Mark {
  readonly weight: number
  /** The message that this one rewrites; none for a new one. */
  readonly of: Message.Message | undefined
}

/** What strategies made, told from what was recorded by reference. */
const marks = new WeakMap<Message.Message, Mark>()

const weightOf = (message: Message.Message): number =>
  marks.get(message)?.weight ?? message.content.length % 7 + (message.role === "user" ? 1 : 0)

const overhead = 1

const weights: TokenCounter.Service = {
  ...TokenCounter.make({ id: "weights", count: () => Effect.succeed(1), overhead }),
  countMessage: (message) => Effect.sync(() => weightOf(message))
}

const marked = <M extends Message.Message>(message: M, mark: Mark): M => {
  marks.set(message, mark)
  return message
}

const rewritten = (message: Message.Message, of: Message.Message | undefined): Message.Message =>
  marked({ ...message, options: { ...message.options, test: { rewritten: true } } }, { weight: 1, of })

/** Loses its calls and results. */
const spoiled = (message: Message.Message, of: Message.Message | undefined): Message.Message =>
  marked(message.role === "system" ? { ...message, content: "" } : { ...message, content: [] }, { weight: 0, of })

let news = 0

const added = ({ role, weight }: Behaviour["added"][number]): Message.Message => {
  const id = `new-${news++}`
  const mark = { weight, of: undefined }
  switch (role) {
    case "system":
      return marked(Message.system(id), mark)
    case "user":
      return marked(Message.user(id), mark)
    case "assistant":
      return marked(Message.assistant(id), mark)
    case "call":
      return marked(Message.assistant([Message.toolCall({ id, name: "f", params: {} })]), mark)
    case "result":
      return marked(Message.tool([Message.toolResult({ id, name: "f", result: 1 })]), mark)
  }
}

const resultOf = (input: TrimStrategy.TrimInput, does: Behaviour): TrimStrategy.TrimResult => {
  const kept = input.messages.flatMap((message, i): ReadonlyArray<readonly [Message.Message, number]> => {
    if (does.keepNewest && i >= input.newest) return [[message, i]]
    // What has another reference and names no origin is new.
    const of = does.origin === "by reference" ? undefined : marks.get(message)?.of ?? message
    switch (does.actions[i % does.actions.length]) {
      case "keep":
        return [[message, i]]
      case "drop":
        return []
      case "rewrite":
        return [[rewritten(message, of), i]]
      case "twice":
        return [[message, i], [message, i]]
      case "spoil":
        return [[spoiled(message, of), i]]
    }
  })
  const made = does.added.map((one): readonly [Message.Message, number] => [added(one), -1])
  const all = does.addedFirst ? [...made, ...kept] : [...kept, ...made]
  const ordered = does.reversed ? all.slice().reverse() : all
  const origin = ordered.map(([, i]) => i)
  const everything = input.messages.map((_, i) => i)
  return {
    messages: ordered.map(([message]) => message),
    replace: does.replace,
    origin: does.origin === "by reference" ? undefined : does.origin === "given"
      ? origin
      : does.origin === "too short"
      ? origin.slice(1)
      : origin.map(() => everything.length),
    covers: does.covers === "default" ? undefined : does.covers === "nothing"
      ? []
      : does.covers === "everything"
      ? everything
      : does.covers === "some"
      ? everything.filter((i) => i % 2 === 0)
      : [everything.length]
  }
}

const run = (
  input: TrimStrategy.TrimInput,
  does: Behaviour
): Effect.Effect<TrimStrategy.TrimResult, MemoryError.TrimError> => {
  switch (does.end) {
    case "succeeds":
      return Effect.sync(() => resultOf(input, does))
    case "fails":
      return Effect.fail(new MemoryError.TrimError({ reason: "told to" }))
    case "dies":
      return Effect.die("told to")
    case "interrupts itself":
      return Effect.interrupt
  }
}

/** The view as the store has it: what stands for others where the oldest of them stood. */
const viewOf = (snapshot: MemoryStore.Snapshot): ReadonlyArray<naive.Recorded> => {
  const { compaction, entries } = snapshot
  if (compaction === undefined) return entries
  const standIns = compaction.messages.map((message) => ({ message, protected: false, standIn: true }))
  const before = entries.filter(({ sequence }) => sequence < compaction.from)
  return [...before, ...standIns, ...entries.slice(before.length)]
}

const originalOf = (message: Message.Message): Message.Message => marks.get(message)?.of ?? message

const keyOf = (message: Message.Message): string => canonical(originalOf(message))

const tokensOf = (messages: ReadonlyArray<Message.Message>): number =>
  messages.reduce((sum, message) => sum + weightOf(message), overhead)

/** The messages of the newest round that no strategy may leave out. */
const mustStayOf = (newest: naive.Round): ReadonlyArray<Message.Message> => {
  const messages = newest.placed.filter(({ standIn }) => !standIn).map(({ message }) => message)
  const last = messages.findLastIndex((message) => message.role === "assistant")
  const isOpen = (message: Message.Message) =>
    Message.toolCalls(message).some((call) =>
      !messages.some((other) => Message.toolResults(other).some((result) => result.id === call.id))
    )
  return messages.filter((message, i) =>
    message.role === "user" || i === last || isOpen(message) || (last >= 0 && i > last && message.role === "tool")
  )
}

const check = (
  context: ReadonlyArray<Message.Message>,
  snapshot: MemoryStore.Snapshot,
  { maxRounds, maxTokens }: { readonly maxTokens: number; readonly maxRounds: number | undefined },
  system: "keep" | "trim"
) => {
  const rounds = naive.roundsOf(viewOf(snapshot))
  const view = rounds.flatMap(({ placed }) => placed).map(({ message }) => message)
  const limits = { tokens: maxTokens, rounds: maxRounds ?? Infinity }
  if (naive.isWithin(rounds, limits, weightOf, overhead)) assertMessages(context, view, "identity")
  // 2. Order of recording; what is new in a projection belongs to no place.
  const standIns = new Set(snapshot.compaction?.messages)
  const isNew = (message: Message.Message) => {
    const mark = marks.get(message)
    return mark !== undefined && mark.of === undefined && !standIns.has(message)
  }
  const kept = context.filter((message) => !isNew(message)).map(originalOf)
  assert.isTrue(isWithinOrder(kept, view.map(originalOf)), "order of recording")
  // 3. Whole groups, and nothing else that cannot be sent.
  assert.isUndefined(naive.unsendable(context))
  // 4. What must stay of the newest round.
  if (rounds.length > 0) {
    assert.isTrue(isWithinOrder(mustStayOf(rounds[rounds.length - 1]), kept), "what must stay of the newest round")
  }
  // 5. Within the budget, or as small as the plain window makes it.
  const plain = naive.windowOf(rounds, limits, weightOf, overhead, system).map(({ message }) => message)
  assert.isAtMost(tokensOf(context), Math.max(maxTokens, tokensOf(plain)), "tokens")
  const inContext = new Set(kept.map(keyOf))
  const countedOf = (some: ReadonlyArray<naive.Round>) =>
    naive.countedRounds(
      some.filter(({ placed }) => placed.some(({ message, standIn }) => !standIn && inContext.has(keyOf(message))))
    )
  if (countedOf(rounds) > Math.max(1, maxRounds ?? Infinity)) {
    assert.strictEqual(
      countedOf(rounds),
      countedOf(rounds.filter((round, i) => round.protected || i === rounds.length - 1))
    )
  }
  // 6. Protected rounds are there as they are.
  for (const round of rounds.filter((one) => one.protected)) {
    const messages = round.placed.filter(({ standIn }) => !standIn).map(({ message }) => message)
    assert.isTrue(isWithinOrder(messages, context), "what is protected")
  }
}

const isCoveredBy = (compaction: MemoryStore.Compaction | undefined, sequence: number): boolean =>
  compaction !== undefined && sequence >= compaction.from && sequence < compaction.upTo &&
  !compaction.keep.includes(sequence)

/** Conversations whose messages all differ. */
const logs = entries.map((all) =>
  all.map(({ message, protected: isProtected }, n) => ({
    message: { ...message, options: { ...message.options, test: { n } } },
    protected: isProtected
  }))
)

describe("laws of any strategy", () => {
  it.effect.prop("2–7, 9, 14: whatever a strategy returns", {
    log: logs,
    sizes: fc.array(fc.integer({ min: 1, max: 6 }), { minLength: 1, maxLength: 4 }),
    behaviours: fc.array(behaviour, { minLength: 1, maxLength: 5 }),
    maxTokens: fc.nat(40),
    maxRounds: fc.option(fc.integer({ min: 0, max: 4 }), { nil: undefined }),
    system: mostly<"keep" | "trim">("keep", "trim")
  }, ({ behaviours, log, maxRounds, maxTokens, sizes, system }) =>
    Effect.gen(function*() {
      let calls = 0
      const store = yield* MemoryStore.makeMemory
      const strategy: TrimStrategy.Service = {
        ...TrimStrategy.make((input) => run(input, behaviours[calls++ % behaviours.length])),
        system
      }
      // What failed is due again at once.
      const backoff = Schedule.forever
      const memory = yield* makeMemory({ maxTokens, maxRounds, counter: weights, store, strategy, backoff })
      let before: MemoryStore.Compaction | undefined
      let at = 0
      freeze(log)
      for (let turn = 0; at < log.length; turn++) {
        for (const entry of log.slice(at, at + sizes[turn % sizes.length])) {
          yield* entry.protected ? memory.recordProtected(entry.message) : memory.record(entry.message)
        }
        at += sizes[turn % sizes.length]
        for (let look = 0; look < 2; look++) {
          const context = yield* memory.context
          const snapshot = yield* store.load("default")
          check(context, snapshot, { maxRounds, maxTokens }, system)
          const { compaction } = snapshot
          const recorded = log.slice(0, at)
          assert.isFalse(
            recorded.some((entry, i) => entry.protected && isCoveredBy(compaction, i)),
            "protected, covered"
          )
          assert.isTrue(
            recorded.every((_, i) => isCoveredBy(compaction, i) || !isCoveredBy(before, i)),
            "stays covered"
          )
          before = compaction
        }
      }
      const history = Array.from(yield* Stream.runCollect(memory.history), (entry) => entry.message)
      assertMessages(history, log.map(({ message }) => message))
      // 8. What is not covered comes back with the budget.
      yield* memory.setMaxTokens(undefined)
      yield* memory.setMaxRounds(undefined)
      const snapshot = yield* store.load("default")
      assertMessages(yield* memory.context, naive.viewOf(viewOf(snapshot)).map(({ message }) => message))
      yield* memory.restore
      assertMessages(yield* memory.context, naive.viewOf(log).map(({ message }) => message))
    }).pipe(Effect.scoped), runs(200))
})
