/**
 * The rules of formats.
 */
import * as Option from "effect/Option"
import { choices, type ProviderName } from "./names.js"

/**
 * Whose rules a format's messages are sent by: those of the provider that its name begins with, or what all have in
 * common.
 *
 * @internal
 */
export const rulesOf = (format: string, given: Option.Option<ProviderName>): ProviderName =>
  Option.getOrElse(given, () => choices.provider.find((name) => format.startsWith(name)) ?? "pairing")
