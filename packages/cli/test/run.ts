/**
 * The command line in this process: its arguments, and what it writes.
 */
import { Terminal } from "@effect/platform"
import { NodeFileSystem, NodePath } from "@effect/platform-node"
import { Cause, ConfigProvider, Console, Effect, Exit, Layer, Ref, Stream } from "effect"
import * as Cli from "../src/Cli.js"
import { Stderr } from "../src/Stderr.js"
import { Stdin } from "../src/Stdin.js"

export interface Outcome {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

export interface Options {
  readonly stdin?: string
  /** Whether a person is watching. Default false. */
  readonly terminal?: boolean
  /** The environment. Default empty. */
  readonly env?: { readonly [name: string]: string }
}

const appender = (ref: Ref.Ref<string>) => (text: string) => Ref.update(ref, (before) => before + text)

/** Only what the parser uses. */
const consoleOf = (stdout: Ref.Ref<string>, stderr: Ref.Ref<string>): Effect.Effect<Console.Console> =>
  Effect.map(Console.consoleWith(Effect.succeed), (console) => ({
    ...console,
    log: (...values) => appender(stdout)(`${values.join(" ")}\n`),
    error: (...values) => appender(stderr)(`${values.join(" ")}\n`)
  }))

/** A terminal that is written to. */
export const layerTerminal = (
  isTerminal: boolean,
  display: (text: string) => Effect.Effect<void>
): Layer.Layer<Terminal.Terminal> =>
  Layer.succeed(Terminal.Terminal, {
    columns: Effect.succeed(120),
    rows: Effect.succeed(40),
    isTTY: Effect.succeed(isTerminal),
    readInput: Effect.die("not read"),
    readLine: Effect.die("not read"),
    display
  })

/** Runs `effect-memory` with these arguments. */
export const run = Effect.fnUntraced(function*(args: ReadonlyArray<string>, options: Options = {}) {
  const { env = {}, stdin = "", terminal = false } = options
  const stdout = yield* Ref.make("")
  const stderr = yield* Ref.make("")
  const layer = Layer.mergeAll(
    NodeFileSystem.layer,
    NodePath.layer,
    layerTerminal(terminal, appender(stdout)),
    Layer.setConfigProvider(ConfigProvider.fromMap(new Map(Object.entries(env)))),
    Layer.succeed(Stderr, { isTerminal: terminal, write: appender(stderr) }),
    Layer.succeed(Stdin, { isTerminal: false, bytes: Stream.make(new TextEncoder().encode(stdin)) })
  )
  const exit = yield* Cli.run(["node", "effect-memory", ...args]).pipe(
    Effect.withConsole(yield* consoleOf(stdout, stderr)),
    Effect.provide(layer),
    Effect.exit
  )
  if (Exit.isFailure(exit) && Cause.isDie(exit.cause)) return yield* Effect.failCause(exit.cause)
  const outcome: Outcome = {
    code: Exit.isSuccess(exit) ? 0 : 1,
    stdout: yield* Ref.get(stdout),
    stderr: yield* Ref.get(stderr)
  }
  return outcome
})

export const lines = (text: string): ReadonlyArray<string> => text.split("\n").slice(0, -1)

export const json = (text: string): ReadonlyArray<Record<string, unknown>> =>
  lines(text).map((line) => JSON.parse(line))
