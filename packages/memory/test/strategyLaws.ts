/**
 * What every context must be, whatever the strategy, told by the store, the recorded messages and their tags.
 *
 * Every part is tagged with the number of its message and its own, so that it is known again in any form.
 */
import { assert } from "@effect/vitest"
import { type MemoryStore, Message, Transcript } from "effect-memory"
import type { Entry } from "./generators.js"
import { provenanceOf } from "./summarizing.js"
import { assertMessages } from "./utilities.js"

/** What a strategy may do. */
export interface Abilities {
  /** What becomes of system messages. */
  readonly system: "keep" | "trim" | "free"
  /** Clears results. */
  readonly clears: boolean
  /** Shortens parts. */
  readonly shortens: boolean
  /** Summarizes. */
  readonly materializes: boolean
  /** What it leaves out inside the newest round. */
  readonly insideNewest: boolean
}

// =============================================================================
// Tags
// =============================================================================

const tagged = <P extends Message.Part>(part: P, tag: string): P =>
  // Blank reasoning without options is empty: a tag would make it more than that.
  part.type === "reasoning" && part.text.trim() === "" && Object.keys(part.options).length === 0
    ? part
    : { ...part, options: { ...part.options, test: { tag } } }

/** A message whose parts say where they were recorded. */
export const tagMessage = (message: Message.Message, sequence: number): Message.Message => {
  switch (message.role) {
    case "system":
      return { ...message, options: { ...message.options, test: { tag: `${sequence}.0` } } }
    case "user":
      return { ...message, content: message.content.map((part, i) => tagged(part, `${sequence}.${i}`)) }
    case "assistant":
      return { ...message, content: message.content.map((part, i) => tagged(part, `${sequence}.${i}`)) }
    case "tool":
      return { ...message, content: message.content.map((part, i) => tagged(part, `${sequence}.${i}`)) }
  }
}

/** Parts with their tags; those that nobody recorded have none. A system message is one part. */
const partsOf = (
  message: Message.Message
): ReadonlyArray<{ readonly tag: string | undefined; readonly part: Message.Part }> =>
  Message.parts(message).map((part) => ({
    tag: (message.role === "system" ? message.options : part.options)["test"]?.["tag"] as string | undefined,
    part
  }))

export const tagsOf = (message: Message.Message): ReadonlyArray<string> =>
  partsOf(message).flatMap(({ tag }) => tag === undefined ? [] : [tag])

const sequenceOf = (tag: string): number => Number(tag.split(".")[0])

// =============================================================================
// The view
// =============================================================================

/** The view, as the store has it. */
export interface Model {
  /** In the repaired form. */
  readonly messages: ReadonlyArray<Message.Message>
  readonly standIns: ReadonlyArray<Message.Message>
  /** Sequence numbers of entries in protected rounds. */
  readonly protected: ReadonlySet<number>
  /** Sequence numbers of the newest round. */
  readonly newest: ReadonlySet<number>
  /** Sequence numbers of the preamble. */
  readonly preamble: ReadonlySet<number>
  /** The round of each entry. */
  readonly roundOf: ReadonlyMap<number, number>
  /** Tags of the newest group and of open calls in the newest round, their results included. */
  readonly live: ReadonlySet<string>
}

export const modelOf = ({ compaction, entries }: MemoryStore.Snapshot): Model => {
  const behind = entries.findIndex(({ sequence }) => compaction !== undefined && sequence > compaction.from)
  const at = behind < 0 ? entries.length : behind
  const standIns = compaction?.messages ?? []
  const raws = [
    ...entries.slice(0, at),
    ...standIns.map((message) => ({ message, sequence: -1, protected: false })),
    ...entries.slice(at)
  ]
  const rounds = Transcript.rounds(raws.map(({ message }) => message))
  const inside = rounds.map(({ end, start }) => raws.slice(start, end).filter(({ sequence }) => sequence >= 0))
  const sequences = (chosen: ReadonlyArray<typeof inside[number]>) =>
    new Set(chosen.flatMap((entries) => entries.map(({ sequence }) => sequence)))
  const messages = Transcript.repair(raws.map(({ message }) => message), "pairing")
  // A round of which nothing can be sent is no round.
  const sendable = new Set(messages.flatMap(tagsOf).map(sequenceOf))
  const newest = sequences(
    inside.filter((entries) => entries.some(({ sequence }) => sendable.has(sequence))).slice(-1)
  )
  return {
    messages,
    standIns,
    protected: sequences(inside.filter((entries) => entries.some((entry) => entry.protected))),
    newest,
    preamble: sequences(inside.filter((_, i) => rounds[i].preamble)),
    roundOf: new Map(inside.flatMap((entries, i) => entries.map(({ sequence }) => [sequence, i] as const))),
    live: liveOf(messages, newest)
  }
}

