/**
 * What a provider would refuse in a sequence, message by message. Finds a fault wherever repair would change something,
 * and nowhere else.
 */
import type * as Message from "../Message.js"
import * as provider from "./diagnoseProvider.js"
import { isTurn, pair, type Pairing } from "./pairing.js"
import { isEmptyPart } from "./repairRound.js"
import { wellFormedPart } from "./repairText.js"
import { type Finding, Findings, type Rules } from "./rules.js"

/** @internal */
export const diagnose = (messages: ReadonlyArray<Message.Message>, rules: Rules): ReadonlyArray<Finding> => {
  const findings = new Findings(rules)
  const { pairing } = pair(messages)
  const lastTurn = messages.findLastIndex(isTurn)
  const ids = new Set<string>()
  let asker = -1
  messages.forEach((message, at) => {
    if (message.role !== "tool") asker = at
    diagnoseParts(findings, message, at)
    diagnoseCalls(findings, pairing, at, lastTurn, ids)
    diagnoseResults(findings, message, pairing, at, asker)
    provider.diagnoseContent(findings, message, at)
  })
  provider.diagnoseRoles(findings, messages)
  return findings.list.sort((a, b) => a.message - b.message)
}

const diagnoseParts = (findings: Findings, message: Message.Message, at: number): void => {
  if (message.role === "system") {
    if (message.content.trim() === "") findings.message("EmptyMessage", at)
    if (!message.content.isWellFormed()) findings.part("IllFormed", at, 0)
    return
  }
  const parts: ReadonlyArray<Message.Part> = message.content
  if (parts.length === 0) findings.message("EmptyMessage", at)
  parts.forEach((part, index) => {
    if (isEmptyPart(part)) findings.part("EmptyPart", at, index)
    if (wellFormedPart(part) !== part) findings.part("IllFormed", at, index)
  })
}

const diagnoseCalls = (
  findings: Findings,
  pairing: Pairing,
  at: number,
  lastTurn: number,
  ids: Set<string>
): void => {
  for (const { answer, index, part: { id } } of pairing.calls[at]) {
    if (ids.has(id)) findings.call("DuplicateId", at, index, id)
    ids.add(id)
    if (answer === undefined) findings.call(lastTurn > at ? "UnansweredCall" : "OpenCall", at, index, id)
  }
}

/** `asker` is the nearest message up to here that holds no results alone. */
const diagnoseResults = (
  findings: Findings,
  message: Message.Message,
  pairing: Pairing,
  at: number,
  asker: number
): void => {
  for (const { call, index, part: { id }, repeated } of pairing.results[at]) {
    if (call === undefined) findings.call(repeated ? "RepeatedResult" : "OrphanResult", at, index, id)
    else if (call.message !== asker) findings.call("ResultOutOfPlace", at, index, id)
  }
  if (message.role !== "tool") return
  message.content.forEach((part, index) => {
    // What the provider ran itself stays in the message of its call.
    if (part.providerExecuted) findings.call("OrphanResult", at, index, part.id)
  })
}
