/**
 * The model as a service. The scripted one stands in for a provider: it refuses what a provider would refuse, and
 * otherwise says what its script says.
 */
import { Context, type Duration, Effect, Layer, Ref, Schema } from "effect"
import { Message, Transcript } from "effect-memory"

export class ModelError extends Schema.TaggedError<ModelError>("effect-memory/examples/agents/Model/ModelError")(
  "ModelError",
  { agent: Schema.String, reason: Schema.String }
) {
  override get message(): string {
    return `no reply to ${this.agent}: ${this.reason}`
  }
}

export interface Service {
  readonly reply: (
    agent: string,
    context: ReadonlyArray<Message.Message>
  ) => Effect.Effect<Message.AssistantMessage, ModelError>
}

export class Model extends Context.Tag("effect-memory/examples/agents/Model")<Model, Service>() {}

const isModelError = Schema.is(ModelError)

/** A text, names of tools to call in parallel, or a failure. */
export type Reply = string | ReadonlyArray<string> | ModelError

/** A model that takes the same time for each reply, and gives every agent the replies of its script in order. */
export const layerScripted = (options: {
  readonly scripts: Readonly<Record<string, ReadonlyArray<Reply>>>
  readonly latency: Duration.DurationInput
}): Layer.Layer<Model> =>
  Layer.effect(
    Model,
    Effect.map(Ref.make<Readonly<Record<string, number>>>({}), (turns): Service => {
      const nextTurn = (agent: string) =>
        Ref.modify(turns, (all) => [all[agent] ?? 0, { ...all, [agent]: (all[agent] ?? 0) + 1 }])

      return {
        reply: Effect.fn("Model.reply")(function*(agent, context) {
          yield* Effect.sleep(options.latency)
          const [finding] = Transcript.diagnose(context, "pairing")
          if (finding !== undefined) {
            return yield* new ModelError({
              agent,
              reason: `message ${finding.message} of the context: ${finding._tag}`
            })
          }
          const turn = yield* nextTurn(agent)
          const reply = options.scripts[agent]?.[turn] ?? new ModelError({ agent, reason: "its script is at its end" })
          if (isModelError(reply)) return yield* reply
          return typeof reply === "string" ? Message.assistant(reply) : Message.assistant(
            reply.map((name, i) => Message.toolCall({ id: `${agent}-${turn}-${i}`, name, params: { part: i } }))
          )
        })
      }
    })
  )
