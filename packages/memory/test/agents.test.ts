import { assert, describe, it } from "@effect/vitest"
import { Cause, Effect, Exit, FastCheck as fc, Fiber, Layer, Option, Ref, TestClock } from "effect"
import { Memory, MemoryStore, Message, Summarizer, TokenCounter, Transcript } from "effect-memory"
import { type Agent, layerMemory } from "../examples/agents/Agent.js"
import * as Model from "../examples/agents/Model.js"
import { program } from "../examples/agents/program.js"
import type { Outcome, Report } from "../examples/agents/report.js"
import * as SummarizerPool from "../examples/agents/SummarizerPool.js"
import { supervise } from "../examples/agents/supervisor.js"
import { scripts, team, tools } from "../examples/agents/team.js"
import * as Tools from "../examples/agents/Tools.js"

/** How many of an effect run at the same time. */
const makeGauge = Effect.map(Ref.make({ now: 0, max: 0 }), (state) => ({
  now: Effect.map(Ref.get(state), ({ now }) => now),
  max: Effect.map(Ref.get(state), ({ max }) => max),
  measure: <A, E>(effect: Effect.Effect<A, E>): Effect.Effect<A, E> =>
    Effect.acquireUseRelease(
      Ref.update(state, ({ max, now }) => ({ now: now + 1, max: Math.max(max, now + 1) })),
      () => effect,
      () => Ref.update(state, ({ max, now }) => ({ now: now - 1, max }))
    )
}))

/** What the model and the tools have answered, by agent. */
const makeJournal = Effect.map(Ref.make<ReadonlyArray<readonly [string, Message.Message]>>([]), (state) => {
  const write = (agent: string) => (message: Message.Message) =>
    Ref.update(state, (all) => [...all, [agent, message] as const])
  return {
    of: (agent: string) =>
      Effect.map(Ref.get(state), (all) => all.flatMap(([by, message]) => by === agent ? [message] : [])),
    keep: Layer.merge(
      Layer.effect(
        Model.Model,
        Effect.map(Model.Model, ({ reply }) => ({
          reply: (agent, context) => Effect.tap(reply(agent, context), write(agent))
        }))
      ),
      Layer.effect(
        Tools.Tools,
        Effect.map(Tools.Tools, ({ run }) => ({ run: (call) => Effect.tap(run(call), write(call.id.split("-")[0])) }))
      )
    )
  }
})

interface World {
  readonly permits?: number
  readonly summaryLatency?: number
  readonly storeLatency?: number
  readonly tools?: Readonly<Record<string, Tools.Tool>>
}

/** A store that takes its time to append. */
const layerStore = (latency: number) =>
  Layer.effect(
    MemoryStore.MemoryStore,
    Effect.map(MemoryStore.makeMemory, (store) =>
      latency === 0 ? store : {
        ...store,
        append: (...args: Parameters<typeof store.append>) => Effect.delay(store.append(...args), latency)
      })
  )

/** Everything that the agents share, for tests. */
const makeWorld = Effect.fnUntraced(function*(world: World = {}) {
  const gauge = yield* makeGauge
  const journal = yield* makeJournal
  const reply = (n: number) => gauge.measure(Effect.delay(Effect.succeed(`summary ${n}`), world.summaryLatency ?? 200))
  const layer = Layer.mergeAll(
    SummarizerPool.layer(world.permits ?? 2),
    layerStore(world.storeLatency ?? 0),
    journal.keep
  ).pipe(
    Layer.provideMerge(Layer.mergeAll(
      Summarizer.layerTest(Array.from({ length: 100 }, (_, n) => reply(n))),
      TokenCounter.layerTest((text) => Math.ceil(text.length / 4)),
      Model.layerScripted({ scripts, latency: 50 }),
      Tools.layerSimulated({ ...tools, ...world.tools })
    ))
  )
  return { gauge, journal, layer }
})

/** Runs an effect until all of its sleeps are over. */
const awake = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.gen(function*() {
    const fiber = yield* Effect.fork(effect)
    yield* TestClock.adjust("1 minute")
    return yield* Fiber.join(fiber)
  })

const of = (reports: ReadonlyArray<Report>, agent: string): Report => reports.find((report) => report.agent === agent)!

const ended = (outcome: Outcome): string =>
  Option.match(outcome, {
    onNone: () => "out of time",
    onSome: Exit.match({
      onSuccess: () => "done",
      onFailure: (cause) => Cause.isInterruptedOnly(cause) ? "cancelled" : String(Cause.squash(cause))
    })
  })

/** A log in words: a reply with calls as `ask`, a result by turn and call, any other message by its role. */
const words = ({ log }: Report): string =>
  log.map(({ message }) => {
    const [result] = Message.toolResults(message)
    if (result !== undefined) return result.id.split("-").slice(1).join("-")
    return Message.toolCalls(message).length > 0 ? "ask" : message.role
  }).join(" ")

