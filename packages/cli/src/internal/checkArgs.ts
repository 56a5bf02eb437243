/**
 * What is wrong with arguments and the parser does not say well: which command or option there is not, and which value an
 * option cannot have.
 */
import * as Effect from "effect/Effect"
import { InvalidOptions, UnknownChoice } from "../CliError.js"
import { aliases, choices, commands, rules } from "./names.js"

/** Options that take one of a few names. */
const named: ReadonlyMap<string, ReadonlyArray<string>> = new Map<string, ReadonlyArray<string>>([
  ...Object.entries(choices).map(([name, known]) => [`--${name}`, known] as const),
  ...Object.entries(aliases).map(([name, alias]) => [`--${alias}`, choices[name as keyof typeof aliases]] as const),
  ["--to", choices.format],
  ["--completions", ["sh", "bash", "fish", "zsh"]],
  ["--log-level", ["all", "trace", "debug", "info", "warning", "error", "fatal", "none"]]
])

const valued = [
  "--max-tokens",
  "--max-rounds",
  "--target",
  "--counter",
  "--base-url",
  "--summarizer",
  "--summarizer-base-url",
  "--output",
  "-o",
  "--conversation"
]

const switches = ["--fix", "--strict", "--json", "--help", "--wizard", "--version"]

const takesValue = (arg: string | undefined): boolean => arg !== undefined && (named.has(arg) || valued.includes(arg))

type Fault = InvalidOptions | UnknownChoice

/** The names that an option of a command may have. */
const knownOf = (command: string | undefined, option: string): ReadonlyArray<string> | undefined => {
  const known = named.get(option)
  return command === "check" && known === choices.provider ? rules : known
}

const valueFault = (command: string | undefined, option: string, given: string | undefined): Fault | undefined => {
  const known = knownOf(command, option)
  if (given === undefined || given === "--" || given === "") {
    return new InvalidOptions({ reason: `${option} has no value: give one behind it` })
  }
  return known === undefined || known.includes(given) ? undefined : new UnknownChoice({ option, given, known })
}

/** The first argument that is no option and no value of one, where it is a command. */
const commandOf = (args: ReadonlyArray<string>): string | undefined => {
  const first = args.find((arg, i) => !arg.startsWith("-") && !takesValue(args[i - 1]))
  return commands.find((command) => command === first)
}

const faultOf = (args: ReadonlyArray<string>): Fault | undefined => {
  const operands = args.indexOf("--")
  for (const [i, arg] of args.entries()) {
    if (takesValue(args[i - 1])) continue
    if (arg === "") return new InvalidOptions({ reason: "an argument is empty: name the file, or leave it out" })
    if (operands >= 0 && i >= operands) continue
    if (takesValue(arg)) {
      const fault = valueFault(commandOf(args), arg, args[i + 1])
      if (fault !== undefined) return fault
    } else if (i === 0 && !arg.startsWith("-") && commandOf(args) === undefined) {
      return new UnknownChoice({ option: "the command", given: arg, known: commands })
    } else if (arg.startsWith("--") && arg !== "--" && !switches.includes(arg)) {
      const help = ["effect-memory", commandOf(args), "--help"].filter((word) => word !== undefined).join(" ")
      return new InvalidOptions({ reason: `there is no option ${arg}: see ${help}` })
    }
  }
  return undefined
}

/**
 * Fails with the first thing that is wrong.
 *
 * @internal
 */
export const checkArgs = (args: ReadonlyArray<string>): Effect.Effect<void, Fault> =>
  Effect.suspend((): Effect.Effect<void, Fault> => faultOf(args) ?? Effect.void)
