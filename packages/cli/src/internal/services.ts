/**
 * Remote services by name. What they stand for is loaded on use.
 */
import * as Config from "effect/Config"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import { InvalidOptions } from "../CliError.js"

/** @internal */
export const counting = ["anthropic", "openai", "gemini", "vllm", "llamacpp", "tgi"] as const

/** @internal */
export const summarizing = ["anthropic", "openai", "gemini"] as const

/** @internal */
export type Counting = (typeof counting)[number]

/** @internal */
export type Summarizing = (typeof summarizing)[number]

/** A service with its model, as it stands on the command line. @internal */
export interface Named<Service extends Counting = Counting> {
  /** The option that names it. */
  readonly option: string
  /** As it was given. */
  readonly name: string
  readonly service: Service
  readonly model: string | undefined
}

/** The keys of services that have one. Servers of one's own are asked without. */
const keys: { readonly [S in Counting]?: string } = {
  anthropic: "ANTHROPIC_API_KEY",
  openai: "OPENAI_API_KEY",
  gemini: "GEMINI_API_KEY"
}

const examples: { readonly [S in Counting]?: string } = {
  anthropic: "anthropic:claude-sonnet-4-5",
  openai: "openai:gpt-4.1-mini",
  gemini: "gemini:gemini-2.5-flash"
}

/** The service that a name begins with, where there is one of that name. @internal */
export const find = <Service extends Counting>(
  option: string,
  name: string,
  services: ReadonlyArray<Service>
): Named<Service> | undefined => {
  const colon = name.indexOf(":")
  const service = services.find((one) => one === (colon < 0 ? name : name.slice(0, colon)))
  return service && { option, name, service, model: colon < 0 ? undefined : name.slice(colon + 1) }
}

/** The model; empty where a server of local models is to take what it has. @internal */
export const modelOf = ({ model, name, option, service }: Named): Effect.Effect<string, InvalidOptions> => {
  const example = examples[service]
  if (model === undefined && example === undefined) return Effect.succeed("")
  return model === undefined || model.trim() === ""
    ? new InvalidOptions({
      reason: `${option} is ${JSON.stringify(name)}: name a model behind it` +
        (example === undefined ? ", or leave out the colon" : `, such as ${example}`)
    })
    : Effect.succeed(model)
}

/** The key of a service, from the configuration; none for a server of one's own. @internal */
export const keyOf = Effect.fnUntraced(function*(
  { option, service }: Pick<Named, "option" | "service">,
  baseUrl: string | undefined
): Effect.fn.Return<Redacted.Redacted<string> | undefined, InvalidOptions> {
  const name = keys[service]
  if (name === undefined) return undefined
  const found = yield* Effect.option(Config.redacted(name))
  if (Option.isSome(found) && Redacted.value(found.value) !== "") return found.value
  if (baseUrl !== undefined) return undefined
  return yield* new InvalidOptions({
    reason: `${name} is not set in the environment, and ${option} ${service} needs it: set it to your key`
  })
})

/** The name of a setting of a service on the command line. @internal */
export const settingName = (
  field: string,
  { option, service }: Pick<Named, "option" | "service">,
  urlOption: string
): string => field === "baseUrl" ? urlOption : field === "apiKey" ? keys[service] ?? option : option
