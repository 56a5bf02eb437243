/**
 * Messages as text for a summarizer: a line for each, which the text of no message can imitate.
 */
import type { Message, Part, ToolCallPart } from "../Message.js"
import * as json from "./json.js"

const lineBreak = "[\\n\\r\\v\\f\\u0085\\u2028\\u2029]"
const blank = "[\\t\\p{Zs}\\p{Cf}]*"
const speaker = "(?:system|developer|user|human|assistant|ai|model|tool|function|tool_calls|tool_result)"

/** A line start, behind a line break, that looks as if somebody else began to speak. */
const roleLike = new RegExp(`(${lineBreak}${blank})(\\\\*${speaker}${blank}[:：])`, "giu")

const escape = (text: string): string => text.replace(roleLike, "$1\\$2")

const line = (label: string, text: string): string =>
  text === "" ? `${label}:` : `${label}: ${escape(json.wellFormed(text))}`

const said = (parts: ReadonlyArray<Part>): string =>
  parts.flatMap((part) => {
    switch (part.type) {
      case "text":
        return [part.text]
      case "file":
        return [`[file: ${part.mediaType}${part.fileName === undefined ? "" : `, ${part.fileName}`}]`]
      default:
        return []
    }
  }).join(" ")

const call = (part: ToolCallPart): string => `${part.name} ${json.stringify(part.params)}`

const results = (parts: ReadonlyArray<Part>): ReadonlyArray<string> =>
  parts.flatMap((part) =>
    part.type === "tool-result"
      ? [line("tool_result", `${part.isFailure ? "(failed) " : ""}${json.stringify(part.result)}`)]
      : []
  )

const calls = (parts: ReadonlyArray<Part>): ReadonlyArray<string> => {
  const made = parts.flatMap((part) => part.type === "tool-call" ? [call(part)] : [])
  return made.length === 0 ? [] : [line("tool_calls", made.join("; "))]
}

/**
 * The lines of one message, each behind its label. Reasoning is left out.
 *
 * @internal
 */
export const lines = (message: Message): ReadonlyArray<string> => {
  switch (message.role) {
    case "system":
      return [line("system", message.content)]
    case "user":
      return [line("user", said(message.content))]
    case "assistant":
      return [line("assistant", said(message.content)), ...calls(message.content), ...results(message.content)]
    case "tool":
      return results(message.content)
  }
}

/** @internal */
export const transcript = (messages: ReadonlyArray<Message>): string => messages.flatMap(lines).join("\n")

/**
 * The smallest number that no mark in these texts bears: `<name-1>` closes nothing that `<name-2>` opened.
 *
 * @internal
 */
export const freeMark = (name: string, texts: ReadonlyArray<string>): number => {
  const marks = new RegExp(`${name}-(\\d+)`, "giu")
  const taken = new Set(texts.flatMap((text) => Array.from(text.matchAll(marks), (match) => Number(match[1]))))
  let free = 1
  while (taken.has(free)) free++
  return free
}

/** Text between two marks. @internal */
export const block = (mark: string, text: string): string => `<${mark}>\n${text}\n</${mark}>`
