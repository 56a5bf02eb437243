/**
 * What is left of an agent when it has ended: its log, and the context with which it could go on.
 */
import { Cause, Chunk, Console, Effect, Exit, Option, Stream } from "effect"
import { Memory, MemoryStore, type Message, Transcript } from "effect-memory"
import { type Agent, type AgentError, layerMemory } from "./Agent.js"

/** How an agent ended; none if the deadline ended it. */
export type Outcome = Option.Option<Exit.Exit<void, AgentError>>

export interface Report {
  readonly agent: string
  readonly outcome: Outcome
  /** Everything that was recorded. */
  readonly log: ReadonlyArray<MemoryStore.Entry>
  /** What the next call of the model would get. */
  readonly context: ReadonlyArray<Message.Message>
  /** What the context costs, in tokens, and what it may cost. */
  readonly tokens: number | undefined
  readonly maxTokens: number | undefined
  /** Messages that a summary stands for. */
  readonly summarized: number
  /** What a provider would refuse in the context: nothing but calls that can still be answered. */
  readonly findings: ReadonlyArray<Transcript.Finding>
}

/** Opens the conversation of an agent again, with its own memory over the shared store. */
export const inspect = Effect.fn("inspect")(function*(agent: Agent, outcome: Outcome) {
  const memory = yield* Memory.Memory
  const store = yield* MemoryStore.MemoryStore
  const log = Chunk.toReadonlyArray(yield* Stream.runCollect(memory.history))
  const context = yield* memory.context
  const { maxTokens, tokensAfter } = yield* memory.plan
  const { entries } = yield* store.load(agent.name)
  const report: Report = {
    agent: agent.name,
    outcome,
    log,
    context,
    tokens: tokensAfter,
    maxTokens,
    summarized: log.length - entries.length,
    findings: Transcript.diagnose(context, "pairing")
  }
  return report
}, (effect, agent) => Effect.provide(effect, layerMemory(agent)))

const describe: (outcome: Outcome) => string = Option.match({
  onNone: () => "ended by the deadline",
  onSome: Exit.match({
    onSuccess: () => "done",
    onFailure: (cause) => Cause.isInterruptedOnly(cause) ? "cancelled by its user" : `failed, ${Cause.squash(cause)}`
  })
})

/** Prints a line for each agent. */
export const print = (reports: ReadonlyArray<Report>): Effect.Effect<void> =>
  Console.table(
    Object.fromEntries(reports.map((report) => [report.agent, {
      log: report.log.length,
      summarized: report.summarized,
      context: report.context.length,
      tokens: `${report.tokens} of ${report.maxTokens}`,
      findings: report.findings.map(({ _tag }) => _tag).join(),
      outcome: describe(report.outcome)
    }]))
  )
