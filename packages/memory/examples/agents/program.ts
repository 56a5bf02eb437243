/**
 * The program, without the layers of what its agents share.
 */
import { Array, type Duration, Effect } from "effect"
import type { Agent } from "./Agent.js"
import { inspect } from "./report.js"
import { supervise } from "./supervisor.js"
import { team } from "./team.js"

/** Runs agents until the deadline, and reports on each of them when all have ended. */
export const runAgents = Effect.fn("runAgents")(
  function*(agents: ReadonlyArray<Agent>, deadline: Duration.DurationInput) {
    const outcomes = yield* supervise(agents, deadline)
    return yield* Effect.forEach(Array.zip(agents, outcomes), ([agent, outcome]) => inspect(agent, outcome))
  }
)

export const program = runAgents(team, "2500 millis")
