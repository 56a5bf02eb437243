/**
 * Arguments in the form that the parser understands.
 */

/** `--option=value`, which the parser does not take where an option can be repeated. */
const split = (arg: string): ReadonlyArray<string> => {
  const [, option, value] = /^(--[^=]+)=(.*)$/s.exec(arg) ?? []
  return option === undefined ? [arg] : [option, value]
}

/**
 * Splits options from their values, and puts a lone dash, which the parser takes for an option, behind all of them.
 *
 * @internal
 */
export const normalized = (argv: ReadonlyArray<string>): ReadonlyArray<string> => {
  const end = argv.indexOf("--")
  const options = (end < 0 ? argv : argv.slice(0, end)).flatMap(split)
  const operands = end < 0 ? [] : argv.slice(end + 1)
  const isOperand = (arg: string, i: number) => arg === "-" && options[i - 1] !== "--output" && options[i - 1] !== "-o"
  const dashes = options.filter(isOperand)
  const rest = options.filter((arg, i) => !isOperand(arg, i))
  return end < 0 && dashes.length === 0 ? rest : [...rest, "--", ...dashes, ...operands]
}
