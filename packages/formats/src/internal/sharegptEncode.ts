/**
 * Messages into ShareGPT.
 */
import * as Either from "effect/Either"
import * as Message from "effect-memory/Message"
import type { Encoded } from "../Codec.js"
import type { Conversation } from "../Conversation.js"
import * as envelope from "./envelope.js"
import * as json from "./json.js"
import { append, queues } from "./lists.js"
import * as options from "./options.js"
import { resultText } from "./results.js"
import * as calls from "./sharegptCalls.js"
import { format, names } from "./sharegptDecode.js"

const marksOf = (of: { readonly options: Message.ProviderOptions }): json.JsonRecord => options.get(of, format)

const fieldsOf = (of: { readonly options: Message.ProviderOptions }): json.JsonRecord => {
  const { fields } = marksOf(of)
  return json.isRecord(fields) ? fields : {}
}

/** Messages, and the results that answer one group of calls brought together. */
type Step =
  | { readonly _tag: "Message"; readonly message: Message.Message }
  | {
    readonly _tag: "Results"
    readonly results: ReadonlyArray<Message.ToolResultPart>
    readonly first: Message.Message
  }

/** Results in a row, and the message that each stands in. */
interface Run {
  readonly results: ReadonlyArray<Message.ToolResultPart>
  readonly owners: ReadonlyMap<Message.ToolResultPart, Message.Message>
}

/** The tool messages from an index on, up to one that stands for itself. */
const runFrom = (messages: ReadonlyArray<Message.Message>, from: number): Run & { readonly end: number } => {
  const results: Array<Message.ToolResultPart> = []
  const owners = new Map<Message.ToolResultPart, Message.Message>()
  let end = from
  for (let next: Message.Message | undefined = messages[end]; next?.role === "tool"; next = messages[++end]) {
    if (marksOf(next).lone === true) break
    for (const result of next.content) {
      results.push(result)
      owners.set(result, next)
    }
  }
  return { results, owners, end }
}

/** Calls of one message that wait for their results. */
interface Group {
  readonly index: number
  readonly ids: ReadonlyArray<string>
}

/** Results by the group that they answer, in the order of its calls; those that answer none stand alone. */
const answers = (
  { owners, results }: Run,
  groups: Map<string, Group>,
  fallback: Message.Message
): ReadonlyArray<Step> => {
  const waiting = queues((result) => result.id, results)
  const answered = [...new Set(results.flatMap((result) => groups.get(result.id) ?? []))]
    .toSorted((a, b) => a.index - b.index)
  const used = new Set<Message.ToolResultPart>()
  const step = (found: ReadonlyArray<Message.ToolResultPart>): Step => ({
    _tag: "Results",
    results: found,
    first: owners.get(found[0]) ?? fallback
  })
  const steps = answered.flatMap(({ ids }) => {
    const found = ids.flatMap((id) => {
      groups.delete(id)
      return waiting.take(id) ?? []
    })
    for (const result of found) used.add(result)
    return found.length === 0 ? [] : [step(found)]
  })
  return [...steps, ...results.filter((result) => !used.has(result)).map((result) => step([result]))]
}

/**
 * Brings results in the order of the calls: an observation answers all calls of one message.
 */
const steps = (messages: ReadonlyArray<Message.Message>): ReadonlyArray<Step> => {
  const out: Array<Step> = []
  const groups = new Map<string, Group>()
  for (let i = 0; i < messages.length; i++) {
    const message = messages[i]
    if (message.role === "tool" && marksOf(message).lone !== true) {
      const run = runFrom(messages, i)
      append(out, answers(run, groups, message))
      i = run.end - 1
      continue
    }
    if (message.role === "user") groups.clear()
    const ids = Message.toolCalls(message).map((call) => call.id)
    for (const id of ids) groups.set(id, { index: i, ids })
    out.push({ _tag: "Message", message })
  }
  return out
}

const observation = (
  results: ReadonlyArray<Message.ToolResultPart>,
  marks: json.JsonRecord,
  lost: options.Ledger
): string => {
  const [first, ...others] = results.map((result) => result.result)
  if (others.length === 0 || (marks.shared === true && others.every((other) => other === null))) {
    return resultText(first, lost)
  }
  const list = [first, ...others]
  if (json.isString(marks.value)) {
    const parsed = json.parseInner(marks.value)
    if (Either.isRight(parsed) && json.same(parsed.right, list)) return marks.value
  }
  return Either.getOrElse(json.stringify(list), () => "")
}

const countLost = (message: Message.Message, lost: options.Ledger, reasoning: boolean): void => {
  for (const part of Message.parts(message)) {
    if (part.type === "file" && !json.isRecord(marksOf(part).block)) lost.add("file")
    if (part.type === "reasoning" && reasoning) lost.add("reasoning")
    if (part.type === "tool-call" && part.providerExecuted) lost.add("call that the provider ran itself")
    if (part.type === "tool-result") {
      if (part.providerExecuted) lost.add("result of a call that the provider ran itself")
      else if (part.isFailure) lost.add("whether a tool failed")
    }
  }
}

const text = (message: Message.Message): string =>
  Message.parts(message).flatMap((part) => part.type === "text" ? [part.text] : []).join("\n")

