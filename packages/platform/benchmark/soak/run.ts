/**
 * Conversations by the dozen over one counter, one summarizer and one store, with fibers that read meanwhile and are
 * interrupted, held against the laws.
 */
import { HttpClient, type KeyValueStore } from "@effect/platform"
import { KeyValueStore as KeyValues } from "@effect/platform/KeyValueStore"
import {
  AnthropicTokenCounter,
  KeyValueMemoryStore,
  OpenAiSummarizer,
  type RemotePolicy
} from "@effect-memory/platform"
import type { Duration, Scope } from "effect"
import { Chunk, Clock, Effect, Exit, Fiber, Metric, Redacted, Schedule, Stream } from "effect"
import { Memory, MemoryStore, type Message, Summarizer, TokenCounter, TrimStrategy } from "effect-memory"
import { metricsOf } from "../../test/utilities.js"
import { canonical, nameOf, parts, type Turn, turnsOf } from "./conversations.js"
import * as laws from "./laws.js"
import { keys, random, type Script } from "./services.js"
import { refusalOf } from "./strict.js"
import * as watches from "./watch.js"

/** A service, as it is reached and as it saw it. */
interface Site {
  readonly client: HttpClient.HttpClient
  readonly url: string
  readonly script: Script
  readonly seen: Effect.Effect<ReadonlyArray<{ readonly at: number }>>
  readonly policy: RemotePolicy.Options & { readonly requestsPerMinute: number }
}

export interface Options {
  readonly conversations: number
  /** Turns of each conversation. */
  readonly turns: number
  /** Fibers of each conversation that read beside the agent. */
  readonly readers: number
  readonly seed: number
  readonly maxTokens: number
  /** The longest pause between two steps, in milliseconds. */
  readonly pause: number
  readonly backoff: Duration.DurationInput
  /** How late a request may be sent after its turn, in milliseconds; on its way it may take ten times as long. */
  readonly slack: number
  readonly counting: Site
  readonly summarizing: Site
  readonly values: KeyValueStore.KeyValueStore
}

export interface Report {
  readonly figures: { readonly [name: string]: number }
  readonly faults: { readonly [name: string]: number }
  /** What does not hold; each once, with how often. */
  readonly violations: ReadonlyArray<string>
}

/** Counts what has a name. */
class Tally {
  private readonly counts = new Map<string, number>()
  add(name: string, n = 1): void {
    this.counts.set(name, (this.counts.get(name) ?? 0) + n)
  }
  get(name: string): number {
    return this.counts.get(name) ?? 0
  }
  get all(): { readonly [name: string]: number } {
    return Object.fromEntries(this.counts)
  }
}

/** What the conversations of one run share. */
interface Shared extends Options {
  readonly counter: TokenCounter.Service
  readonly strategy: TrimStrategy.Service
  readonly store: MemoryStore.Service
  readonly watch: watches.Watch
  readonly tally: Tally
  readonly broken: Tally
}

const counts = new WeakMap<Message.Message, number>()

const countOf = (message: Message.Message): number => {
  const known = counts.get(message)
  if (known !== undefined) return known
  const tokens = Effect.runSync(TokenCounter.characters.countMessage(message))
  counts.set(message, tokens)
  return tokens
}

/** What is known of a conversation from outside. */
interface Known {
  readonly id: string
  readonly rules: "pairing" | "anthropic"
  /** All that was recorded, and at its end what is being recorded. */
  readonly log: Array<laws.Recorded>
  /** How much of the log is recorded for sure. */
  done: number
  readonly counted: Array<laws.Counted>
}

