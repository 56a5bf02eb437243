/**
 * The rules of formats.
 */
import type { Codec } from "@effect-memory/formats/Codec"
import * as Option from "effect/Option"
import type { ProviderName } from "./names.js"

/**
 * Whose rules a conversation follows: those that were named, or those of the format that it is in.
 *
 * @internal
 */
export const rulesOf = ({ rules = "pairing" }: Codec, given: Option.Option<ProviderName>): ProviderName =>
  Option.getOrElse(given, () => rules)
