/**
 * Options that several commands take.
 */
import * as HelpDoc from "@effect/cli/HelpDoc"
import * as Options from "@effect/cli/Options"
import * as ValidationError from "@effect/cli/ValidationError"
import * as Effect from "effect/Effect"

/**
 * A whole number. The parser's own integers take −1 and do not say which option is wrong.
 *
 * @internal
 */
export const wholeNumber = (name: string, least: number, description: string): Options.Options<number> =>
  Options.text(name).pipe(
    Options.withPseudoName("number"),
    Options.withDescription(description),
    Options.mapEffect((text) => {
      const value = Number(text)
      return /^\d+$/.test(text) && Number.isSafeInteger(value) && value >= least
        ? Effect.succeed(value)
        : Effect.fail(ValidationError.invalidValue(
          HelpDoc.p(`--${name} is ${JSON.stringify(text)}: give a whole number of at least ${least}`)
        ))
    })
  )
