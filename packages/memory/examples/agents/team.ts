/**
 * Five agents who bring a release out. Each has a memory of its own: a budget and a strategy over what is shared.
 */
import { TrimStrategy } from "effect-memory"
import type { Agent } from "./Agent.js"
import { ModelError, type Reply } from "./Model.js"
import type { Tool } from "./Tools.js"

/** Finds what is known, and can do without what was said long ago. */
const researcher: Agent = {
  name: "researcher",
  role: "You find out what is known.",
  tasks: ["What do users say about 1.4?", "Which of these faults are known?", "Is one of them fixed already?"],
  limits: { maxTokens: 800, maxRounds: 2 },
  strategy: TrimStrategy.layerWindowDrop
}

/** Reads a lot: old results go first, and only then old rounds. */
const coder: Agent = {
  name: "coder",
  role: "You fix faults.",
  tasks: ["Fix the crash at start.", "Fix the slow search.", "Write the tests."],
  limits: { maxTokens: 800 },
  strategy: TrimStrategy.layerCascade(
    TrimStrategy.clearToolResults({ keep: 1 }),
    TrimStrategy.summarize({ maxSummaryTokens: 200 })
  )
}

/** Waits for an approval that does not come, until its user cancels it. */
const reviewer: Agent = {
  name: "reviewer",
  role: "You review changes.",
  tasks: ["Review the crash fix.", "Review the search fix.", "Have the release approved."],
  limits: { maxTokens: 900 },
  strategy: TrimStrategy.layerSummarize({ maxSummaryTokens: 150 }),
  cancelAfter: "1500 millis"
}

/** Loses its model in the middle of the work. */
const planner: Agent = {
  name: "planner",
  role: "You plan releases.",
  tasks: ["Collect what is to be released.", "Collect what is at risk.", "Set a date."],
  limits: { maxTokens: 700 },
  strategy: TrimStrategy.layerCascade(
    TrimStrategy.shortenParts({ maxTokens: 200 }),
    TrimStrategy.summarize({ maxSummaryTokens: 100 })
  )
}

/** Watches for as long as it is let. Trims below its budget, so that the beginning of its context stays the same. */
const monitor: Agent = {
  name: "monitor",
  role: "You watch the service.",
  tasks: ["How is the service today?", "How was it last week?", "Watch it from now on."],
  limits: { maxTokens: 900 },
  strategy: TrimStrategy.layerSummarize({ maxSummaryTokens: 150, target: 0.8 })
}

export const team: ReadonlyArray<Agent> = [researcher, coder, reviewer, planner, monitor]

const overloaded = new ModelError({ agent: "planner", reason: "overloaded" })

/** What the model says to each of them, in order. */
export const scripts: Readonly<Record<string, ReadonlyArray<Reply>>> = {
  researcher: [["search", "read", "search"], "It crashes.", ["read", "search"], "One.", ["search", "changelog"], "No."],
  coder: [
    ["test", "read", "search"],
    ["read"],
    "Fixed.",
    ["search", "read"],
    "Done.",
    ["test", "search", "read"],
    "Ok."
  ],
  reviewer: [["test", "read"], "Good.", ["read", "search", "read"], "Good.", ["approve", "read"]],
  planner: [["search", "read"], "Two fixes.", ["test", "search", "read"], "Search.", ["search", "read"], overloaded],
  monitor: [["read", "search"], "Well.", ["search", "test", "read"], "Slow on Monday.", ["watch", "read"]]
}

/** The longer a tool takes, the later its result comes, whatever its place among the calls. */
export const tools: Readonly<Record<string, Tool>> = {
  read: { latency: "40 millis", lines: 40 },
  search: { latency: "90 millis", lines: 25 },
  test: { latency: "150 millis", lines: 15 },
  approve: { latency: Infinity, lines: 0 },
  watch: { latency: Infinity, lines: 0 }
}
