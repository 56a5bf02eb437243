/**
 * What a context is made from: the entries that no compaction covers and the messages that stand for the others, in
 * their repaired form, with running sums over the rounds. Free of effects; every operation is synchronous.
 *
 * Rounds before the newest one are settled: they are appended once and never touched again.
 */
import type { Floor } from "../MemoryPlan.js"
import * as Message from "../Message.js"
import type { Forms } from "./forms.js"
import { NewestRound } from "./newestRound.js"
import type { Repaired } from "./repairRound.js"
import * as window from "./window.js"

/** A message of the view as it was recorded. @internal */
export interface Raw {
  readonly message: Message.Message
  /** Sequence number of its entry; −1 for a message that stands for others. */
  readonly sequence: number
  readonly protected: boolean
}

/** A message of the repaired form. @internal */
export interface Item {
  readonly message: Message.Message
  /** Sequence number of the entry it comes from; −1 for a message that stands for others. */
  readonly sequence: number
  /** Belongs to a protected round. */
  readonly protected: boolean
  /** Stays while its round goes. */
  readonly pinned: boolean
  /** As it was recorded, not rewritten by repair. */
  readonly verbatim: boolean
  /** Tokens that it is charged. */
  readonly tokens: number
  /** Ordinal of its round. */
  readonly round: number
  /** Whether round limits count its round. */
  readonly counted: boolean
}

/** @internal */
export interface Options {
  /** Whether contexts are repaired. */
  readonly repair: boolean
  /** How system messages are treated: `keep` pins those of the preamble, `free` pins all and charges none. */
  readonly system: "keep" | "trim" | "free"
}

/** Counts by message reference, shared by everything that counts for one memory. @internal */
export type Counts = WeakMap<Message.Message, number>

/** An item whose tokens may not be known yet. @internal */
export type Unsummed = Omit<Item, "tokens" | "round" | "counted">

/** @internal */
export class View {
  /** All messages of the view as recorded. Append-only. */
  readonly raws: Array<Raw> = []
  private readonly items: Array<Unsummed> = []
  /** For each settled round: index of its first item. */
  private readonly roundStart: Array<number> = []
  private readonly roundPreamble: Array<boolean> = []
  private readonly roundProtected: Array<boolean> = []
  /** Indices of the pinned items of settled rounds, ascending. */
  private readonly pins: Array<number> = []
  private readonly usedIds = new Set<string>()

  /** Sums over settled rounds `0 … r`, as far as everything is counted. */
  private readonly tokensBefore: Array<number> = [0]
  private readonly roundsBefore: Array<number> = [0]
  private pinnedTokens = 0
  private settledRounds = 0
  private settledRepairs = 0

  /** Index in `raws` where the newest round begins. */
  private newestRaw = 0
  private newestPreamble = true
  /** Where nothing is left of it by repair, the round before it is the newest. */
  private newest: NewestRound

  constructor(
    private readonly options: Options,
    private readonly counts: Counts,
    private readonly forms: Forms = new WeakMap()
  ) {
    this.newest = this.open()
  }

  append(raw: Raw): void {
    this.raws.push(raw)
    const opened = this.newest.push(raw.message, inertIfStandIn(raw))
    if (opened.length === 0) return
    let start = 0
    for (const next of opened) {
      if (next > start) this.settle(start, next)
      this.newestPreamble = false
      start = next
    }
    if (start === 0) return
    this.newestRaw += start
    this.newest = this.open()
    for (let i = this.newestRaw; i < this.raws.length; i++) {
      this.newest.push(this.raws[i].message, inertIfStandIn(this.raws[i]))
    }
  }

  /** Items whose count is not known yet. */
  uncounted(): ReadonlyArray<Unsummed> {
    this.sum()
    const missing: Array<Unsummed> = []
    const from = this.roundStart[this.tokensBefore.length - 1] ?? this.items.length
    for (let i = from; i < this.items.length; i++) if (this.isUncounted(this.items[i])) missing.push(this.items[i])
    const newest = this.newest.uncounted()
    return newest.length === 0 ? missing : [...missing, ...this.newestItems(newest)]
  }