const makeMemory = (shared: Shared, known: Known, store: MemoryStore.Service) => {
  const { counter, strategy } = shared
  const noting: TokenCounter.Service = {
    ...counter,
    countConversation: (messages) => {
      const note = (exact: number | undefined) =>
        Effect.sync(() => {
          shared.tally.add(exact === undefined ? "counts that failed" : "counts")
          const tokens = messages.reduce((sum, message) => sum + countOf(message), counter.overhead)
          known.counted.push({ messages: new Set(messages), tokens, exact })
        })
      return (counter.countConversation?.(messages) ?? Effect.succeed(0)).pipe(
        Effect.tap(note),
        Effect.tapError(() => note(undefined))
      )
    }
  }
  return Memory.make({
    id: known.id,
    maxTokens: shared.maxTokens,
    rules: known.rules,
    backoff: Schedule.spaced(shared.backoff)
  }).pipe(
    Effect.provideService(TokenCounter.TokenCounter, noting),
    Effect.provideService(TrimStrategy.TrimStrategy, strategy),
    Effect.provideService(MemoryStore.MemoryStore, store)
  )
}

const check = (
  { broken, maxTokens, tally }: Shared,
  { counted, id, log, rules }: Known,
  context: ReadonlyArray<Message.Message>,
  between: readonly [number, number]
): void => {
  tally.add("contexts")
  for (const message of context) if (message.options["effect-memory"]?.["summary"]) tally.add("contexts with a summary")
  const found = laws.faults({
    context,
    log,
    between,
    maxTokens,
    margin: 1,
    overhead: TokenCounter.characters.overhead,
    count: countOf,
    counted
  })
  for (const law of found) broken.add(`law ${law}`)
  const refused = rules === "anthropic" ? refusalOf(context) : undefined
  if (refused !== undefined) broken.add(`refused: ${refused}`)
  const others = context.flatMap(parts).filter((part) => (part.match(/c\d+m/g) ?? []).some((tag) => tag !== `${id}m`))
  if (others.length > 0) broken.add("something of another conversation")
}

/** Runs in a fiber of its own, and sometimes gives up. */
const perhaps = Effect.fnUntraced(function*<A, E>(
  { pause, tally }: Shared,
  next: () => number,
  share: number,
  effect: Effect.Effect<A, E>
) {
  const fiber = yield* Effect.fork(effect)
  if (next() < share) {
    yield* Effect.sleep(next() * Math.min(20, pause))
    yield* Fiber.interrupt(fiber)
    tally.add("fibers interrupted")
  }
  return yield* Fiber.await(fiber)
})

const failed = ({ broken, watch }: Shared, what: string, exit: Exit.Exit<unknown, unknown>): void => {
  if (Exit.isSuccess(exit) || Exit.isInterrupted(exit)) return
  broken.add(`${what} failed`)
  watch.told(exit.cause)
}

const contextOf = (shared: Shared, known: Known, memory: Memory.Service) =>
  Effect.suspend(() => {
    const least = known.done
    return Effect.tap(memory.context, (context) =>
      Effect.sync(() => check(shared, known, context, [least, known.log.length])))
  })

const historyOf = ({ broken }: Shared, known: Known, history: Memory.Service["history"]) =>
  Effect.suspend(() => {
    const least = known.done
    return Effect.map(Stream.runCollect(history), (entries) => {
      const all = Chunk.toReadonlyArray(entries)
      const isWhole = all.length >= least && all.length <= known.log.length
      const isSame = all.every((entry, i) =>
        entry.sequence === i && entry.protected === known.log[i].protected &&
        canonical(entry.message) === canonical(known.log[i].message)
      )
      if (!isWhole) broken.add("9: something is lost, or there twice")
      if (!isSame) broken.add("14: the history is not what was recorded")
      if (new Set(all.map(({ id }) => id)).size !== all.length) broken.add("an id is there twice")
      return all.length
    })
  })

/** Records a step; where the fiber that did was interrupted, it happened wholly or not at all. */
const record = Effect.fnUntraced(function*(
  shared: Shared,
  known: Known,
  memory: Memory.Service,
  next: () => number,
  { messages, protected: isProtected }: Turn[number]
) {
  const [first] = messages
  const before = known.done
  for (const message of messages) {
    const previous = known.log[known.log.length - 1]?.round ?? 0
    known.log.push({ message, protected: isProtected, round: message.role === "user" ? previous + 1 : previous })
  }
  const recording = messages.length > 1
    ? memory.recordAll(messages)
    : isProtected
    ? memory.recordProtected(first)
    : memory.record(first)
  for (let isDone = false; !isDone;) {
    const exit = yield* perhaps(shared, next, 0.15, recording)
    failed(shared, "record", exit)
    if (Exit.isSuccess(exit)) break
    const { nextSequence } = yield* Effect.orDie(shared.store.load(known.id))
    if (nextSequence !== before && nextSequence !== known.log.length) shared.broken.add("9: recorded in part")
    isDone = nextSequence !== before
  }
  known.done = known.log.length
})

