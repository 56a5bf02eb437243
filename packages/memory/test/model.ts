/**
 * A memory as a few plain values: what it holds, what it has covered, when it asks its strategy again. Every message
 * takes one token.
 */
import { Message } from "effect-memory"
import * as naive from "./naive.js"

export type Mode = "summarizes" | "projects" | "fails" | "dies" | "hangs"

interface Entry extends naive.Recorded {
  readonly sequence: number
}

interface Projection {
  readonly version: number
  readonly budget: string
  readonly context: ReadonlyArray<Message.Message>
}

/** What a run of the strategy came to. */
type Outcome = "committed" | "projected" | "failed" | "nothing"

const one = () => 1

/** How long a strategy may take, in milliseconds. */
export const timeout = 10_000

const longestDelay = 300_000

export class Model {
  log: Array<Entry> = []
  mode: Mode = "summarizes"
  maxTokens: number | undefined
  maxRounds: number | undefined
  now = 0
  /** Entries before this one were cleared. */
  private cleared = 0
  private covered = new Set<number>()
  private standIn: Message.Message | undefined
  private summaries = 0
  private failures = 0
  private due = 0
  /** Moves with the view. */
  private version = 0
  private stuck: string | undefined
  /** What the strategy made of this version of the view, newest first: one for each of the last budgets. */
  private projections: ReadonlyArray<Projection> = []

  record(message: Message.Message, isProtected: boolean): void {
    this.log.push({ message, protected: isProtected, sequence: this.log.length })
    this.version++
  }

  setBudget(maxTokens: number | undefined, maxRounds: number | undefined): void {
    this.maxTokens = maxTokens
    this.maxRounds = maxRounds
  }

  clear(): void {
    this.cleared = this.log.length
    this.covered = new Set()
    this.standIn = undefined
    this.version++
  }

  restore(): void {
    this.covered = new Set()
    this.standIn = undefined
    this.version++
  }

  /** A write has failed: nobody knows what is stored, and the view is loaded again. */
  forget(): void {
    this.version++
  }

  /** Another memory over the same store: it knows nothing of failures. */
  reopen(): void {
    this.failures = 0
    this.due = 0
    this.stuck = undefined
    this.projections = []
  }

  history(): ReadonlyArray<Message.Message> {
    return this.log.slice(this.cleared).map(({ message }) => message)
  }

  view(): ReadonlyArray<naive.Recorded & { readonly sequence: number }> {
    const left = this.log.filter(({ sequence }) => sequence >= this.cleared && !this.covered.has(sequence))
    if (this.standIn === undefined) return left
    const before = left.filter(({ sequence }) => sequence < Math.min(...this.covered))
    const standIn = { message: this.standIn, protected: false, standIn: true, sequence: -1 }
    return [...before, standIn, ...left.slice(before.length)]
  }

  /** What a context is, after what it takes to get there. */
  context(): ReadonlyArray<Message.Message> {
    if (this.wouldRun()) this.run()
    if (this.isWithin()) return this.view().map(({ message }) => message)
    return this.projection()?.context ?? this.window(this.limits())
  }

  /** Whether a context asks the strategy. */
  wouldRun(): boolean {
    return !this.isWithin() && this.projection() === undefined && this.stuck !== this.stuckKey() &&
      this.now >= this.due
  }

  /** One run of the strategy; where it hangs, until its time is up. */
  run(): Outcome {
    const outcome = this.trim()
    if (outcome === "failed") {
      this.fail()
    } else {
      this.failures = 0
      this.due = 0
    }
    if (outcome === "committed") this.stuck = this.isWithin() ? undefined : this.stuckKey()
    return outcome
  }

  /** `compact`: the same whatever the budget, and it leaves no traces but a compaction or a failure. */
  force(): Outcome {
    const { projections } = this
    const outcome = this.trim()
    this.projections = projections
    if (outcome === "failed") this.fail()
    return outcome
  }

  private fail(): void {
    this.due = this.now + Math.min(longestDelay, 1000 * 2 ** this.failures)
    this.failures++
  }

  private trim(): Outcome {
    switch (this.mode) {
      case "hangs":
        this.now += timeout
        return "failed"
      case "fails":
      case "dies":
        return "failed"
      case "projects":
        this.keep(this.window({ tokens: 0, rounds: 1 }))
        return "projected"
      case "summarizes":
        return this.summarize()
    }
  }

  private summarize(): Outcome {
    const view = this.view()
    const rounds = naive.roundsOf(view)
    const covers = rounds.slice(0, -1).flatMap((round) =>
      round.placed.filter((place) => place.standIn || !naive.isPinned(round, place, "keep"))
    )
    this.summaries++
    if (covers.length === 0) {
      this.keep(this.window(this.limits()))
      return "nothing"
    }
    if (covers.length <= 1) return "failed"
    for (const { source } of covers) if (view[source].sequence >= 0) this.covered.add(view[source].sequence)
    this.standIn = summary(this.summaries)
    this.version++
    return "committed"
  }

  private window(limits: naive.Limits): ReadonlyArray<Message.Message> {
    return naive.windowOf(naive.roundsOf(this.view()), limits, one, 0).map(({ message }) => message)
  }

  private limits(): naive.Limits {
    return { tokens: this.maxTokens ?? Infinity, rounds: this.maxRounds ?? Infinity }
  }

  isWithin(): boolean {
    return naive.isWithin(naive.roundsOf(this.view()), this.limits(), one, 0)
  }

  private budget(): string {
    return `${this.maxTokens} tokens, ${this.maxRounds} rounds`
  }

  private projection(): Projection | undefined {
    return this.projections.find(({ budget, version }) => version === this.version && budget === this.budget())
  }

  private keep(context: ReadonlyArray<Message.Message>): void {
    const { version } = this
    const budget = this.budget()
    const others = this.projections.filter((known) => known.version === version && known.budget !== budget)
    this.projections = [{ version, budget, context }, ...others].slice(0, 4)
  }

  /** The newest round and the budget. */
  private stuckKey(): string {
    const view = this.view()
    const newest = naive.allRounds(view).at(-1)
    return `${newest === undefined ? -1 : view[newest.start].sequence} ${this.budget()}`
  }
}

/** What the strategy makes when it is called for the nth time in that mode. */
export const summary = (n: number): Message.Message => Message.system(`summary ${n}`)