  /** Sequence number of the first message of the newest round: moves when a round begins. */
  get newestBegins(): number {
    return this.raws[this.newestRaw]?.sequence ?? -1
  }

  /** Rounds that limits count. */
  get rounds(): number {
    return this.settledRounds + (this.newestCounts ? 1 : 0)
  }

  /** Tokens of all messages, as far as they are counted; what is free of charge is left out. */
  get tokens(): number {
    this.sum()
    const summed = this.tokensBefore.length - 1
    let tokens = this.tokensBefore[summed] + this.pinnedTokens + this.newest.tokens
    const from = this.roundStart[summed] ?? this.items.length
    for (let i = from; i < this.items.length; i++) tokens += this.charge(this.items[i].message)
    return tokens
  }

  /** Number of messages in the repaired form. */
  get size(): number {
    return this.items.length + this.newest.repaired.length
  }

  /** Everything, in order. */
  all(): Array<Message.Message> {
    const out = new Array<Message.Message>(this.items.length)
    for (let i = 0; i < out.length; i++) out[i] = this.items[i].message
    for (const { message } of this.newest.repaired) out.push(message)
    return out
  }

  /** What the plain window keeps, pinned items, then everything from the first kept round on, and its tokens. */
  window(
    limits: window.Limits,
    overhead: number,
    target: window.Target
  ): { readonly messages: Array<Message.Message>; readonly tokens: number } {
    const tokens = this.tokens + overhead
    const excess = window.stepped(
      { tokens: tokens - limits.tokens, rounds: this.rounds - limits.rounds },
      limits,
      target
    )
    const droppable = this.newest.repaired.length > 0 ? this.roundStart.length : this.roundStart.length - 1
    const first = window.firstKept(this.tokensBefore, this.roundsBefore, droppable, excess)
    const from = this.roundStart[first] ?? this.items.length
    const messages: Array<Message.Message> = []
    for (let i = 0; i < this.pins.length && this.pins[i] < from; i++) messages.push(this.items[this.pins[i]].message)
    for (let i = from; i < this.items.length; i++) messages.push(this.items[i].message)
    for (const { message } of this.newest.repaired) messages.push(message)
    return { messages, tokens: tokens - this.tokensBefore[first] }
  }

  /** All items, in order. A copy. */
  snapshot(): ReadonlyArray<Item> {
    const out: Array<Item> = []
    this.roundStart.forEach((start, round) => {
      const end = this.roundStart[round + 1] ?? this.items.length
      const counted = !this.roundPreamble[round]
      for (let i = start; i < end; i++) out.push(this.toItem(this.items[i], round, counted))
    })
    for (const item of this.newestItems()) out.push(this.toItem(item, this.roundStart.length, this.newestCounts))
    return out
  }

  /** Written out, since a spread takes many times as long and a strategy sees all items at each context. */
  private toItem(item: Unsummed, round: number, counted: boolean): Item {
    const { message, pinned, sequence, verbatim } = item
    return {
      message,
      sequence,
      protected: item.protected,
      pinned,
      verbatim,
      tokens: this.charge(message),
      round,
      counted
    }
  }

  /** What must stay under the plain window, in tokens. */
  floor(overhead: number): Floor {
    let system = 0
    let summary = 0
    let pinned = 0
    let newest = this.newest.tokens
    const from = this.newest.repaired.length > 0 ? this.items.length : this.roundStart.at(-1) ?? 0
    for (const i of this.pins) {
      if (i >= from) break
      const item = this.items[i]
      const tokens = this.charge(item.message)
      if (item.sequence < 0) summary += tokens
      else if (item.protected) pinned += tokens
      else system += tokens
    }
    for (let i = from; i < this.items.length; i++) newest += this.charge(this.items[i].message)
    return {
      overhead,
      system,
      protected: pinned,
      summary,
      newest,
      total: overhead + system + pinned + summary + newest
    }
  }

