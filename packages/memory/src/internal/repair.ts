/**
 * From any sequence to one that can be sent.
 */
import type * as Message from "../Message.js"
import { pair } from "./pairing.js"
import { repairContext } from "./repairProvider.js"
import { type Repaired, repairRound } from "./repairRound.js"
import { wellFormed } from "./repairText.js"
import type { Rules } from "./rules.js"

/**
 * Round by round the form that every provider asks for; only the calls of the newest round may stay open.
 *
 * @internal
 */
export const repairPairing = (messages: ReadonlyArray<Message.Message>): ReadonlyArray<Repaired> => {
  const { pairing, rounds } = pair(messages)
  const used = new Set<string>()
  return rounds.flatMap((round, i) => repairRound(messages, pairing, round, i < rounds.length - 1, used))
}

/** @internal */
export const repair = (messages: ReadonlyArray<Message.Message>, rules: Rules): ReadonlyArray<Message.Message> =>
  repairContext(repairPairing(messages.map(wellFormed)).map(({ message }) => message), rules)
    .map(({ message }) => message)
