/**
 * An agent: a loop around a memory, a model and tools.
 */
import { type Duration, Effect, Layer } from "effect"
import {
  Memory,
  type MemoryError,
  type MemoryStore,
  Message,
  type Summarizer,
  type TokenCounter,
  type TrimStrategy
} from "effect-memory"
import { Model, type ModelError } from "./Model.js"
import { Tools } from "./Tools.js"

/** What the memories of all agents are built on. */
export type Shared = MemoryStore.MemoryStore | TokenCounter.TokenCounter | Summarizer.Summarizer

/** Why an agent can fail. */
export type AgentError = ModelError | MemoryError.MemoryError

export interface Agent {
  readonly name: string
  readonly role: string
  readonly tasks: ReadonlyArray<string>
  /** Limits of its context. */
  readonly limits: Pick<Memory.Options, "maxTokens" | "maxRounds">
  /** What its memory does when a limit is exceeded. */
  readonly strategy: Layer.Layer<TrimStrategy.TrimStrategy, never, Shared>
  /** When its user loses patience. By default never. */
  readonly cancelAfter?: Duration.DurationInput | undefined
}

/**
 * The memory of an agent: conversation, limits and strategy are its own, the rest is shared. A function, since every
 * call makes another layer: under one constant, all agents in one build would get the same memory.
 */
export const layerMemory = ({ limits, name, strategy }: Agent): Layer.Layer<
  Memory.Memory,
  MemoryError.InvalidBudget,
  Shared
> => Memory.layer({ ...limits, id: name }).pipe(Layer.provide(strategy))

const toolConcurrency = 2

/** Works through the tasks of an agent. */
export const run = Effect.fn("Agent.run")(function*(
  { name, role, tasks }: Agent
): Effect.fn.Return<void, AgentError, Memory.Memory | Model | Tools> {
  const memory = yield* Memory.Memory
  const model = yield* Model
  const tools = yield* Tools

  /** What was paid for is recorded, also if the agent is interrupted at that moment. */
  const recorded = <A extends Message.Message, E>(effect: Effect.Effect<A, E>) =>
    Effect.uninterruptibleMask((restore) => Effect.tap(restore(effect), memory.record))

  /** Each result is recorded as it comes: contexts have them behind their calls, whatever the order. */
  const runTools = (calls: ReadonlyArray<Message.ToolCallPart>) =>
    Effect.forEach(calls, (call) => recorded(tools.run(call)), { concurrency: toolConcurrency, discard: true })

  const step = Effect.gen(function*() {
    const reply = yield* recorded(model.reply(name, yield* memory.context))
    const calls = Message.toolCalls(reply)
    yield* runTools(calls)
    return calls.length
  })

  const work = (task: string) =>
    Effect.zipRight(memory.record(Message.user(task)), Effect.repeat(step, { until: (calls) => calls === 0 }))

  yield* memory.record(Message.system(role))
  yield* Effect.forEach(tasks, work, { discard: true })
})
