/**
 * A soak over sockets: 50 conversations of 40 turns, each with three fibers that read meanwhile, over services that fail in
 * three of ten requests; then what a context costs while a service is down for good. Prints tables, and ends with code 1
 * where something does not hold.
 */
import { KeyValueStore } from "@effect/platform"
import { FileSystem, HttpClient } from "@effect/platform"
import { NodeContext, NodeFileSystem, NodeHttpClient } from "@effect/platform-node"
import { Effect, Layer, Logger } from "effect"
import { listen } from "../test/servers/server.js"
import { measure } from "./soak/down.js"
import { fibersLeft, socketsOpen } from "./soak/leftovers.js"
import { run } from "./soak/run.js"
import { countFaults, counting, summarizing, summaryFaults } from "./soak/services.js"

const seed = Number(process.argv[2] ?? 1)

const soak = Effect.scoped(Effect.gen(function*() {
  const client = yield* HttpClient.HttpClient
  const values = yield* KeyValueStore.KeyValueStore
  const scripts = { counting: countFaults(seed, 0.3), summarizing: summaryFaults(seed, 0.3) }
  // What the servers tell is no part of it.
  const quiet = Logger.remove(Logger.defaultLogger)
  const counts = yield* Effect.provide(listen(counting, scripts.counting.faults), quiet)
  const summaries = yield* Effect.provide(listen(summarizing, scripts.summarizing.faults), quiet)
  return yield* run({
    conversations: 50,
    turns: 40,
    readers: 3,
    seed,
    maxTokens: 2000,
    pause: 1000,
    backoff: "300 millis",
    slack: 500,
    counting: {
      ...counts,
      client,
      script: scripts.counting,
      policy: {
        attemptTimeout: "500 millis",
        deadline: "1500 millis",
        backoff: "50 millis",
        breakerCooldown: "1 second",
        concurrency: 16,
        requestsPerMinute: 1500
      }
    },
    summarizing: {
      ...summaries,
      url: `${summaries.url}/v1`,
      client,
      script: scripts.summarizing,
      policy: {
        attemptTimeout: "500 millis",
        deadline: "1500 millis",
        backoff: "50 millis",
        breakerCooldown: "1 second",
        concurrency: 16,
        requestsPerMinute: 600
      }
    },
    values
  })
}))

const services = {
  "connection refused": Effect.succeed({ url: "http://127.0.0.1:9" }),
  hangs: listen(counting, Array.from({ length: 10_000 }, () => "hang" as const)),
  "answers 503": listen(counting, Array.from({ length: 10_000 }, () => ({ status: 503, body: "" })))
}

const downs = Effect.scoped(Effect.forEach(
  Object.entries(services),
  ([service, make]) =>
    Effect.gen(function*() {
      const client = yield* HttpClient.HttpClient
      const { url } = yield* Effect.provide(make, Logger.remove(Logger.defaultLogger))
      return (yield* measure({ client, url })).map((cost) => ({ service, ...cost }))
    }),
  { concurrency: 1 }
)).pipe(Effect.map((costs) => costs.flat()))

const files = Layer.unwrapScoped(
  Effect.map(
    Effect.flatMap(FileSystem.FileSystem, (fs) => fs.makeTempDirectoryScoped()),
    (directory) => KeyValueStore.layerFileSystem(directory)
  )
)

const program = Effect.gen(function*() {
  const socketsBefore = yield* socketsOpen
  const [{ faults, figures, violations }, fibers] = yield* fibersLeft(
    soak.pipe(
      Effect.provide(NodeHttpClient.layer),
      Effect.provide(Layer.provide(files, NodeContext.layer))
    )
  )
  yield* Effect.sleep("200 millis")
  const sockets = (yield* socketsOpen) - socketsBefore
  console.table(faults)
  console.table({ ...figures, "fibers left": fibers, "sockets left": sockets })
  const costs = yield* Effect.provide(downs, NodeHttpClient.layer)
  console.table(costs.map(({ down, local, messages, ...cost }) => ({
    ...cost,
    "down, ms": down.toFixed(3),
    "local, ms": local.toFixed(3),
    times: (down / local).toFixed(2),
    messages: messages.join(" / ")
  })))
  const all = [
    ...costs.filter(({ down, local }) => down > 2 * local).map(({ service, strategy }) =>
      `a context costs more than twice as much: ${service}, ${strategy}`
    ),
    ...violations,
    ...(fibers > 0 ? [`${fibers} fibers are left`] : []),
    ...(sockets > 0 ? [`${sockets} sockets are open`] : [])
  ]
  console.log(all.length === 0 ? "Everything holds." : all.map((each) => `VIOLATION: ${each}`).join("\n"))
  return all.length === 0
})

process.exitCode = await Effect.runPromise(Effect.provide(program, NodeFileSystem.layer)) ? 0 : 1