const agent = Effect.fnUntraced(function*(
  shared: Shared,
  known: Known,
  memory: Memory.Service,
  turns: ReadonlyArray<Turn>,
  next: () => number
) {
  for (const turn of turns) {
    for (const step of turn) {
      yield* record(shared, known, memory, next, step)
      if (step.asks) failed(shared, "context", yield* Effect.exit(contextOf(shared, known, memory)))
      yield* Effect.sleep(next() * shared.pause)
    }
    shared.tally.add("turns")
  }
})

const reader = Effect.fnUntraced(function*(
  shared: Shared,
  known: Known,
  memory: Memory.Service,
  next: () => number
) {
  while (true) {
    yield* Effect.sleep(next() * shared.pause * 4)
    const chosen = next()
    const [what, reading]: readonly [string, Effect.Effect<unknown, unknown>] = chosen < 0.6
      ? ["context", contextOf(shared, known, memory)]
      : chosen < 0.75
      ? ["usage", memory.usage]
      : chosen < 0.9
      ? ["plan", memory.plan]
      : ["history", historyOf(shared, known, memory.history)]
    failed(shared, what, yield* perhaps(shared, next, 0.4, reading))
  }
})

const conversation = Effect.fnUntraced(function*(shared: Shared, n: number) {
  const known: Known = {
    id: nameOf(n),
    rules: n % 4 === 3 ? "pairing" : "anthropic",
    log: [],
    done: 0,
    counted: []
  }
  const turns = turnsOf(n, shared.turns, shared.seed)
  yield* Effect.scoped(Effect.gen(function*() {
    const memory = yield* makeMemory(shared, known, shared.store)
    yield* Effect.forkScoped(Stream.runForEach(memory.events, (event) =>
      Effect.sync(() => {
        shared.tally.add(event._tag)
        if ("error" in event) shared.watch.told(event.error)
      })))
    const readers = Array.from(
      { length: shared.readers },
      (_, i) => reader(shared, known, memory, random(shared.seed + n * 100 + i + 1))
    )
    const working = agent(shared, known, memory, turns, random(shared.seed + n * 100))
    yield* Effect.raceFirst(working, Effect.all(readers, { concurrency: "unbounded", discard: true }))
    yield* historyOf(shared, known, memory.history)
  }))
  return { known, expected: turns.flat().flatMap(({ messages }) => messages) } as const
})

/** The store and a memory, opened anew. */
const reopened = Effect.fnUntraced(function*(
  shared: Shared,
  { expected, known }: Effect.Effect.Success<ReturnType<typeof conversation>>
) {
  const store = yield* Effect.provideService(KeyValueMemoryStore.make, KeyValues, shared.values)
  if (expected.length !== known.log.length || expected.some((message, i) => message !== known.log[i].message)) {
    shared.broken.add("not all was recorded")
  }
  const stored = yield* historyOf(shared, known, store.history(known.id))
  shared.tally.add("messages", stored)
  const memory = yield* makeMemory(shared, known, store)
  failed(shared, "context after reopening", yield* Effect.exit(contextOf(shared, known, memory)))
}, Effect.scoped)

/** The most of these times that lie in one minute. */
const mostInMinute = (times: ReadonlyArray<number>, slack: number): number => {
  const sorted = times.toSorted((a, b) => a - b)
  let most = 0
  for (let i = 0, begin = 0; i < sorted.length; i++) {
    while (sorted[i] - sorted[begin] >= 60_000 - slack) begin++
    most = Math.max(most, i - begin + 1)
  }
  return most
}

