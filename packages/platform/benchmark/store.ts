/**
 * Appending to a conversation on disk, opening and loading it, with 100, 1,000 and 10,000 entries in it, each in a record of
 * its own: prints tables.
 *
 * Medians on two virtual cores, Node 20, entries of 280 characters, a temporary directory:
 *
 * | entries | append | save counts | load | open and load |
 * | ---: | ---: | ---: | ---: | ---: |
 * | 100 | 0.33 ms | 0.30 ms | 3.1 ms | 13 ms |
 * | 1,000 | 0.25 ms | 0.23 ms | 20 ms | 33 ms |
 * | 10,000 | 0.28 ms | 0.23 ms | 178 ms | 187 ms |
 *
 * Every sixteenth write also makes a segment, so that on average a write takes 0.6 to 0.9 ms.
 */
import { FileSystem } from "@effect/platform"
import { NodeContext } from "@effect/platform-node"
import { KeyValueMemoryStore } from "@effect-memory/platform"
import { Effect, Layer } from "effect"
import { MemoryStore, Message } from "effect-memory"
import { Bench } from "tinybench"

const text = "The tram to the zoo leaves at noon, and the last one back at seven. ".repeat(4)

const entry = (sequence: number): MemoryStore.Entry => ({
  sequence,
  id: `entry-${sequence}`,
  message: Message.user(text),
  protected: false,
  recordedAt: 0
})

const program = Effect.gen(function*() {
  const directory = yield* Effect.flatMap(FileSystem.FileSystem, (fs) => fs.makeTempDirectoryScoped())
  // Another layer each time, so that nothing is known of the conversation before.
  const opened = Layer.fresh(KeyValueMemoryStore.layerFileSystem(directory))
  const context = yield* Layer.build(Layer.merge(opened, NodeContext.layer))
  const run = <A, E>(effect: Effect.Effect<A, E, MemoryStore.MemoryStore>) =>
    Effect.runPromise(Effect.provide(effect, context))
  const runFresh = <A, E>(effect: Effect.Effect<A, E, MemoryStore.MemoryStore>) =>
    Effect.runPromise(Effect.provide(effect, Layer.provide(opened, NodeContext.layer)))
  let end = 0
  const append = Effect.suspend(() =>
    Effect.flatMap(MemoryStore.MemoryStore, (store) => store.append("chat", end, [entry(end++)]))
  )
  const load = Effect.flatMap(MemoryStore.MemoryStore, (store) => store.load("chat"))
  const save = Effect.flatMap(
    MemoryStore.MemoryStore,
    (store) => store.saveCounts("other", "characters", new Map([[0, 1]]))
  )

  for (const size of [100, 1_000, 10_000]) {
    yield* Effect.promise(() => run(Effect.repeat(append, { until: () => end >= size })))
    // Adding must not change what loading is measured on.
    const before = end
    const loading = new Bench({ time: 1000, warmup: false, iterations: 3 })
      .add(`load, ${size} entries`, () => run(load))
      .add(`open and load, ${size} entries`, () => runFresh(load))
    yield* Effect.promise(() => loading.run())
    console.table(loading.table())
    const adding = new Bench({ time: 500, warmup: false })
      .add(`append after ${before} entries`, () => run(append))
      .add("save counts", () => run(save))
    yield* Effect.promise(() => adding.run())
    console.table(adding.table())
  }
})

await Effect.runPromise(Effect.scoped(program).pipe(Effect.provide(NodeContext.layer)))