const hasText = (message: Message.Message): boolean => Message.parts(message).some((part) => part.type === "text")

// =============================================================================
// `conversations` of `from` and `value`
// =============================================================================

const said = (from: string, value: string, message: Message.Message): json.JsonRecord => ({
  from: json.isString(marksOf(message).from) ? marksOf(message).from : from,
  value,
  ...fieldsOf(message)
})

const results = (
  all: ReadonlyArray<Message.ToolResultPart>,
  first: Message.Message,
  lost: options.Ledger
): json.JsonRecord => said(names.result, observation(all, marksOf(first), lost), first)

const saidAll = (step: Step, lost: options.Ledger): ReadonlyArray<json.JsonRecord> => {
  if (step._tag === "Results") {
    lost.add("whether a tool failed", step.results.filter((result) => result.isFailure).length)
    return [results(step.results, step.first, lost)]
  }
  const { message } = step
  countLost(message, lost, true)
  switch (message.role) {
    case "system":
      return [said(names.system, message.content, message)]
    case "user":
      return [said(names.user, text(message), message)]
    case "tool":
      return message.content.map((result) => results([result], message, lost))
    case "assistant": {
      const called = Message.toolCalls(message)
      const answers = Message.toolResults(message)
      const call = called.length === 0 ? [] : [said(names.call, calls.write(called, marksOf(message).value), message)]
      const speech = hasText(message) || call.length === 0 ? [said(names.assistant, text(message), message)] : []
      return [...speech, ...call, ...answers.map((result) => results([result], message, lost))]
    }
  }
}

// =============================================================================
// `messages` of role and content
// =============================================================================

const part = (type: string, value: string, of: Message.Part): json.JsonRecord => ({ type, value, ...fieldsOf(of) })

const parts = (message: Message.Message): ReadonlyArray<json.JsonRecord> =>
  Message.parts(message).flatMap((one) => {
    const { block, type } = marksOf(one)
    if (json.isRecord(block)) return [block]
    switch (one.type) {
      case "text":
        return [part(json.isString(type) ? type : "text", one.text, one)]
      case "reasoning":
        return [part("reasoning", one.text, one)]
      case "tool-call":
        return one.providerExecuted ? [] : [part("tool_call", calls.write([one], marksOf(one).value), one)]
      default:
        return []
    }
  })

const row = (
  role: string,
  items: ReadonlyArray<json.JsonRecord>,
  message: Message.Message
): json.JsonRecord => {
  const plain = items.length === 1 && items[0].type === "text" && Object.keys(items[0]).length === 2
  const content = marksOf(message).content === "string" && plain ? items[0].value : items
  return { role, content, ...fieldsOf(message) }
}

const systemPart = (message: Message.Message & { readonly role: "system" }): ReadonlyArray<json.JsonRecord> => {
  const { block, content } = marksOf(message)
  if (content === "empty" && message.content === "") return []
  return [
    json.isRecord(block) && (message.content === "" || block.value === message.content)
      ? block
      : { type: "text", value: message.content }
  ]
}

const rows = (all: ReadonlyArray<Step>, lost: options.Ledger): ReadonlyArray<json.JsonRecord> => {
  const out: Array<json.JsonRecord> = []
  for (const step of all) {
    if (step._tag === "Results") {
      lost.add("whether a tool failed", step.results.filter((result) => result.isFailure).length)
      out.push(row("tool", [{ type: "text", value: observation(step.results, marksOf(step.first), lost) }], step.first))
      continue
    }
    const { message } = step
    countLost(message, lost, false)
    const previous = out[out.length - 1]
    if (message.role === "system" && marksOf(message).joins === true && Array.isArray(previous?.content)) {
      out[out.length - 1] = { ...previous, content: [...previous.content, ...systemPart(message)] }
    } else if (message.role === "system") {
      out.push(row("system", systemPart(message), message))
    } else if (message.role === "tool") {
      append(
        out,
        message.content.map((result) =>
          Array.isArray(result.result) && marksOf(message).lone === true
            ? { role: "tool", content: result.result, ...fieldsOf(message) }
            : row("tool", [{ type: "text", value: resultText(result.result, lost) }], message)
        )
      )
    } else {
      out.push(row(message.role, parts(message), message))
      for (const result of Message.toolResults(message)) {
        out.push({ role: "tool", content: [{ type: "text", value: resultText(result.result, lost) }] })
      }
    }
  }
  return out
}

/** @internal */
export const encode = (conversation: Conversation): Encoded => {
  const lost = options.ledger("lost")
  const { at, fields } = envelope.own(conversation, format, "conversations", lost)
  const [first] = conversation.messages
  const isPrompt = first?.role === "system" && marksOf(first).place === "system" && at === "conversations"
  const prompt = isPrompt ? { system: first.content } : {}
  const all = steps(isPrompt ? conversation.messages.slice(1) : conversation.messages)
  const list = at === "messages" ? rows(all, lost) : all.flatMap((step) => saidAll(step, lost))
  return { values: [envelope.wrap(at, { ...fields, ...prompt }, list)], notes: lost.notes() }
}
