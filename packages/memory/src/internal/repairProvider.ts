/**
 * What single providers ask beyond pairing: roles in turn, the user first, every part where it may stand.
 *
 * The input is in the form that pairing asks. Messages are split into what may stand in one message, joined to runs of
 * one role where the rules ask for it, and finished run by run.
 */
import * as Message from "../Message.js"
import { isObject, isOwnResult } from "./diagnoseProvider.js"
import type { Repaired } from "./repairRound.js"
import { finish, type Run } from "./repairRun.js"
import { asks, type Rules } from "./rules.js"
import * as tag from "./tag.js"

/** What an inserted user message says. */
const opening = "Continue."

/**
 * Repairs a sequence that is in the form that `pairing` asks. Each message comes with the index of the one that it comes
 * from, the first of several merged ones, or −1 where it is inserted.
 *
 * @internal
 */
export const repairContext = (messages: ReadonlyArray<Message.Message>, rules: Rules): ReadonlyArray<Repaired> => {
  if (rules === "pairing") return messages.map((message, source) => ({ message, source }))
  const body = messages.findIndex((message) => message.role !== "system")
  const end = body < 0 ? messages.length : body
  const head = messages.slice(0, end).map((message, source) => ({ message, source }))
  const runs = new Runs(rules)
  for (const { message, source } of split(messages, end, rules)) runs.push(message, source)
  return trimEnd(withUserFirst(head, runs.finished(), rules), rules)
}

// =============================================================================
// Splitting
// =============================================================================

/** Every message from `start` on in the messages that its parts may stand in. */
const split = (
  messages: ReadonlyArray<Message.Message>,
  start: number,
  rules: Rules
): ReadonlyArray<Repaired> => {
  const out: Array<Repaired> = []
  let files: Repaired | undefined
  const pushFiles = () => {
    if (files !== undefined) out.push(files)
    files = undefined
  }
  for (let source = start; source < messages.length; source++) {
    const message = messages[source]
    // Files stand behind the results of the calls made beside them.
    if (message.role !== "tool") pushFiles()
    if (message.role === "system" && asks(rules, "SystemNotFirst")) {
      out.push({ message: fromSystem(message), source })
    } else if (message.role === "assistant") {
      const { moved, own, results } = splitAssistant(message, rules)
      if (own.content.length > 0) out.push({ message: own, source })
      if (results.length > 0) out.push({ message: Message.tool(results), source })
      if (moved.length > 0) files = { message: Message.user(moved, tag.make("context", "file")), source }
    } else {
      out.push({ message, source })
    }
  }
  pushFiles()
  return out
}

const fromSystem = (message: Message.SystemMessage): Message.UserMessage =>
  Message.user(message.content, {
    ...message.options,
    [tag.namespace]: { ...message.options[tag.namespace], context: "system" }
  })

/** An assistant message without what the rules want elsewhere: the same reference where there is nothing of the kind. */
const splitAssistant = (message: Message.AssistantMessage, rules: Rules) => {
  const takesFiles = !asks(rules, "FileInAssistant")
  const takesResults = !asks(rules, "ResultInAssistant")
  const takesText = !asks(rules, "PartialArguments")
  const moved: Array<Message.FilePart> = []
  const results: Array<Message.ToolResultPart> = []
  const content: Array<Message.AssistantPart> = []
  let changed = false
  for (const part of message.content) {
    if (part.type === "file" && !takesFiles) moved.push(part)
    else if (isOwnResult(part) && !takesResults) results.push(part)
    else if (part.type === "tool-call" && !takesText && !isObject(part.params)) {
      content.push({ ...part, params: asObject(part.params) })
      changed = true
    } else content.push(part)
  }
  const same = !changed && content.length === message.content.length
  return { own: same ? message : { ...message, content }, results, moved }
}

/** Arguments that are no object: what a cut stream left, kept as text. */
const asObject = (params: unknown): unknown => params === null || params === "" ? {} : { input: params }

// =============================================================================
// Joining
// =============================================================================

class Runs {
  private readonly runs: Array<Run> = []
  private readonly alternating: boolean
  private readonly binding: boolean

  constructor(private readonly rules: Rules) {
    this.alternating = asks(rules, "RolesNotAlternating")
    this.binding = asks(rules, "LooseReasoning")
  }

  push(message: Message.Message, source: number): void {
    if (!this.joins(message)) this.dropLoose()
    if (this.joins(message)) this.runs[this.runs.length - 1].messages.push(message)
    else this.runs.push({ messages: [message], source })
  }

  finished(): ReadonlyArray<Repaired> {
    this.dropLoose()
    return this.runs.map((run) => finish(run, this.rules))
  }

  /** Whether a message belongs to the last run: by its role, or because reasoning there still waits for what it led to. */
  private joins(message: Message.Message): boolean {
    const last = this.runs.at(-1)?.messages.at(-1)
    if (last === undefined || last.role !== message.role || last.role === "system") return false
    return this.alternating || (this.binding && last.role === "assistant" && last.content.at(-1)?.type === "reasoning")
  }

  /** Reasoning that led to nothing goes, before what stands around it meets. */
  private dropLoose(): void {
    const last = this.runs.at(-1)
    const loose = this.binding &&
      last?.messages.every((message) =>
        message.role === "assistant" && message.content.every((part) => part.type === "reasoning")
      )
    if (loose) this.runs.pop()
  }
}

// =============================================================================
// First and last
// =============================================================================

/** A user message where the rules ask for one: a summary among the system messages, or else a short one of our own. */
const withUserFirst = (
  head: ReadonlyArray<Repaired>,
  body: ReadonlyArray<Repaired>,
  rules: Rules
): ReadonlyArray<Repaired> => {
  if (!needsUser(head, body, rules)) return [...head, ...body]
  const summaries = head.filter(({ message }) => tag.isSummary(message))
  if (summaries.length === 0) {
    return [...head, { message: Message.user(opening, tag.make("context", "inserted")), source: -1 }, ...body]
  }
  const run: Run = {
    messages: summaries.map(({ message }) =>
      Message.user(Message.parts(message) as ReadonlyArray<Message.TextPart>, message.options)
    ),
    source: summaries[0].source
  }
  return [...head.filter(({ message }) => !tag.isSummary(message)), finish(run, rules), ...body]
}

const needsUser = (head: ReadonlyArray<Repaired>, body: ReadonlyArray<Repaired>, rules: Rules): boolean => {
  if (body.length === 0) return head.length > 0 && asks(rules, "NoUser")
  const first = body[0].message
  if (first.role === "user") return false
  return asks(rules, "FirstNotUser") ||
    (asks(rules, "CallNotAfterUser") && Message.toolCalls(first).length > 0) ||
    (asks(rules, "NoUser") && !body.some(({ message }) => message.role === "user"))
}

const trimEnd = (messages: ReadonlyArray<Repaired>, rules: Rules): ReadonlyArray<Repaired> => {
  const last = messages.at(-1)
  if (last?.message.role !== "assistant" || !asks(rules, "TrailingWhiteSpace")) return messages
  const { message } = last
  const part = message.content.at(-1)
  if (part?.type !== "text" || part.text === part.text.trimEnd()) return messages
  const content = [...message.content.slice(0, -1), { ...part, text: part.text.trimEnd() }]
  return [...messages.slice(0, -1), { message: { ...message, content }, source: last.source }]
}
