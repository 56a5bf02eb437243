import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, FastCheck as fc, Fiber, Scope, Stream, TestClock } from "effect"
import type { Memory } from "effect-memory"
import { MemoryError, MemoryStore, Message, TokenCounter, TrimStrategy } from "effect-memory"
import { type Mode, Model, summary, timeout } from "./model.js"
import { assertMessages, makeMemory, runs } from "./utilities.js"

type Command =
  | { readonly _tag: "record"; readonly roles: ReadonlyArray<"user" | "assistant" | "system"> }
  | { readonly _tag: "protect"; readonly role: "user" | "assistant" }
  | { readonly _tag: "context" | "plan" | "compact" | "restore" | "clear" | "reopen" }
  | { readonly _tag: "mode"; readonly mode: Mode }
  | { readonly _tag: "budget"; readonly maxTokens: number | undefined; readonly maxRounds: number | undefined }
  | { readonly _tag: "advance"; readonly seconds: number }
  | { readonly _tag: "interrupt"; readonly operation: "record" | "context"; readonly after: number }

const role = fc.constantFrom(
  "user" as const,
  "user" as const,
  "assistant" as const,
  "assistant" as const,
  "system" as const
)

const command: fc.Arbitrary<Command> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      _tag: fc.constant("record" as const),
      roles: fc.array(role, { minLength: 1, maxLength: 4 })
    })
  },
  {
    weight: 1,
    arbitrary: fc.record({
      _tag: fc.constant("protect" as const),
      role: fc.constantFrom("user" as const, "assistant" as const)
    })
  },
  { weight: 8, arbitrary: fc.record({ _tag: fc.constant("context" as const) }) },
  {
    weight: 1,
    arbitrary: fc.record({
      _tag: fc.constantFrom(
        "plan" as const,
        "compact" as const,
        "restore" as const,
        "clear" as const,
        "reopen" as const
      )
    })
  },
  {
    weight: 4,
    arbitrary: fc.record({
      _tag: fc.constant("mode" as const),
      mode: fc.constantFrom<Mode>("summarizes", "summarizes", "projects", "fails", "dies", "hangs")
    })
  },
  {
    weight: 2,
    arbitrary: fc.record({
      _tag: fc.constant("budget" as const),
      maxTokens: fc.option(fc.nat(8), { nil: undefined }),
      maxRounds: fc.option(fc.nat(3), { nil: undefined, freq: 1 })
    })
  },
  {
    weight: 4,
    arbitrary: fc.record({ _tag: fc.constant("advance" as const), seconds: fc.constantFrom(1, 1, 1, 2, 4, 300) })
  },
  {
    weight: 2,
    arbitrary: fc.record({
      _tag: fc.constant("interrupt" as const),
      operation: fc.constantFrom("record" as const, "context" as const),
      after: fc.nat(16)
    })
  }
)

const ones: TokenCounter.Service = {
  ...TokenCounter.make({ id: "ones", count: () => Effect.succeed(1) }),
  countMessage: () => Effect.succeed(1)
}

/** A store that lets others go first before and after everything it does. */
const yielding = (store: MemoryStore.Service): MemoryStore.Service => {
  const pause = Effect.repeatN(Effect.yieldNow(), 2)
  const around = <A, E>(operation: Effect.Effect<A, E>) => Effect.zipRight(pause, Effect.zipLeft(operation, pause))
  return {
    ...store,
    append: (...args) => around(store.append(...args)),
    load: (id) => around(store.load(id)),
    compact: (...args) => around(store.compact(...args)),
    saveCounts: (...args) => around(store.saveCounts(...args)),
    clear: (id) => around(store.clear(id))
  }
}

const settle = Effect.repeatN(Effect.yieldNow(), 60)

