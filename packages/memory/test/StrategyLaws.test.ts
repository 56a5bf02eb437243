import { assert, describe, it } from "@effect/vitest"
import { Clock, Deferred, Effect, FastCheck as fc, Fiber, Stream, TestClock } from "effect"
import {
  MemoryError,
  type MemoryEvent,
  MemoryStore,
  type Message,
  Summarizer,
  TokenCounter,
  TrimStrategy
} from "effect-memory"
import { conversation, type Entry, freeze, hostile } from "./generators.js"
import { type Abilities, checkContext, checkOriginals, isOver, modelOf, tagMessage, tagsOf } from "./strategyLaws.js"
import { assertMessages, makeMemory, runs } from "./utilities.js"

const overhead = 3
const counter = TokenCounter.make({
  id: "test",
  count: (text) => Effect.succeed(Math.ceil(text.length / 4)),
  messageOverhead: 2,
  overhead,
  countFile: () => 20
})

const counts = new WeakMap<Message.Message, number>()

const count = (message: Message.Message): number => {
  const tokens = counts.get(message) ?? Effect.runSync(counter.countMessage(message))
  counts.set(message, tokens)
  return tokens
}

// =============================================================================
// Strategies
// =============================================================================

interface Case extends Abilities {
  /** Drops rounds by itself: what it hands out may fit while the view is over. */
  readonly drops?: boolean
  readonly make: Effect.Effect<TrimStrategy.Service, never, Summarizer.Summarizer>
}

const plain: Abilities = { system: "keep", clears: false, shortens: false, materializes: false, insideNewest: false }

const value = (make: TrimStrategy.Service, abilities: Partial<Abilities> = {}): Case => ({
  ...plain,
  ...abilities,
  make: Effect.succeed(make)
})

const clear = TrimStrategy.clearToolResults({ keep: 1 })
const shorten = TrimStrategy.shortenParts({ maxTokens: 12 })

const summarizing = (options: TrimStrategy.SummarizeOptions, abilities: Partial<Abilities> = {}): Case => ({
  ...plain,
  materializes: true,
  ...abilities,
  make: TrimStrategy.summarize(options)
})

const withSummaries = (
  stages: (summarize: TrimStrategy.Service) => ReadonlyArray<TrimStrategy.Service>,
  abilities: Partial<Omit<Case, "make">>
): Case => ({
  ...plain,
  materializes: true,
  ...abilities,
  make: Effect.map(
    TrimStrategy.summarize({ maxSummaryTokens: 20 }),
    (summarize) => TrimStrategy.cascade(...stages(summarize))
  )
})

const cases: Record<string, Case> = {
  "windowDrop": value(TrimStrategy.windowDrop()),
  "windowDrop with a target": value(TrimStrategy.windowDrop({ target: 0.6 })),
  "windowDrop of system prompts too": value(TrimStrategy.windowDrop({ system: "trim" }), { system: "trim" }),
  "truncate": value(TrimStrategy.truncate(), { system: "free", insideNewest: true }),
  "truncate with a target": value(TrimStrategy.truncate({ target: 0.6 }), { system: "free", insideNewest: true }),
  "clearToolResults": value(clear, { clears: true }),
  "clearToolResults with a target": value(TrimStrategy.clearToolResults({ keep: 2, target: 50, minimum: 10 }), {
    clears: true
  }),
  "shortenParts": value(shorten, { shortens: true }),
  "summarize": summarizing({ maxSummaryTokens: 20 }),
  "summarize with a target, as user messages": summarizing({ target: 0.7, role: "user" }),
  "summarize system prompts too": summarizing({ maxSummaryTokens: 10, system: "trim" }, { system: "trim" }),
  "clear, shorten, drop": value(TrimStrategy.cascade(clear, shorten, TrimStrategy.windowDrop()), {
    clears: true,
    shortens: true
  }),
  "shorten, truncate": value(TrimStrategy.cascade(shorten, TrimStrategy.truncate()), {
    system: "free",
    shortens: true,
    insideNewest: true
  }),
  "drop, truncate": value(TrimStrategy.cascade(TrimStrategy.windowDrop(), TrimStrategy.truncate()), {
    insideNewest: true
  }),
  "clear, summarize": withSummaries((summarize) => [clear, summarize], { clears: true }),
  "summarize, shorten, drop": withSummaries((summarize) => [summarize, shorten, TrimStrategy.windowDrop()], {
    shortens: true,
    drops: true
  }),
  "drop, then nested: summarize, clear": withSummaries(
    (summarize) => [TrimStrategy.windowDrop(), TrimStrategy.cascade(summarize, clear)],
    { clears: true, drops: true }
  )
}

// =============================================================================
// Summarizer
// =============================================================================

