/**
 * A `MemoryStore` over the `KeyValueStore` of `@effect/platform`: in memory, in a directory, in the storage of a browser.
 *
 * @since 0.1.0
 */
export * as KeyValueMemoryStore from "./KeyValueMemoryStore.js"