/** Groups of a repaired sequence: an assistant message and the tool messages right behind it that answer it. */
const groupsOf = (messages: ReadonlyArray<Message.Message>) =>
  messages.flatMap((message, i) => {
    if (message.role !== "assistant") return []
    const calls = Message.toolCalls(message).map(({ id }) => id)
    const results: Array<Message.Message> = []
    for (let j = i + 1; messages[j]?.role === "tool"; j++) results.push(messages[j])
    // What only closes a call may still give way to its result.
    const answers = [message, ...results].flatMap(Message.toolResults)
      .filter(({ options }) => options["effect-memory"]?.["closes"] === undefined)
    const answered = new Set(answers.map(({ id }) => id))
    return [{ messages: [message, ...results], open: calls.some((id) => !answered.has(id)) }]
  })

const liveOf = (messages: ReadonlyArray<Message.Message>, newest: ReadonlySet<number>): ReadonlySet<string> => {
  const groups = groupsOf(messages).filter(({ messages: [assistant] }) =>
    tagsOf(assistant).some((tag) => newest.has(sequenceOf(tag)))
  )
  return new Set(
    groups.filter(({ open }, i) => open || i === groups.length - 1).flatMap(({ messages }) => messages.flatMap(tagsOf))
  )
}

// =============================================================================
// The laws
// =============================================================================

/** Cheap enough to be called a million times. */
const must = (holds: boolean, law: string): void => {
  if (!holds) assert.fail(law)
}

/** Calls with their results right behind them; only calls of the newest round are open. */
const checkGroups = (context: ReadonlyArray<Message.Message>, model: Model): void => {
  const owed = new Set<string>()
  for (const message of context) {
    const results = Message.toolResults(message).map(({ id }) => id)
    if (message.role === "tool") {
      must(results.length > 0, "a tool message without results")
      for (const id of results) must(owed.delete(id), "a result without its call right before it")
      continue
    }
    const isNewest = tagsOf(message).some((tag) => model.newest.has(sequenceOf(tag)))
    const isBeside = message.role === "system" || Message.isSummary(message)
    must(owed.size === 0 || isNewest || isBeside, "an old call without its result")
    const isTurn = message.role === "user" && provenanceOf(message) === undefined
    must(owed.size === 0 || !isTurn, "a call without its result before a user message")
    owed.clear()
    for (const { id } of Message.toolCalls(message)) owed.add(id)
    for (const id of results) must(owed.delete(id), "a result that answers another message")
  }
}

const placeholder = "[Result cleared to save space. Call the tool again if it is needed.]"

/** A part as it was recorded, or cleared, or shortened. Calls may have got another id. */
const checkForm = (part: Message.Part, recorded: Message.Part, live: boolean, abilities: Abilities): void => {
  if (part === recorded) return
  const before = "id" in recorded && "id" in part ? { ...recorded, id: part.id } : recorded
  const isCleared = part.options["effect-memory"]?.["cleared"] === true
  if (isCleared) {
    assert.isTrue(abilities.clears && recorded.type === "tool-result")
    assert.isFalse(live, "a result of the newest group or of an open one was cleared")
    assert.deepStrictEqual(
      { ...part, options: { ...part.options, "effect-memory": undefined } },
      { ...before, result: placeholder, options: { ...before.options, "effect-memory": undefined } } as Message.Part
    )
    return
  }
  const field = part.type === "text" ? "text" : part.type === "tool-call" ? "params" : "result"
  const changed = abilities.shortens && part.type !== "reasoning" && part.type !== "file"
  assert.deepStrictEqual(
    changed ? { ...part, [field]: undefined } : part,
    changed ? { ...before, [field]: undefined } as Message.Part : before
  )
}

/** What a summarizer is given, as it was recorded. */
export const checkOriginals = (messages: ReadonlyArray<Message.Message>, log: ReadonlyArray<Entry>): void => {
  const none: Abilities = { system: "keep", clears: false, shortens: false, materializes: false, insideNewest: false }
  for (const { part, tag } of messages.flatMap(partsOf)) {
    if (tag !== undefined) checkForm(part, recordedAt(tag, log), false, none)
  }
}

const recordedAt = (tag: string, log: ReadonlyArray<Entry>): Message.Part =>
  Message.parts(log[sequenceOf(tag)].message)[Number(tag.split(".")[1])]

export interface Limits {
  readonly maxTokens: number | undefined
  readonly maxRounds: number | undefined
}

const tokensOf = (
  messages: ReadonlyArray<Message.Message>,
  count: (message: Message.Message) => number,
  overhead: number,
  { system }: Abilities
): number =>
  messages.reduce(
    (sum, message) => system === "free" && message.role === "system" ? sum : sum + count(message),
    overhead
  )

