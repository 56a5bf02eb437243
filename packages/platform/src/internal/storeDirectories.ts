/**
 * Directories in use: all layers of a process over one share its `KeyValueStore`, and with it locks and what is known of
 * its conversations.
 */
import type * as FileSystem from "@effect/platform/FileSystem"
import type * as KeyValueStore from "@effect/platform/KeyValueStore"
import * as Effect from "effect/Effect"
import { globalValue } from "effect/GlobalValue"
import type * as Scope from "effect/Scope"

interface Shared {
  readonly store: KeyValueStore.KeyValueStore
  users: number
}

const inUse = globalValue(
  "@effect-memory/platform/storeDirectories",
  () => new WeakMap<FileSystem.FileSystem, Map<string, Shared>>()
)

/**
 * The store of a directory that is in use, or else this one, until the scope ends.
 *
 * @internal
 */
export const share = (
  fileSystem: FileSystem.FileSystem,
  directory: string,
  store: KeyValueStore.KeyValueStore
): Effect.Effect<KeyValueStore.KeyValueStore, never, Scope.Scope> =>
  Effect.map(
    Effect.acquireRelease(
      Effect.sync(() => {
        const directories = inUse.get(fileSystem) ?? new Map<string, Shared>()
        inUse.set(fileSystem, directories)
        const shared = directories.get(directory) ?? { store, users: 0 }
        directories.set(directory, shared)
        shared.users++
        return shared
      }),
      (shared) =>
        Effect.sync(() => {
          shared.users--
          if (shared.users === 0) inUse.get(fileSystem)?.delete(directory)
        })
    ),
    (shared) => shared.store
  )
