/**
 * The laws of a context, checked by code of its own: nothing here asks the library what a round or a group is.
 */
import { isDeepStrictEqual } from "node:util"
import { assert } from "@effect/vitest"
import { type Message, Transcript } from "effect-memory"

type Messages = ReadonlyArray<Message.Message>

const same = (a: Message.Message, b: Message.Message): boolean => a === b || isDeepStrictEqual(a, b)

const partsOf = (message: Message.Message) => typeof message.content === "string" ? [] : message.content

const callIds = (message: Message.Message): ReadonlyArray<string> =>
  partsOf(message).flatMap((part) => part.type === "tool-call" && !part.providerExecuted ? [part.id] : [])

const resultIds = (message: Message.Message): ReadonlyArray<string> =>
  partsOf(message).flatMap((part) => part.type === "tool-result" && !part.providerExecuted ? [part.id] : [])

/** Law 2: the context is the log with gaps, in the order of the log. */
const checkOrder = (context: Messages, log: Messages): void => {
  let at = 0
  for (const [i, message] of context.entries()) {
    while (at < log.length && !same(log[at], message)) at++
    assert.isBelow(
      at,
      log.length,
      `message ${i} of the context (${message.role}) is not in the log behind the one before`
    )
    at++
  }
}

/** Law 3: each result answers a call before it, once; only calls of the last assistant message may be open. */
const checkGroups = (context: Messages): void => {
  const lastAssistant = context.findLastIndex(({ role }) => role === "assistant")
  const open = new Map<string, number>()
  for (const [i, message] of context.entries()) {
    for (const id of callIds(message)) open.set(id, i)
    for (const id of resultIds(message)) assert.isTrue(open.delete(id), `message ${i} answers a call that is not open`)
  }
  for (const at of open.values()) assert.strictEqual(at, lastAssistant, `message ${at} has a call without a result`)
}

/** Whether a user message comes in the midst of calls and their results, so that it opens no round. */
const isInterjected = (recorded: Messages, at: number): boolean => {
  const open = new Set(recorded.slice(0, at).flatMap(callIds))
  for (const id of recorded.slice(0, at).flatMap(resultIds)) open.delete(id)
  const reply = recorded.findIndex(({ role }, i) => i > at && role === "assistant")
  if (reply < 0) return open.size > 0
  return recorded.slice(at, reply).flatMap(resultIds).some((id) => open.has(id))
}

/** Where in the log the newest round begins: its last user message that opens a round as recorded. */
const newestOf = (log: Messages, recorded: Messages): number => {
  const begins = recorded.findLastIndex(({ role }, i) => role === "user" && !isInterjected(recorded, i))
  return begins < 0 ? 0 : log.findLastIndex((message) => same(message, recorded[begins]))
}

/** Law 4: the newest round is there, whole, at the end. */
const checkNewest = (context: Messages, log: Messages, newest: number): void => {
  assert.isAtLeast(newest, 0)
  const expected = log.slice(newest)
  const found = context.slice(context.length - expected.length)
  assert.isTrue(
    expected.length === found.length && expected.every((message, i) => same(message, found[i])),
    `the newest round of ${expected.length} messages does not stand at the end of the context`
  )
}

/** Law 5: the context is within the budget, or nothing but the system prompt and the newest round. */
const checkBudget = (context: Messages, log: Messages, newest: number, maxTokens: number, tokens: number): void => {
  if (tokens <= maxTokens) return
  const firstUser = log.findIndex(({ role }) => role === "user")
  const prompt = log.slice(0, Math.min(newest, firstUser < 0 ? 0 : firstUser)).filter(({ role }) => role === "system")
  assert.strictEqual(
    context.length,
    prompt.length + log.length - newest,
    `${tokens} tokens are over the budget of ${maxTokens}, and not all is gone that may go`
  )
}

/** Laws 2 to 5 for a context of what was recorded so far. They speak of the repaired form. */
export const check = (context: Messages, recorded: Messages, maxTokens: number, tokens: number): void => {
  const log = Transcript.repair(recorded, "pairing")
  const newest = newestOf(log, recorded)
  checkOrder(context, log)
  checkGroups(context)
  checkNewest(context, log, newest)
  checkBudget(context, log, newest, maxTokens, tokens)
}