type Kind = "short" | "long" | "ideographs" | "empty" | "fail" | "die" | "hang"

interface Asked {
  readonly request: Summarizer.Request
  readonly at: number
}

/** A summarizer by script; `hung` tells when it hangs. */
const makeSummarizer = (script: ReadonlyArray<Kind>) =>
  Effect.map(Deferred.make<void>(), (first) => {
    const asked: Array<Asked> = []
    const state = { hung: first }
    const reply = (kind: Kind, n: number): Effect.Effect<Summarizer.Completion, MemoryError.SummarizeError> => {
      switch (kind) {
        case "short":
          return Effect.succeed({ text: `summary ${n}` })
        case "long":
          return Effect.succeed({ text: `summary ${n} `.repeat(60) })
        case "ideographs":
          return Effect.succeed({ text: "总结😀".repeat(60) })
        case "empty":
          return Effect.succeed({ text: " \n" })
        case "fail":
          return new MemoryError.SummarizeError({ reason: "provider", detail: "no answer" })
        case "die":
          return Effect.die("bug")
        case "hang":
          return Effect.zipRight(Deferred.succeed(state.hung, undefined), Effect.never)
      }
    }
    const service: Summarizer.Service = {
      summarize: (request) =>
        Effect.gen(function*() {
          asked.push({ request, at: yield* Clock.currentTimeMillis })
          const n = asked.length
          return yield* Summarizer.make(() => reply(script[(n - 1) % script.length], n)).summarize(request)
        })
    }
    return { service, asked, state }
  })

// =============================================================================
// Runs
// =============================================================================

interface Step {
  /** Messages that are recorded before the context. */
  readonly messages: number
  readonly maxTokens: number | undefined | "as before"
  readonly maxRounds: number | undefined | "as before"
  /** Seconds that pass. */
  readonly seconds: number
}

const step: fc.Arbitrary<Step> = fc.record({
  messages: fc.nat({ max: 8 }),
  maxTokens: fc.oneof(
    { weight: 4, arbitrary: fc.constant("as before" as const) },
    { weight: 2, arbitrary: fc.integer({ min: 0, max: 300 }) }
  ),
  maxRounds: fc.oneof(
    { weight: 6, arbitrary: fc.constant("as before" as const) },
    { weight: 1, arbitrary: fc.option(fc.nat({ max: 4 }), { nil: undefined }) }
  ),
  seconds: fc.constantFrom(0, 0, 1, 5)
})

const script = fc.array(
  fc.constantFrom<Kind>("short", "short", "long", "ideographs", "empty", "fail", "die", "hang"),
  { minLength: 1, maxLength: 6 }
)

/** One or more conversations in a row, so that ids meet again; few of their messages are protected. */
const entries: fc.Arbitrary<ReadonlyArray<Entry>> = fc.tuple(
  fc.array(fc.oneof({ weight: 4, arbitrary: conversation }, { weight: 1, arbitrary: hostile }), {
    minLength: 1,
    maxLength: 3,
    size: "max"
  }),
  fc.array(fc.integer({ min: 0, max: 24 }), { minLength: 1, maxLength: 2 })
).map(([conversations, flags]) =>
  conversations.flat().map((message, i) => ({ message, protected: flags.includes(i % 25) && i % 25 < 20 }))
)

const scenario = {
  entries,
  steps: fc.array(step, { minLength: 4, maxLength: 12, size: "max" }),
  maxTokens: fc.integer({ min: 20, max: 400 }),
  script
}

