#!/usr/bin/env node
/**
 * The command `effect-memory`: the one place that runs effects.
 *
 * @since 0.1.0
 */
import { SystemError } from "@effect/platform/Error"
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import * as NodePath from "@effect/platform-node/NodePath"
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as NodeStream from "@effect/platform-node/NodeStream"
import * as NodeTerminal from "@effect/platform-node/NodeTerminal"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import { constVoid } from "effect/Function"
import * as Layer from "effect/Layer"
import * as Cli from "./Cli.js"
import { Stderr } from "./Stderr.js"
import { Stdin } from "./Stdin.js"

// A reader that goes away is noticed by the write that fails; without a listener Node would end with a stack trace.
process.stdout.on("error", constVoid)
process.stderr.on("error", constVoid)

const layerStderr: Layer.Layer<Stderr> = Layer.succeed(Stderr, {
  isTerminal: process.stderr.isTTY === true,
  write: (text) =>
    Effect.async<void>((resume) => {
      process.stderr.write(text, () => resume(Effect.void))
    })
})

const layerStdin: Layer.Layer<Stdin> = Layer.succeed(Stdin, {
  isTerminal: process.stdin.isTTY === true,
  bytes: NodeStream.fromReadable(
    () => process.stdin,
    (cause) => new SystemError({ reason: "Unknown", module: "Stream", method: "stdin", cause })
  )
})

const layer = Layer.mergeAll(NodeFileSystem.layer, NodePath.layer, NodeTerminal.layer, layerStderr, layerStdin)

const interrupted = 130

Cli.run(process.argv).pipe(
  // @effect-diagnostics-next-line strictEffectProvide:off
  Effect.provide(layer),
  NodeRuntime.runMain({
    // Cli.run has printed them.
    disableErrorReporting: true,
    teardown: (exit, onExit) => onExit(Exit.isSuccess(exit) ? 0 : Cause.isInterruptedOnly(exit.cause) ? interrupted : 1)
  })
)