/** A memory and a model of it, side by side. */
const makePair = Effect.fnUntraced(function*(maxTokens: number) {
  const model = new Model()
  model.setBudget(maxTokens, undefined)
  const inner = yield* MemoryStore.makeMemory
  const store = yielding(inner)
  const outer = yield* Effect.scope
  let calls = 0
  let summaries = 0
  let recorded = 0
  let memory: Memory.Service
  let scope: Scope.CloseableScope

  const strategy = TrimStrategy.make(({ messages, newest }) =>
    Effect.suspend((): Effect.Effect<TrimStrategy.TrimResult, MemoryError.TrimError> => {
      calls++
      switch (model.mode) {
        case "summarizes":
          return Effect.succeed({ messages: [summary(++summaries), ...messages.slice(newest)], replace: true })
        case "projects":
          return Effect.succeed({ messages: messages.slice(newest), replace: false })
        case "fails":
          return Effect.fail(new MemoryError.TrimError({ reason: "told to" }))
        case "dies":
          return Effect.die("told to")
        case "hangs":
          return Effect.never
      }
    })
  )

  const open = Effect.gen(function*() {
    scope = yield* Scope.fork(outer, { _tag: "Sequential" })
    memory = yield* Scope.extend(
      makeMemory({
        maxTokens: model.maxTokens,
        maxRounds: model.maxRounds,
        counter: ones,
        store,
        strategy,
        trimTimeout: timeout
      }),
      scope
    )
  })
  yield* open

  const next = (role: "user" | "assistant" | "system") => Message[role](`${role} ${recorded++}`)

  /** Runs to the end; where the strategy hangs, until its time is up. */
  const finish = <A, E>(operation: Effect.Effect<A, E>, hangs: boolean) =>
    Effect.gen(function*() {
      const fiber = yield* Effect.fork(operation)
      yield* settle
      if (hangs) yield* TestClock.adjust(timeout)
      return yield* Fiber.await(fiber)
    })

  const logged = Effect.map(Stream.runCollect(inner.history("default")), (entries) => Array.from(entries))

  const step = (command: Command): Effect.Effect<void, unknown> =>
    Effect.gen(function*() {
      switch (command._tag) {
        case "record": {
          const messages = command.roles.map(next)
          yield* memory.recordAll(messages)
          for (const message of messages) model.record(message, false)
          return
        }
        case "protect": {
          const message = next(command.role)
          yield* memory.recordProtected(message)
          return model.record(message, true)
        }
        case "context": {
          const hangs = model.wouldRun() && model.mode === "hangs"
          const exit = yield* finish(memory.context, hangs)
          const expected = model.context()
          assert.isTrue(Exit.isSuccess(exit), "a context is had whatever the strategy does")
          if (Exit.isSuccess(exit)) assertMessages(exit.value, expected)
          return
        }
        case "plan": {
          const before = calls
          yield* memory.plan
          return assert.strictEqual(calls, before, "a plan asks nobody")
        }
        case "compact": {
          const exit = yield* finish(memory.compact, model.mode === "hangs")
          const outcome = model.force()
          if (Exit.isSuccess(exit)) assert.strictEqual(exit.value, outcome === "committed")
          return assert.strictEqual(Exit.isFailure(exit), outcome === "failed")
        }
        case "restore":
          yield* memory.restore
          return model.restore()
        case "clear":
          yield* memory.clear
          return model.clear()
        case "reopen":
          yield* Scope.close(scope, Exit.void)
          model.reopen()
          return yield* open
        case "mode":
          model.mode = command.mode
          return
        case "budget": {
          if (command.maxTokens !== model.maxTokens) {
            yield* memory.setMaxTokens(command.maxTokens)
            model.setBudget(command.maxTokens, model.maxRounds)
          }
          if (command.maxRounds === model.maxRounds) return
          yield* memory.setMaxRounds(command.maxRounds)
          return model.setBudget(model.maxTokens, command.maxRounds)
        }
        case "advance":
          yield* TestClock.adjust(command.seconds * 1000)
          model.now += command.seconds * 1000
          return
        case "interrupt":
          return yield* interrupted(command.operation, command.after)
      }
    })

  /** What was interrupted happened wholly or not at all: the store says which. */
  const interrupted = (operation: "record" | "context", after: number) =>
    Effect.gen(function*() {
      const messages = [next("user"), next("assistant")]
      const before = calls
      const willRun = model.wouldRun()
      const fiber = yield* Effect.fork<unknown, unknown, never>(
        operation === "record" ? memory.recordAll(messages) : memory.context
      )
      yield* Effect.repeatN(Effect.yieldNow(), after)
      yield* Fiber.interrupt(fiber)
      yield* settle
      if (operation === "record") {
        const last = (yield* logged).slice(-2).map(({ message }) => message)
        if (!last.includes(messages[0])) return model.forget()
        assertMessages(last, messages, "all of a batch")
        for (const message of messages) model.record(message, false)
        return
      }
      if (calls === before) return
      assert.isTrue(willRun, "a strategy is asked only where it is due")
      if (model.mode === "hangs") yield* TestClock.adjust(timeout)
      model.run()
    })

  const check = Effect.gen(function*() {
    const log = yield* logged
    assertMessages(log.map(({ message }) => message), model.history(), "the log")
    yield* memory.setMaxTokens(undefined)
    yield* memory.setMaxRounds(undefined)
    assertMessages(yield* memory.context, model.view().map(({ message }) => message), "the view")
  })

  return { step, check }
})

describe("a memory does what its model does", () => {
  it.effect.prop("command by command", {
    commands: fc.array(command, { maxLength: 50, size: "max" }),
    maxTokens: fc.nat(8)
  }, ({ commands, maxTokens }) =>
    Effect.gen(function*() {
      const { check, step } = yield* makePair(maxTokens)
      for (const command of commands) yield* step(command)
      yield* check
    }).pipe(Effect.scoped), runs(150))
})