const run = Effect.fnUntraced(function*(
  { drops = false, make, ...abilities }: Case,
  given: {
    readonly entries: ReadonlyArray<Entry>
    readonly steps: ReadonlyArray<Step>
    readonly maxTokens: number
    readonly script: ReadonlyArray<Kind>
  }
) {
  const log = given.entries.map(({ message, protected: isProtected }, i) =>
    freeze({ message: tagMessage(message, i), protected: isProtected })
  )
  const { asked, service, state } = yield* makeSummarizer(given.script)
  const strategy = yield* Effect.provideService(make, Summarizer.Summarizer, service)
  const store = yield* MemoryStore.makeMemory
  let limits: { maxTokens: number | undefined; maxRounds: number | undefined } = {
    maxTokens: given.maxTokens,
    maxRounds: undefined
  }
  const memory = yield* makeMemory({ ...limits, strategy, counter, store, trimTimeout: "10 seconds" })
  const events: Array<MemoryEvent.MemoryEvent> = []
  yield* Effect.forkScoped(Stream.runForEach(memory.events, (event) => Effect.sync(() => events.push(event))))
  yield* Effect.yieldNow()

  /** A context, with the time that a summarizer that hangs takes. */
  const context = Effect.gen(function*() {
    state.hung = yield* Deferred.make<void>()
    const fiber = yield* Effect.fork(memory.context)
    const done = yield* Effect.raceFirst(
      Effect.as(Fiber.await(fiber), true),
      Effect.as(Deferred.await(state.hung), false)
    )
    if (!done) yield* TestClock.adjust("10 seconds")
    return yield* Fiber.join(fiber)
  })

  let recorded = 0
  let stuck: { readonly newest: number; readonly limits: object } | undefined
  let covered = new Set<number>()
  const summarized = new Set<string>()
  for (const step of given.steps) {
    for (const entry of log.slice(recorded, recorded + step.messages)) {
      yield* entry.protected ? memory.recordProtected(entry.message) : memory.record(entry.message)
    }
    recorded = Math.min(log.length, recorded + step.messages)
    if (step.maxTokens !== "as before") {
      limits = { ...limits, maxTokens: step.maxTokens }
      yield* memory.setMaxTokens(step.maxTokens)
    }
    if (step.maxRounds !== "as before") {
      limits = { ...limits, maxRounds: step.maxRounds }
      yield* memory.setMaxRounds(step.maxRounds)
    }
    yield* TestClock.adjust(`${step.seconds} seconds`)

    const before = modelOf(yield* store.load("default"))
    const askedBefore = asked.length
    const failed = events.filter((event) => event._tag === "TrimFailed").at(-1)
    const handedOut = yield* context
    const result = handedOut.slice()
    const snapshot = yield* store.load("default")
    const model = modelOf(snapshot)
    checkContext(result, model, log, limits, { count, overhead }, abilities)
    // What is handed out is the caller's own.
    handedOut.reverse().pop()
    assertMessages(yield* context, result)

    // No model is asked twice, while a failure is to be waited for, or where it has just not helped.
    const requests = asked.slice(askedBefore)
    assert.isAtMost(requests.length, 1)
    for (const { at, request } of requests) {
      assert.isTrue(abilities.materializes)
      assert.isNotEmpty(request.messages)
      checkOriginals(request.messages, log)
      assert.isAtLeast(request.maxTokens, 1)
      if (failed !== undefined) assert.isAtLeast(at, failed.retryAt)
      const newest = Math.min(...model.newest)
      assert.isFalse(stuck?.newest === newest && stuck.limits === limits, "it was compacted again without progress")
      assert.isTrue(isOver(before.messages, before, limits, { count, overhead }, abilities))
      assert.strictEqual(request.previous === undefined, before.standIns.length === 0)
    }

    // What is covered was given to the summarizer, as it was recorded, and takes less than it did.
    const nowCovered = new Set(log.slice(0, recorded).keys())
    for (const { sequence } of snapshot.entries) nowCovered.delete(sequence)
    for (const sequence of covered) assert.isTrue(nowCovered.has(sequence))
    const tokens = (messages: ReadonlyArray<Message.Message>) => messages.reduce((sum, m) => sum + count(m), 0)
    if (nowCovered.size > covered.size) {
      assert.strictEqual(requests.length, 1)
      assert.isBelow(tokens(model.messages), tokens(before.messages))
      for (const message of requests[0].request.messages) {
        for (const tag of tagsOf(message)) {
          assert.isFalse(summarized.has(tag), `${tag} was summarized twice`)
          summarized.add(tag)
        }
      }
      const gone = before.messages.flatMap(tagsOf).filter((tag) => nowCovered.has(Number(tag.split(".")[0])))
      for (const tag of gone) assert.isTrue(summarized.has(tag), `${tag} is covered, but was not summarized`)
      for (const sequence of nowCovered) assert.isFalse(log[sequence].protected)
      stuck = !drops && isOver(model.messages, model, limits, { count, overhead }, abilities)
        ? { newest: Math.min(...model.newest), limits }
        : undefined
    }
    covered = nowCovered
    for (let i = 0; i < 10; i++) yield* Effect.yieldNow()
  }

  // Nothing is lost, and without limits everything is back that no summary stands for.
  assert.deepStrictEqual(
    Array.from(yield* Stream.runCollect(memory.history), ({ message }) => message),
    log.slice(0, recorded).map(({ message }) => message)
  )
  yield* memory.setMaxTokens(undefined)
  yield* memory.setMaxRounds(undefined)
  const model = modelOf(yield* store.load("default"))
  assertMessages(yield* context, model.messages)
  if (!abilities.materializes) assert.strictEqual(covered.size, 0)
}, Effect.scoped)

describe("the laws, for every strategy", () => {
  for (const [name, strategy] of Object.entries(cases)) {
    it.effect.prop(name, scenario, (given) => run(strategy, given), runs(strategy.materializes ? 20 : 8))
  }
})
