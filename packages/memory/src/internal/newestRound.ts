/**
 * The newest round and its repaired form. The form grows with the round; it is made anew only where a message may change
 * what stands before it.
 */
import type * as Message from "../Message.js"
import { formOf, type Forms, sameMessage } from "./forms.js"
import { Pairing } from "./pairing.js"
import { type Caller, onlyAdds, type Repaired, repairRound, type UsedIds } from "./repairRound.js"

/** @internal */
export interface Context {
  /** Whether contexts are repaired. */
  readonly repair: boolean
  /** Call ids of the rounds before. */
  readonly usedIds: Set<string>
  readonly forms: Forms
  readonly isCounted: (message: Message.Message) => boolean
  /** Tokens that a message is charged, as far as it is counted. */
  readonly charge: (message: Message.Message) => number
}

/** @internal */
export class NewestRound {
  /** As they were recorded. */
  readonly messages: Array<Message.Message> = []
  private readonly pairing = new Pairing()
  private form: Array<Repaired> | undefined = []
  /** Call ids up to the end of `form`. */
  private used: UsedIds
  private caller: Caller = noCaller
  /** Messages of `form` that are summed, the first ones, and their tokens. */
  private summed = 0
  private sum = 0

  constructor(private readonly context: Context) {
    this.used = new Overlay(context.usedIds)
  }

  /**
   * Takes the next message and tells the indices of those that are now known to open a round. `seen` is how it counts for
   * the order of rounds and results.
   */
  push(message: Message.Message, seen: Message.Message): ReadonlyArray<number> {
    const hadOpenCalls = this.pairing.hasOpenCalls
    const opened = this.pairing.push(seen)
    this.messages.push(message)
    const source = this.messages.length - 1
    const isAddition = opened.length === 0 && message === seen && this.form !== undefined &&
      (!this.context.repair || onlyAdds(message, source, this.pairing, hadOpenCalls, this.caller, this.used))
    if (isAddition) {
      this.form?.push({ message, source })
      if (message.role !== "tool") this.caller = { index: source, isLast: true }
    } else {
      this.form = undefined
      this.caller = noCaller
      this.summed = 0
      this.sum = 0
    }
    return opened
  }

  /** The repaired form as it is while nothing more comes. */
  get repaired(): ReadonlyArray<Repaired> {
    if (this.form !== undefined) return this.form
    this.used = new Overlay(this.context.usedIds)
    this.form = this.repair(0, this.messages.length, false, this.used)
    this.caller = this.findCaller(this.form)
    return this.form
  }

  /** The repaired form of a part of it to which nothing more comes. */
  settled(start: number, end: number): ReadonlyArray<Repaired> {
    return this.repair(start, end, true, this.context.usedIds)
  }

  /** Tokens of the repaired form, as far as they are counted. */
  get tokens(): number {
    let sum = 0
    for (const { message } of this.unsummed()) sum += this.context.charge(message)
    return this.sum + sum
  }

  /** What is not counted yet in the repaired form. */
  uncounted(): ReadonlyArray<Repaired> {
    return this.unsummed().filter(({ message }) => !this.context.isCounted(message))
  }

  /** How many messages the repaired form leaves out, rewrites or adds. */
  repairs(): number {
    const { messages, repaired } = this
    const isAsRecorded = repaired.length === messages.length &&
      repaired.every(({ message }, i) => message === messages[i])
    if (isAsRecorded) return 0
    const rewritten = repaired.reduce((sum, { message, source }) => message === messages[source] ? sum : sum + 1, 0)
    return rewritten + messages.length - new Set(repaired.map(({ source }) => source)).size
  }

  private unsummed(): ReadonlyArray<Repaired> {
    const { charge, isCounted } = this.context
    const { repaired } = this
    for (; this.summed < repaired.length && isCounted(repaired[this.summed].message); this.summed++) {
      this.sum += charge(repaired[this.summed].message)
    }
    return this.summed === repaired.length ? nothing : repaired.slice(this.summed)
  }

  private findCaller(form: ReadonlyArray<Repaired>): Caller {
    const index = this.messages.findLastIndex(({ role }) => role !== "tool")
    const at = form.findLastIndex(({ source }) => this.messages[source].role !== "tool")
    return { index, isLast: at >= 0 && form[at].source === index && form[at].message === this.messages[index] }
  }

  private repair(start: number, end: number, settled: boolean, used: UsedIds): Array<Repaired> {
    return this.context.repair
      ? repairRound(this.messages, this.pairing, { start, end }, settled, used).map((item) => this.reuse(item))
      : this.messages.slice(start, end).map((message, i) => ({ message, source: start + i }))
  }

  private reuse(item: Repaired): Repaired {
    const { message, source } = item
    const raw = this.messages[source]
    if (message === raw) return item
    const forms = this.context.forms.get(raw) ?? new Map<string, Message.Message>()
    const former = forms.get(formOf(message))
    if (former !== undefined && sameMessage(former, message)) return { message: former, source }
    this.context.forms.set(raw, forms.set(formOf(message), message))
    return item
  }
}

const noCaller: Caller = { index: -1, isLast: false }

const nothing: ReadonlyArray<Repaired> = []

/** Ids of earlier rounds below, those of the newest one above. */
class Overlay implements UsedIds {
  private above: Set<string> | undefined

  constructor(private readonly below: ReadonlySet<string>) {}

  has(id: string): boolean {
    return this.above?.has(id) === true || this.below.has(id)
  }

  add(id: string): void {
    this.above = (this.above ?? new Set()).add(id)
  }
}
