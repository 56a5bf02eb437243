/**
 * Runs agents side by side, and tells how each of them ended. None outlives the supervisor.
 */
import { type Duration, Effect, type Exit, Fiber, type Option } from "effect"
import { type Agent, type AgentError, layerMemory, run } from "./Agent.js"

/** How an agent ended; none if the deadline ended it. */
export type Outcome = Option.Option<Exit.Exit<void, AgentError>>

/** Forks an agent with a memory that ends with it. What it recorded is in the shared store. */
const start = Effect.fnUntraced(function*(agent: Agent) {
  const fiber = yield* Effect.forkScoped(Effect.provide(run(agent), layerMemory(agent)))
  if (agent.cancelAfter !== undefined) {
    yield* Effect.forkScoped(Effect.delay(Fiber.interrupt(fiber), agent.cancelAfter))
  }
  return fiber
})

/** Starts all agents. Closing the scope ends whoever is still at work when the deadline has passed. */
export const supervise = Effect.fn("supervise")(
  function*(agents: ReadonlyArray<Agent>, deadline: Duration.DurationInput) {
    const fibers = yield* Effect.forEach(agents, start)
    return yield* Effect.forEach(
      fibers,
      (fiber): Effect.Effect<Outcome> => Effect.timeoutOption(Fiber.await(fiber), deadline),
      { concurrency: "unbounded" }
    )
  },
  Effect.scoped
)
