/**
 * What single providers refuse beside broken pairs.
 */
import * as Message from "../Message.js"
import type { Findings } from "./rules.js"

/** Whether a call is owed a result. @internal */
export const isOwed = (part: Message.Part): boolean => Message.isToolCall(part) && !part.providerExecuted

/** A result that belongs into a message of its own, unlike those of calls that the provider ran itself. @internal */
export const isOwnResult = (part: Message.Part): part is Message.ToolResultPart =>
  Message.isToolResult(part) && !part.providerExecuted

/** What must not follow a call in its message. @internal */
export const isText = (part: Message.Part): boolean => part.type === "text" || part.type === "file"

/** @internal */
export const isObject = (value: unknown): boolean =>
  typeof value === "object" && value !== null && !Array.isArray(value)

/** Index behind the last part that is no reasoning. @internal */
export const boundEnd = (parts: ReadonlyArray<Message.Part>): number =>
  parts.findLastIndex((part) => part.type !== "reasoning") + 1

/** @internal */
export const diagnoseContent = (findings: Findings, message: Message.Message, at: number): void => {
  if (message.role !== "assistant") return
  const end = boundEnd(message.content)
  let called = false
  message.content.forEach((part, index) => {
    if (index >= end) findings.part("LooseReasoning", at, index)
    if (part.type === "file") findings.part("FileInAssistant", at, index)
    if (isOwnResult(part)) findings.call("ResultInAssistant", at, index, part.id)
    if (Message.isToolCall(part) && !isObject(part.params)) findings.call("PartialArguments", at, index, part.id)
    if (called && isText(part)) findings.part("TextAfterCall", at, index)
    called = called || isOwed(part)
  })
}

/** @internal */
export const diagnoseRoles = (findings: Findings, messages: ReadonlyArray<Message.Message>): void => {
  if (messages.length === 0) return
  const first = messages.findIndex((message) => message.role !== "system")
  if (first >= 0 && messages[first].role !== "user") findings.message("FirstNotUser", first)
  if (!messages.some((message) => message.role === "user")) findings.message("NoUser", messages.length - 1)
  let previous: Message.Message | undefined
  messages.forEach((message, at) => {
    if (message.role === "system") {
      if (first >= 0 && at > first) findings.message("SystemNotFirst", at)
    } else {
      if (previous === messages[at - 1] && previous?.role === message.role) findings.message("RolesNotAlternating", at)
      const answers = previous?.role === "user" || previous?.role === "tool"
      if (!answers && Message.toolCalls(message).length > 0) findings.message("CallNotAfterUser", at)
      previous = message
    }
  })
  diagnoseEnd(findings, messages)
}

const diagnoseEnd = (findings: Findings, messages: ReadonlyArray<Message.Message>): void => {
  const last = messages[messages.length - 1]
  const part = last.role === "assistant" ? last.content[last.content.length - 1] : undefined
  if (part?.type === "text" && part.text !== part.text.trimEnd()) {
    findings.part("TrailingWhiteSpace", messages.length - 1, last.content.length - 1)
  }
}
