/**
 * Options that were given, checked.
 */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import { InvalidOption } from "../RemoteError.js"

/** A whole number from `least` on. @internal */
export const whole = (field: string, given: number, least: number): Effect.Effect<number, InvalidOption> =>
  Number.isSafeInteger(given) && given >= least
    ? Effect.succeed(given)
    : Effect.fail(new InvalidOption({ field, given: String(given), expected: `a whole number of at least ${least}` }))

/** A finite number from 0 on. @internal */
export const positive = (field: string, given: number): Effect.Effect<number, InvalidOption> =>
  Number.isFinite(given) && given >= 0
    ? Effect.succeed(given)
    : Effect.fail(new InvalidOption({ field, given: String(given), expected: "a finite number of at least 0" }))

/** A duration in milliseconds. @internal */
export const millis = (field: string, given: Duration.DurationInput): Effect.Effect<number, InvalidOption> => {
  const found = Option.map(Duration.decodeUnknown(given), Duration.toMillis)
  return Option.isSome(found) && found.value > 0 && Number.isFinite(found.value)
    ? Effect.succeed(found.value)
    : Effect.fail(
      new InvalidOption({ field, given: String(given), expected: "a finite duration above 0, such as \"30 seconds\"" })
    )
}

/** A name that is not blank. @internal */
export const name = (field: string, given: string): Effect.Effect<string, InvalidOption> =>
  given.trim() !== ""
    ? Effect.succeed(given)
    : Effect.fail(new InvalidOption({ field, given: "blank", expected: "the name that the service knows" }))

/** A key that a header can hold. @internal */
export const key = (
  field: string,
  given: Redacted.Redacted<string>
): Effect.Effect<Redacted.Redacted<string>, InvalidOption> =>
  /^[\x21-\x7e]+$/.test(Redacted.value(given))
    ? Effect.succeed(given)
    : Effect.fail(
      new InvalidOption({
        field,
        given: "blank, or has white space or characters that a header cannot hold",
        expected: "the key as the provider shows it"
      })
    )

/** The header of a bearer token, where there is a key. @internal */
export const bearer = (
  given: Redacted.Redacted<string> | undefined
): Effect.Effect<{ readonly authorization?: Redacted.Redacted<string> }, InvalidOption> =>
  given === undefined
    ? Effect.succeed({})
    : Effect.map(key("apiKey", given), (checked) => ({
      authorization: Redacted.make(`Bearer ${Redacted.value(checked)}`)
    }))

/** The URL of a path under a base URL, whose query is kept. @internal */
export const url = (field: string, base: string, path: string): Effect.Effect<string, InvalidOption> => {
  const found = URL.canParse(base) ? new URL(base) : undefined
  const expected = "an http or https URL, such as http://localhost:8080"
  if (found === undefined || (found.protocol !== "http:" && found.protocol !== "https:")) {
    return Effect.fail(new InvalidOption({ field, given: "no such URL", expected }))
  }
  if (found.username !== "" || found.password !== "") {
    return Effect.fail(
      new InvalidOption({ field, given: "a URL with credentials", expected: `${expected}, and the key by itself` })
    )
  }
  found.pathname = found.pathname.replace(/\/+$/, "") + path
  found.hash = ""
  return Effect.succeed(found.href)
}
