/**
 * Five agents at work at the same time, each with a memory of its own. One is cancelled while its tools run, one loses
 * its model, one runs out of time; none loses a message. Runs without a key:
 *
 *     npx tsx packages/memory/examples/agents.ts
 */
import { Effect, Layer } from "effect"
import { MemoryStore, Summarizer, TokenCounter } from "effect-memory"
import * as Model from "./agents/Model.js"
import { program } from "./agents/program.js"
import { print } from "./agents/report.js"
import * as SummarizerPool from "./agents/SummarizerPool.js"
import { scripts, tools } from "./agents/team.js"
import * as Tools from "./agents/Tools.js"

// What is shared is built once, since each layer is one constant. Another counter, a summarizer with a model behind it
// or a durable store goes here; nothing else changes.
const CounterLive = TokenCounter.layerCharacters
const SummarizerLive = SummarizerPool.layer(2).pipe(Layer.provide(Summarizer.layerExtractive))
const ModelLive = Model.layerScripted({ scripts, latency: "50 millis" })
const ToolsLive = Tools.layerSimulated(tools)

const SharedLive = Layer.mergeAll(SummarizerLive, MemoryStore.layerMemory, ModelLive, ToolsLive).pipe(
  Layer.provideMerge(CounterLive)
)

const main = program.pipe(Effect.flatMap(print), Effect.provide(SharedLive))

await Effect.runPromise(main)