/** What a busy process sees of its own requests is late by up to a second: the limit is held against what was sent. */
const noteRequests = Effect.fnUntraced(
  function*(shared: Shared, name: string, { seen, sent, ...site }: Sending, faults: Tally) {
    const times = (yield* seen).map(({ at }) => at)
    const { requestsPerMinute: limit } = site.policy
    const most = mostInMinute(sent, shared.slack)
    if (most > limit) shared.broken.add(`${most} requests to ${name} in a minute, and not ${limit}`)
    if (mostInMinute(times, shared.slack * 10) > limit) {
      shared.broken.add(`the service saw more than ${limit} requests to ${name} in a minute`)
    }
    shared.tally.add(`requests to ${name}`, times.length)
    shared.tally.add(`most requests to ${name} in a minute, of ${limit}`, most)
    for (const fault of site.script.names.slice(0, times.length)) faults.add(fault)
  }
)

interface Sending extends Site {
  /** When requests were sent. */
  readonly sent: Array<number>
}

const sending = (site: Site): Sending => {
  const sent: Array<number> = []
  const note = () => Effect.map(Clock.currentTimeMillis, (now) => sent.push(now))
  return { ...site, sent, client: HttpClient.tapRequest(site.client, note) }
}

const make = Effect.fnUntraced(function*(options: Options) {
  const { counting, summarizing, values } = options
  const counter = yield* AnthropicTokenCounter.make({
    apiKey: Redacted.make(keys[0]),
    model: "claude-sonnet-4-5",
    baseUrl: counting.url,
    policy: counting.policy
  }).pipe(Effect.provideService(HttpClient.HttpClient, counting.client))
  const summarizer = yield* OpenAiSummarizer.make({
    apiKey: Redacted.make(keys[1]),
    model: "gpt-4.1-mini",
    baseUrl: summarizing.url,
    policy: summarizing.policy
  }).pipe(Effect.provideService(HttpClient.HttpClient, summarizing.client))
  const strategy = yield* TrimStrategy.summarize({ maxSummaryTokens: 150 }).pipe(
    Effect.provideService(Summarizer.Summarizer, summarizer)
  )
  const store = yield* Effect.provideService(KeyValueMemoryStore.make, KeyValues, values)
  const shared: Shared = {
    ...options,
    counter,
    strategy,
    store,
    watch: watches.make(),
    tally: new Tally(),
    broken: new Tally()
  }
  return shared
})

/** Runs all of it. Nothing that it tells holds what was recorded. */
export const run: (options: Options) => Effect.Effect<Report, unknown, Scope.Scope> = Effect.fnUntraced(
  function*(options) {
    const [counting, summarizing] = [sending(options.counting), sending(options.summarizing)]
    const shared = yield* make({ ...options, counting, summarizing })
    const { broken, tally, watch } = shared
    const soaking = Effect.gen(function*() {
      const ended = yield* Effect.forEach(
        Array.from({ length: options.conversations }, (_, n) => n),
        (n) => conversation(shared, n),
        { concurrency: "unbounded" }
      )
      yield* Effect.forEach(ended, (each) => reopened(shared, each), { concurrency: 8, discard: true })
    })
    yield* Effect.provide(soaking, watch.layer)
    const faults = new Tally()
    yield* noteRequests(shared, "count", counting, faults)
    yield* noteRequests(shared, "summarize", summarizing, faults)
    watch.told(yield* Metric.snapshot)
    const { leaks, things } = watch.heard()
    for (const leak of leaks) broken.add(`told: ${leak}`)
    tally.add("spans, logs and errors heard", things)
    for (const service of ["anthropic", "openai"]) {
      const metrics = yield* metricsOf(service)
      tally.add(`circuits of ${service} that opened`, metrics.effect_memory_remote_circuits_opened ?? 0)
    }
    return {
      figures: tally.all,
      faults: faults.all,
      violations: Object.entries(broken.all).map(([what, n]) => `${what} (${n} times)`)
    }
  }
)
