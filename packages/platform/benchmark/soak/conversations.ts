/**
 * Conversations of an agent with tools, every part of which says where it was recorded.
 */
import { Message } from "effect-memory"
import { isRecord } from "../../test/servers/server.js"
import { pick, random, secret } from "./services.js"

/** What is recorded in one go. */
interface Step {
  readonly messages: ReadonlyArray<Message.Message>
  readonly protected: boolean
  /** Whether the agent asks for the context then. */
  readonly asks: boolean
}

export type Turn = ReadonlyArray<Step>

export const nameOf = (conversation: number): string => `c${conversation}`

const words = ["lamp", "river", "seven", "Übung", "график", "混合", "of", "and", "the", "return", "a", "🦜"]

/** Turns of a conversation; the first begins with the system prompt. */
export const turnsOf = (conversation: number, count: number, seed: number): ReadonlyArray<Turn> => {
  const next = random(seed * 1000 + conversation)
  let sequence = 0
  let calls = 0
  const text = (most: number): string =>
    [
      `${nameOf(conversation)}m${sequence}`,
      secret,
      ...Array.from({ length: 8 + Math.floor(next() * most) }, () => pick(next, words))
    ].join(" ")
  const step = (make: () => ReadonlyArray<Message.Message>, asks: boolean, isProtected = false): Step => ({
    messages: make(),
    protected: isProtected,
    asks
  })
  const one = (make: () => Message.Message) => () => {
    const message = make()
    sequence++
    return [message]
  }
  const group = (): ReadonlyArray<Step> => {
    const ids = Array.from({ length: 1 + Math.floor(next() * 3) }, () => `call_${conversation}_${calls++}`)
    const asked = step(
      one(() =>
        Message.assistant([
          ...(next() < 0.5 ? [Message.text(text(10))] : []),
          ...ids.map((id) => Message.toolCall({ id, name: "look", params: { at: text(5) } }))
        ])
      ),
      false
    )
    const result = (id: string) => Message.toolResult({ id, name: "look", result: { found: text(60) } })
    const answered = next() < 0.5
      ? [step(one(() => Message.tool(ids.map(result))), true)]
      : next() < 0.5
      ? ids.toReversed().map((id, i) => step(one(() => Message.tool([result(id)])), i === ids.length - 1))
      : [step(() => ids.flatMap((id) => one(() => Message.tool([result(id)]))()), true)]
    return [asked, ...answered]
  }
  return Array.from({ length: count }, (_, i) => [
    ...(i === 0 ? [step(one(() => Message.system(text(10))), false)] : []),
    step(one(() => Message.user(text(40))), true, next() < 0.03),
    ...Array.from({ length: pick(next, [0, 0, 1, 1, 2]) }, group).flat(),
    step(one(() => Message.assistant(text(60))), false)
  ])
}

const tag = /c\d+m(\d+)/

/** The same text for the same value, whatever the order of its keys. */
export const canonical = (value: unknown): string =>
  JSON.stringify(
    value,
    (_, inner) => isRecord(inner) ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => a < b ? -1 : 1)) : inner
  )

export const parts = (message: Message.Message): ReadonlyArray<string> => Message.parts(message).map(canonical)

/** The sequence number in a part, −1 where nobody recorded it. */
export const sequenceIn = (part: string): number => {
  const [, found] = tag.exec(part) ?? []
  return found === undefined ? -1 : Number(found)
}