/** What must hold for every agent, whatever happened to it. */
const assertSound = Effect.fnUntraced(function*(
  report: Report,
  { name, role, tasks }: Agent,
  journal: Effect.Effect.Success<typeof makeJournal>
) {
  const { context, findings, log } = report
  const messages = log.map(({ message }) => message)
  assert.deepStrictEqual(log.map(({ sequence }) => sequence), log.map((_, i) => i))
  assert.strictEqual(new Set(log.map(({ id }) => id)).size, log.length)
  assert.deepStrictEqual(
    messages.filter((message) => message.role === "assistant" || message.role === "tool"),
    yield* journal.of(name)
  )
  const asked = messages.filter((message) => message.role === "user")
  assert.deepStrictEqual(asked, tasks.slice(0, asked.length).map((task) => Message.user(task)))
  assert.deepStrictEqual(messages.filter(({ role }) => role === "system"), log.length > 0 ? [Message.system(role)] : [])
  assert.deepStrictEqual(findings.filter(({ _tag }) => _tag !== "OpenCall"), [])
  assert.deepStrictEqual(context[0], messages[0])
  if (asked.length > 0) assert.deepInclude(context, asked[asked.length - 1])
})

// The test clock pauses in real time at every sleep of every agent.
describe("agents", { timeout: 60_000 }, () => {
  it.effect("one is cancelled, one fails, one runs out of time, and the others are done", () =>
    Effect.gen(function*() {
      const { layer } = yield* makeWorld()
      const reports = yield* Effect.provide(awake(program), layer)
      assert.deepStrictEqual(reports.map(({ agent, outcome }) => [agent, ended(outcome)]), [
        ["researcher", "done"],
        ["coder", "done"],
        ["reviewer", "cancelled"],
        ["planner", "ModelError: no reply to planner: overloaded"],
        ["monitor", "out of time"]
      ])
    }))

  it.effect("each log holds every message once, in the order of the answers", () =>
    Effect.gen(function*() {
      const { journal, layer } = yield* makeWorld()
      const reports = yield* Effect.provide(awake(program), layer)
      assert.deepStrictEqual(reports.map((report) => [report.agent, words(report)]), [
        [
          "researcher",
          "system user ask 0-1 0-0 0-2 assistant user ask 2-0 2-1 assistant user ask 4-1 4-0 assistant"
        ],
        [
          "coder",
          "system user ask 0-1 0-2 0-0 ask 1-0 assistant user ask 3-1 3-0 assistant user ask 5-1 5-2 5-0 assistant"
        ],
        ["reviewer", "system user ask 0-1 0-0 assistant user ask 2-0 2-2 2-1 assistant user ask 4-1"],
        ["planner", "system user ask 0-1 0-0 assistant user ask 2-1 2-2 2-0 assistant user ask 4-1 4-0"],
        ["monitor", "system user ask 0-0 0-1 assistant user ask 2-0 2-2 2-1 assistant user ask 4-1"]
      ])
      yield* Effect.forEach(team, (agent) => assertSound(of(reports, agent.name), agent, journal))
    }))

  it.effect("contexts are within their limits; only calls of those who were stopped are open", () =>
    Effect.gen(function*() {
      const { layer } = yield* makeWorld()
      const reports = yield* Effect.provide(awake(program), layer)
      for (const { maxTokens, tokens } of reports) assert.isAtMost(tokens!, maxTokens!)
      assert.deepStrictEqual(
        reports.map(({ agent, findings, summarized }) => [agent, findings.map(({ _tag }) => _tag), summarized > 0]),
        [
          ["researcher", [], false],
          ["coder", [], true],
          ["reviewer", ["OpenCall"], true],
          ["planner", [], true],
          ["monitor", ["OpenCall"], true]
        ]
      )
    }))

  it.effect("a cancelled agent can go on: its open call is closed, and its log stays", () =>
    Effect.gen(function*() {
      const { layer } = yield* makeWorld()
      const reviewer = team.find(({ name }) => name === "reviewer")!
      const goOn = Effect.gen(function*() {
        const memory = yield* Memory.Memory
        yield* memory.record(Message.user("Never mind."))
        return yield* memory.context
      }).pipe(Effect.provide(layerMemory(reviewer)))
      const context = yield* Effect.provide(awake(Effect.zipRight(program, goOn)), layer)
      assert.deepStrictEqual(Transcript.diagnose(context, "pairing"), [])
      const [approval] = context.flatMap(Message.toolResults).filter(({ name }) => name === "approve")
      assert.isTrue(approval.isFailure)
    }))

  it.effect.each([1, 2, 10])("of a pool of %d, no more are served at a time", (permits) =>
    Effect.gen(function*() {
      const { gauge, layer } = yield* makeWorld({ permits })
      const requests = yield* Effect.gen(function*() {
        yield* awake(program)
        const test = yield* Summarizer.TestRequests
        return yield* test.requests
      }).pipe(Effect.provide(layer))
      assert.isAtLeast(requests.length, 4)
      assert.strictEqual(yield* gauge.max, Math.min(permits, 3))
      assert.strictEqual(yield* gauge.now, 0)
    }))

  it.effect("each result is counted once, also after the conversation was opened again", () =>
    Effect.gen(function*() {
      const { layer } = yield* makeWorld()
      const { reports, texts } = yield* Effect.gen(function*() {
        const reports = yield* awake(program)
        const test = yield* TokenCounter.TestCalls
        return { reports, texts: yield* test.texts }
      }).pipe(Effect.provide(layer))
      // The planner's strategy also counts the parts that it cuts.
      const results = reports.flatMap(({ agent, log }) =>
        agent === "planner" ? [] : log.flatMap(({ message }) => Message.toolResults(message))
      )
      assert.isAbove(results.length, 25)
      const times = results.map(({ result }) => texts.filter((text) => text === result).length)
      assert.deepStrictEqual(times, results.map(() => 1))
    }))

  it.effect("the deadline holds, and ends all agents", () =>
    Effect.gen(function*() {
      const { gauge, layer } = yield* makeWorld({ summaryLatency: 0 })
      yield* Effect.gen(function*() {
        const fiber = yield* Effect.fork(program)
        yield* TestClock.adjust(2499)
        assert.isTrue(Option.isNone(yield* Fiber.poll(fiber)))
        yield* TestClock.adjust(1)
        const reports = yield* Fiber.join(fiber)
        assert.strictEqual(ended(of(reports, "monitor").outcome), "out of time")
      }).pipe(Effect.provide(layer))
      assert.strictEqual(yield* gauge.now, 0)
    }))

  it.effect("an agent that is cancelled while it waits for a summary loses nothing and holds no permit", () =>
    Effect.gen(function*() {
      const { gauge, journal, layer } = yield* makeWorld({ permits: 1, summaryLatency: 1300 })
      const reports = yield* Effect.provide(awake(program), layer)
      assert.strictEqual(ended(of(reports, "reviewer").outcome), "cancelled")
      assert.strictEqual(
        words(of(reports, "reviewer")),
        "system user ask 0-1 0-0 assistant user ask 2-0 2-2 2-1 assistant user"
      )
      yield* Effect.forEach(team, (agent) => assertSound(of(reports, agent.name), agent, journal))
      assert.strictEqual(yield* gauge.now, 0)
      assert.strictEqual(yield* gauge.max, 1)
    }))

  it.effect("an answer that came before the agent was cancelled is recorded", () =>
    Effect.gen(function*() {
      const { journal, layer } = yield* makeWorld({ storeLatency: 20 })
      const reviewer = { ...team.find(({ name }) => name === "reviewer")!, cancelAfter: 160 }
      const [report] = yield* Effect.provide(awake(supervise([reviewer], 1000)), layer)
      assert.strictEqual(ended(report.outcome), "cancelled")
      assert.strictEqual(words(report), "system user ask 0-1")
      yield* assertSound(report, reviewer, journal)
    }))

  const moment = fc.integer({ min: 0, max: 1500 })
  const latency = fc.integer({ min: 1, max: 300 })
  it.effect.prop(
    "whoever is stopped at whatever moment, no message is lost or doubled",
    {
      cancelled: fc.array(fc.option(moment, { nil: undefined }), { minLength: team.length, maxLength: team.length }),
      deadline: fc.integer({ min: 0, max: 2500 }),
      storeLatency: fc.constantFrom(0, 15),
      summaryLatency: latency,
      read: latency,
      search: latency,
      test: latency
    },
    ({ cancelled, deadline, read, search, storeLatency, summaryLatency, test }) =>
      Effect.gen(function*() {
        const agents = team.map((agent, i) => ({ ...agent, cancelAfter: cancelled[i] }))
        const { gauge, journal, layer } = yield* makeWorld({
          summaryLatency,
          storeLatency,
          tools: {
            read: { latency: read, lines: 40 },
            search: { latency: search, lines: 25 },
            test: { latency: test, lines: 15 }
          }
        })
        const reports = yield* Effect.provide(awake(supervise(agents, deadline)), layer)
        assert.notInclude(reports.map(({ outcome }) => ended(outcome)).join(), "message")
        yield* Effect.forEach(agents, (agent) => assertSound(of(reports, agent.name), agent, journal))
        assert.isAtMost(yield* gauge.max, 2)
        assert.strictEqual(yield* gauge.now, 0)
      }),
    { fastCheck: { numRuns: 10 } }
  )
})
