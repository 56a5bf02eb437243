/**
 * Cutting a conversation into pieces for a summarizer with a small window.
 */
import type { AssistantPart, FilePart, Message, TextPart, ToolResultPart } from "../Message.js"
import * as Transcript from "../Transcript.js"
import * as json from "./json.js"
import * as render from "./render.js"

/**
 * The smallest runs of messages that keep every call together with its results.
 *
 * @internal
 */
export const atoms = (messages: ReadonlyArray<Message>): ReadonlyArray<ReadonlyArray<Message>> => {
  const lastResult = new Map<number, number>()
  for (const group of Transcript.rounds(messages).flatMap((round) => round.groups)) {
    lastResult.set(group.assistant, group.results.at(-1) ?? group.assistant)
  }
  const runs: Array<Array<Message>> = []
  let until = -1
  messages.forEach((message, i) => {
    if (i > until) runs.push([])
    runs[runs.length - 1].push(message)
    until = Math.max(until, lastResult.get(i) ?? i)
  })
  return runs
}

const gap = "[…]"

/** Whether the code units before and behind this place are one code point. */
const splitsPair = (text: string, at: number): boolean => at > 0 && (text.codePointAt(at - 1) ?? 0) > 0xffff

/**
 * The beginning and the end of a text, `length` code units in all, cut between code points.
 *
 * @internal
 */
export const headAndTail = (text: string, length: number): string => {
  if (text.length <= length + gap.length) return text
  const head = Math.ceil(length / 2)
  const tail = text.length - Math.floor(length / 2)
  return text.slice(0, splitsPair(text, head) ? head - 1 : head) + gap +
    text.slice(splitsPair(text, tail) ? tail + 1 : tail)
}

/**
 * The same messages, each text in them cut to `length`.
 *
 * @internal
 */
export const shorten = (messages: ReadonlyArray<Message>, length: number): ReadonlyArray<Message> => {
  const cut = (text: string): string => headAndTail(text, length)
  const cutText = (part: TextPart): TextPart => ({ ...part, text: cut(part.text) })
  const cutFile = (part: FilePart): FilePart => ({
    ...part,
    mediaType: cut(part.mediaType),
    fileName: part.fileName === undefined ? undefined : cut(part.fileName)
  })
  const cutResult = (part: ToolResultPart): ToolResultPart => ({ ...part, result: cut(json.stringify(part.result)) })
  const cutPart = (part: AssistantPart): AssistantPart => {
    switch (part.type) {
      case "text":
        return cutText(part)
      case "file":
        return cutFile(part)
      case "tool-call":
        return { ...part, name: cut(part.name), params: cut(json.stringify(part.params)) }
      case "tool-result":
        return cutResult(part)
      case "reasoning":
        return part
    }
  }
  return messages.map((message): Message => {
    switch (message.role) {
      case "system":
        return { ...message, content: cut(message.content) }
      case "user":
        return {
          ...message,
          content: message.content.map((part) => part.type === "text" ? cutText(part) : cutFile(part))
        }
      case "assistant":
        return { ...message, content: message.content.map(cutPart) }
      case "tool":
        return { ...message, content: message.content.map(cutResult) }
    }
  })
}

/**
 * All of it in one message, cut to `length`: for messages so many that they do not fit even without their texts.
 *
 * @internal
 */
export const collapse = (messages: ReadonlyArray<Message>, length: number): ReadonlyArray<Message> => [{
  role: "assistant",
  content: [{ type: "text", text: headAndTail(render.transcript(messages), length), options: {} }],
  options: {}
}]
