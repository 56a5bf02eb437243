/**
 * Runs agents side by side, and reports on them. None outlives the supervisor.
 */
import { Array, type Duration, Effect, Fiber } from "effect"
import { type Agent, layerMemory, run } from "./Agent.js"
import { inspect, type Outcome } from "./report.js"

/** Forks an agent with a memory that ends with it. What it recorded is in the shared store. */
const start = Effect.fnUntraced(function*(agent: Agent) {
  const fiber = yield* Effect.forkScoped(Effect.provide(run(agent), layerMemory(agent)))
  if (agent.cancelAfter !== undefined) {
    yield* Effect.forkScoped(Effect.delay(Fiber.interrupt(fiber), agent.cancelAfter))
  }
  return fiber
})

/** Runs all agents. Closing the scope ends whoever is still at work when the deadline has passed. */
const runAll = Effect.fnUntraced(function*(agents: ReadonlyArray<Agent>, deadline: Duration.DurationInput) {
  const fibers = yield* Effect.forEach(agents, start)
  return yield* Effect.forEach(
    fibers,
    (fiber): Effect.Effect<Outcome> => Effect.timeoutOption(Fiber.await(fiber), deadline),
    { concurrency: "unbounded" }
  )
}, Effect.scoped)

/** Runs agents until the deadline, and reports on each of them when all have ended. */
export const supervise = Effect.fn("supervise")(
  function*(agents: ReadonlyArray<Agent>, deadline: Duration.DurationInput) {
    const outcomes = yield* runAll(agents, deadline)
    return yield* Effect.forEach(Array.zip(agents, outcomes), ([agent, outcome]) => inspect(agent, outcome))
  }
)
