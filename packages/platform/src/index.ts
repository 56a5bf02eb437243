/**
 * A `MemoryStore` over the `KeyValueStore` of `@effect/platform`: in memory, in a directory, in the storage of a browser.
 *
 * @since 0.1.0
 */
export * as KeyValueMemoryStore from "./KeyValueMemoryStore.js"

/**
 * Metrics of all remote calls of the process. The only labels are `service` and `kind`, from fixed sets.
 *
 * @since 0.1.0
 */
export * as PlatformMetrics from "./PlatformMetrics.js"

/**
 * What can go wrong between a program and a remote service. No error carries a key, or anything that was sent or answered.
 *
 * @since 0.1.0
 */
export * as RemoteError from "./RemoteError.js"

/**
 * How a remote service is asked: how often, how long, how fast, and when no more.
 *
 * @since 0.1.0
 */
export * as RemotePolicy from "./RemotePolicy.js"