  /** How many messages the repaired form leaves out, rewrites or adds. */
  repairs(): number {
    return this.settledRepairs + this.newest.repairs()
  }

  private readonly isUncounted = ({ message }: Unsummed): boolean => !this.counts.has(message)

  private get newestCounts(): boolean {
    return !this.newestPreamble && this.newest.repaired.length > 0
  }

  private charge(message: Message.Message): number {
    return this.options.system === "free" && message.role === "system" ? 0 : this.counts.get(message) ?? 0
  }

  private open(): NewestRound {
    return new NewestRound({
      repair: this.options.repair,
      usedIds: this.usedIds,
      forms: this.forms,
      isCounted: (message) => this.counts.has(message),
      charge: (message) => this.charge(message)
    })
  }

  private newestItems(of = this.newest.repaired): ReadonlyArray<Unsummed> {
    const isProtected = this.isProtected(0, this.raws.length - this.newestRaw)
    return this.toItems(of, this.newestPreamble, isProtected)
  }

  private isProtected(start: number, end: number): boolean {
    for (let i = start; i < end; i++) if (this.raws[this.newestRaw + i].protected) return true
    return false
  }

  private toItems(
    repaired: ReadonlyArray<Repaired>,
    preamble: boolean,
    isProtected: boolean
  ): ReadonlyArray<Unsummed> {
    return repaired.map(({ message, source }) => {
      const raw = this.raws[this.newestRaw + source]
      const system = message.role === "system" &&
        (this.options.system === "free" || (this.options.system === "keep" && preamble))
      return {
        message,
        sequence: raw.sequence,
        // What stands for others is merged into what comes next, wherever it stands.
        protected: isProtected && raw.sequence >= 0,
        pinned: isProtected || raw.sequence < 0 || system,
        verbatim: message === raw.message
      }
    })
  }

  private settle(start: number, end: number): void {
    const protectedRound = this.isProtected(start, end)
    const repaired = this.newest.settled(start, end)
    this.settledRepairs += end - start - new Set(repaired.map(({ source }) => source)).size
    // A round of which nothing is left is none.
    if (repaired.length === 0) return
    this.roundStart.push(this.items.length)
    this.roundPreamble.push(this.newestPreamble)
    if (!this.newestPreamble) this.settledRounds++
    this.roundProtected.push(protectedRound)
    for (const item of this.toItems(repaired, this.newestPreamble, protectedRound)) {
      if (item.pinned) this.pins.push(this.items.length)
      if (!item.verbatim) this.settledRepairs++
      this.items.push(item)
    }
  }

  /** Extends the sums over rounds that have been settled and counted since. */
  private sum(): void {
    for (let round = this.tokensBefore.length - 1; round < this.roundStart.length; round++) {
      const end = this.roundStart[round + 1] ?? this.items.length
      let tokens = 0
      for (let i = this.roundStart[round]; i < end; i++) if (!this.counts.has(this.items[i].message)) return
      for (let i = this.roundStart[round]; i < end; i++) {
        if (this.items[i].pinned) this.pinnedTokens += this.charge(this.items[i].message)
        else tokens += this.charge(this.items[i].message)
      }
      const counts = !this.roundPreamble[round]
      this.tokensBefore.push(this.tokensBefore[round] + tokens)
      this.roundsBefore.push(this.roundsBefore[round] + (counts && !this.roundProtected[round] ? 1 : 0))
    }
  }
}

/** What stands for others opens no round, whatever its role. */
const inertIfStandIn = (raw: Raw): Message.Message =>
  raw.sequence < 0 && raw.message.role === "user" ? Message.system("") : raw.message
