/**
 * The tools as a service. A tool that fails is an answer to the model, not a failure of the agent.
 */
import { Array, Context, type Duration, Effect, Layer } from "effect"
import { Message } from "effect-memory"

export interface Service {
  readonly run: (call: Message.ToolCallPart) => Effect.Effect<Message.ToolMessage>
}

export class Tools extends Context.Tag("effect-memory/examples/agents/Tools")<Tools, Service>() {}

export interface Tool {
  readonly latency: Duration.DurationInput
  /** How much it has to say. */
  readonly lines: number
}

/** Tools that only take time. `Infinity` is a tool that never answers. */
export const layerSimulated = (tools: Readonly<Record<string, Tool>>): Layer.Layer<Tools> =>
  Layer.succeed(Tools, {
    run: Effect.fn("Tools.run")(function*({ id, name }) {
      const tool = tools[name]
      if (tool === undefined) {
        return Message.tool([Message.toolResult({ id, name, result: `There is no tool ${name}.`, isFailure: true })])
      }
      yield* Effect.sleep(tool.latency)
      const result = Array.makeBy(tool.lines, (i) => `${id}: line ${i + 1} of what ${name} found.`).join("\n")
      return Message.tool([Message.toolResult({ id, name, result })])
    })
  })
