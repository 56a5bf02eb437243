import { FileSystem, KeyValueStore } from "@effect/platform"
import { NodeContext } from "@effect/platform-node"
import { describe, it } from "@effect/vitest"
import { KeyValueMemoryStore } from "@effect-memory/platform"
import { Effect, Layer } from "effect"
import { MemoryStoreConformance } from "effect-memory"

const memory = Layer.provide(KeyValueMemoryStore.layer, KeyValueStore.layerMemory)

const directory = Layer.unwrapScoped(
  Effect.map(
    Effect.flatMap(FileSystem.FileSystem, (fs) => fs.makeTempDirectoryScoped()),
    KeyValueMemoryStore.layerFileSystem
  )
).pipe(Layer.provide(NodeContext.layer))

/** What browsers have. */
const storage = (values: Map<string, string>) => ({
  get length() {
    return values.size
  },
  clear: () => values.clear(),
  getItem: (key: string) => values.get(key) ?? null,
  key: (index: number) => Array.from(values.keys())[index] ?? null,
  removeItem: (key: string) => void values.delete(key),
  setItem: (key: string, value: string) => void values.set(key, String(value))
})

const browser = Layer.provide(
  KeyValueMemoryStore.layer,
  Layer.suspend(() => KeyValueStore.layerStorage(() => storage(new Map())))
)

const layers = { "in memory": memory, "in a directory": directory, "in a browser": browser }

for (const [name, layer] of Object.entries(layers)) {
  describe(`KeyValueMemoryStore ${name}`, () => {
    for (const { name, run } of MemoryStoreConformance.cases) {
      it.effect(name, () => Effect.provide(run, layer))
    }

    it.effect("cases share a store and run at the same time, more than once", () => {
      const cases = [...MemoryStoreConformance.cases, ...MemoryStoreConformance.cases]
      return Effect.forEach(cases, ({ run }) => run, { concurrency: "unbounded", discard: true }).pipe(
        Effect.provide(layer)
      )
    })
  })
}