/** Free system messages that are left of a round make none. */
const roundsOf = (messages: ReadonlyArray<Message.Message>, model: Model, { system }: Abilities): number =>
  new Set(
    messages.filter(({ role }) => role !== "system" || system !== "free").flatMap(tagsOf).map(sequenceOf).filter((
      sequence
    ) => !model.preamble.has(sequence))
      .map((sequence) => model.roundOf.get(sequence))
  ).size

export const isOver = (
  messages: ReadonlyArray<Message.Message>,
  model: Model,
  limits: Limits,
  counter: { readonly count: (message: Message.Message) => number; readonly overhead: number },
  abilities: Abilities
): boolean =>
  tokensOf(messages, counter.count, counter.overhead, abilities) > (limits.maxTokens ?? Infinity) ||
  roundsOf(messages, model, abilities) > Math.max(1, limits.maxRounds ?? Infinity)

/** What no strategy may leave out for the sake of the budget. */
const inFloor = (message: Message.Message, model: Model, abilities: Abilities): boolean => {
  if (provenanceOf(message) !== undefined) return true
  const sequences = tagsOf(message).map(sequenceOf)
  // What repair has put in has no tag: it belongs to the group before it.
  if (sequences.length === 0) return true
  return sequences.some((sequence) => {
    if (model.protected.has(sequence)) return true
    if (message.role === "system") {
      if (abilities.system === "free") return true
      if (abilities.system === "keep" && model.preamble.has(sequence)) return true
    }
    if (!model.newest.has(sequence)) return false
    return !abilities.insideNewest || ["user", "system"].includes(message.role) ||
      tagsOf(message).some((tag) => model.live.has(tag))
  })
}

/** A context against the view that it comes from. */
export const checkContext = (
  context: ReadonlyArray<Message.Message>,
  model: Model,
  log: ReadonlyArray<Entry>,
  limits: Limits,
  counter: { readonly count: (message: Message.Message) => number; readonly overhead: number },
  abilities: Abilities
): void => {
  const places = new Map(model.messages.flatMap(tagsOf).map((tag, i) => [tag, i]))
  const tags = context.flatMap(tagsOf)

  // Order, and nothing twice: a selection from the view.
  const order = tags.map((tag) => places.get(tag) ?? -1)
  order.forEach((place, i) => {
    must(place >= 0, `${tags[i]} is not in the view`)
    must(i === 0 || place > order[i - 1], `${tags[i]} is out of order or there twice`)
  })

  checkGroups(context, model)

  // Every form that may be.
  for (const { part, tag } of context.flatMap(partsOf)) {
    if (tag === undefined) continue
    const sequence = sequenceOf(tag)
    const whole = model.protected.has(sequence) ? { ...abilities, clears: false, shortens: false } : abilities
    checkForm(part, recordedAt(tag, log), model.live.has(tag), whole)
  }

  // Protected rounds, the user messages of the newest round, its newest group and its open calls are there.
  const there = new Set(tags)
  for (const message of model.messages) {
    for (const tag of tagsOf(message)) {
      const sequence = sequenceOf(tag)
      const isPinned = message.role === "system" && (abilities.system === "free" ||
        (abilities.system === "keep" && model.preamble.has(sequence)))
      const stays = model.protected.has(sequence) || model.live.has(tag) || isPinned ||
        (model.newest.has(sequence) && (message.role === "user" || !abilities.insideNewest))
      must(!stays || there.has(tag), `${tag} must stay`)
    }
  }

  // The current summary is there, once, where it stands in the view.
  const summaries = context.filter((message) => provenanceOf(message) !== undefined)
  assert.deepStrictEqual(summaries, model.standIns.slice())
  if (summaries.length > 0) {
    const before = (messages: ReadonlyArray<Message.Message>) =>
      messages.slice(0, messages.indexOf(summaries[0])).flatMap(tagsOf)
    const allowed = new Set(before(model.messages))
    assert.isTrue(before(context).every((tag) => allowed.has(tag)), "something older stands behind the summary")
    assert.strictEqual(before(context).length, tags.filter((tag) => allowed.has(tag)).length)
  }

  // The budget, unless what must stay is over it.
  if (isOver(context, model, limits, counter, abilities)) {
    // Groups of the newest round are no help against a limit of rounds.
    const byTokens = isOver(context, model, { ...limits, maxRounds: undefined }, counter, abilities)
    const floor = { ...abilities, insideNewest: abilities.insideNewest && byTokens }
    assert.isTrue(
      context.every((message) => inFloor(message, model, floor)),
      "over the budget with something that could have gone"
    )
  }
  if (!isOver(model.messages, model, limits, counter, abilities)) {
    assertMessages(context, model.messages)
  }
}
