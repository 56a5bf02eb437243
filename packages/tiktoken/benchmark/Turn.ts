/**
 * One turn (record a message, then ask for the context of 4,000 tokens) with exact counts of o200k_base, at growing logs.
 *
 * Beside it two classes without Effect, with the same encoder. The plain class does what the memory does, with promises:
 * store and counter may be remote, one writer at a time, what is no message is refused, each message is counted once with
 * all its parts, rounds and open calls are known by id, the system prompt stays, and the cut is found by running sums. The
 * bare class is the least that finds the same messages: an array, counts cached by message, whole rounds from the newest on
 * until the budget is full; it runs synchronously and checks, stores and tells nothing.
 *
 * Medians of 40 runs of 50 turns in turn, in processor time, after 100 runs that are not measured, at each size. What has a
 * log that has grown by half is replaced by a new one.
 *
 * Node 20.20 on two virtual cores, so that ratios mean more than figures:
 *
 * | messages | bare class | plain class | memory | ÷ bare | ÷ plain |
 * | ---: | ---: | ---: | ---: | ---: | ---: |
 * | 100 | 5 µs | 8 µs | 24 µs | 4.5 | 2.8 |
 * | 1,000 | 4 µs | 7 µs | 16 µs | 3.8 | 2.4 |
 * | 10,000 | 4 µs | 8 µs | 20 µs | 4.5 | 2.6 |
 * | 100,000 | 6 µs | 9 µs | 22 µs | 3.8 | 2.6 |
 * | 1,000,000 | 5 µs | 7 µs | 19 µs | 4.0 | 2.5 |
 */
import { Effect, Layer, ManagedRuntime } from "effect"
import { Memory, MemoryStore, Message, TrimStrategy } from "effect-memory"
import { TiktokenCounter } from "../src/index.js"
import { load } from "../src/internal/load.js"
import { type Count, median, now } from "./support/counters.js"

const maxTokens = 4_000
const sizes = [100, 1_000, 10_000, 100_000, 1_000_000]

/** Turns in one measured run. */
const batch = 50
const runs = 40

/** Runs at each size before those that are measured, so that what runs is compiled for it. */
const warmUps = 100

/** A round of four messages as an agent has them, some 600 tokens in all. */
const message = (n: number): Message.Message => {
  const id = `call-${n >> 2}`
  switch (n % 4) {
    case 0:
      return Message.user(`Where does line ${n} stop after ten at night? `.repeat(3))
    case 1:
      return Message.assistant([
        Message.text("I look at the timetable of the harbour first."),
        Message.toolCall({ id, name: "read_timetable", params: { line: n, from: "22:00", stops: ["mill", "bridge"] } })
      ])
    case 2:
      return Message.tool([
        Message.toolResult({
          id,
          name: "read_timetable",
          result: `22:${n % 60} line ${n} leaves the harbour\n`.repeat(35)
        })
      ])
    default:
      return Message.assistant(`Line ${n} stops at the harbour, then at the bridge and the mill. `.repeat(8))
  }
}

/** What the log begins with: the same rounds again and again, so that a million messages fit into memory. */
const pool = Array.from({ length: 4_000 }, (_, n) => message(n))

const countMessage = (count: Count, message: Message.Message): number =>
  Message.parts(message).reduce((sum, part) => {
    switch (part.type) {
      case "text":
      case "reasoning":
        return sum + count(part.text)
      case "tool-call":
        return sum + count(part.name) + count(JSON.stringify(part.params))
      case "tool-result":
        return sum + count(typeof part.result === "string" ? part.result : JSON.stringify(part.result))
      case "file":
        return sum + 1_000
    }
  }, 3)

interface PlainStore {
  append(sequence: number, entry: { readonly message: Message.Message; readonly at: number }): Promise<void>
}

interface PlainCounter {
  count(message: Message.Message): Promise<number>
}

class PlainMemory {
  private readonly messages: Array<Message.Message> = []
  private readonly sums: Array<number> = [3]
  private readonly roundStarts: Array<number> = []
  private readonly open = new Set<string>()
  private readonly system: Array<number> = []
  private lastWrite: Promise<void> = Promise.resolve()

  constructor(private readonly store: PlainStore, private readonly counter: PlainCounter) {}

  async record(message: Message.Message): Promise<void> {
    if (!Message.isMessage(message)) throw new TypeError("not a message")
    const write = this.lastWrite.then(() => this.append(message))
    this.lastWrite = write.catch(() => undefined)
    await write
  }

  async context(): Promise<Array<Message.Message>> {
    while (this.sums.length <= this.messages.length) {
      const tokens = await this.counter.count(this.messages[this.sums.length - 1])
      this.sums.push(this.sums[this.sums.length - 1] + tokens)
    }
    const total = this.sums[this.sums.length - 1]
    if (total <= maxTokens) return this.messages.slice()
    const system = this.system.reduce((sum, i) => sum + this.sums[i + 1] - this.sums[i], this.sums[0])
    let low = 0
    let high = this.roundStarts.length - 1
    while (low < high) {
      const middle = (low + high) >>> 1
      if (total - this.sums[this.roundStarts[middle]] + system <= maxTokens) high = middle
      else low = middle + 1
    }
    const start = this.roundStarts[low]
    return [...this.system.filter((i) => i < start).map((i) => this.messages[i]), ...this.messages.slice(start)]
  }

  private async append(message: Message.Message): Promise<void> {
    await this.store.append(this.messages.length, { message, at: Date.now() })
    if (message.role === "user" && this.open.size === 0) this.roundStarts.push(this.messages.length)
    for (const call of Message.toolCalls(message)) this.open.add(call.id)
    for (const result of Message.toolResults(message)) this.open.delete(result.id)
    if (message.role === "system" && this.roundStarts.length === 0) this.system.push(this.messages.length)
    this.messages.push(message)
  }
}

class BareMemory {
  private readonly messages: Array<Message.Message> = []
  private readonly counts = new Map<Message.Message, number>()

  constructor(private readonly count: Count) {}

  record(message: Message.Message): void {
    this.messages.push(message)
  }

  context(): Array<Message.Message> {
    let tokens = 3
    let kept = this.messages.length
    for (let i = this.messages.length - 1; i >= 0; i--) {
      let known = this.counts.get(this.messages[i])
      if (known === undefined) {
        known = countMessage(this.count, this.messages[i])
        this.counts.set(this.messages[i], known)
      }
      tokens += known
      if (tokens > maxTokens) break
      if (this.messages[i].role === "user") kept = i
    }
    return this.messages.slice(kept)
  }
}

/** A batch of turns, and the end. */
interface Turns {
  readonly run: () => Promise<unknown>
  readonly dispose: () => Promise<void>
}

const { count } = await Effect.runPromise(load("o200k_base"))
const system = Message.system("You know the ferries.")
const nothing = (): Promise<void> => Promise.resolve()

/** Each goes on with rounds that are not in the pool. */
const from = (size: number): number => Math.ceil(Math.max(size, pool.length) / 4) * 4

const makeBare = async (size: number): Promise<Turns> => {
  const memory = new BareMemory(count)
  memory.record(system)
  for (let n = 0; n < size; n++) memory.record(pool[n % pool.length])
  memory.context()
  let next = from(size)
  return {
    run: async () => {
      for (const end = next + batch; next < end; next++) {
        memory.record(message(next))
        memory.context()
      }
    },
    dispose: nothing
  }
}

const makePlain = async (size: number): Promise<Turns> => {
  const log: Array<unknown> = []
  const memory = new PlainMemory({
    append: async (sequence, entry) => {
      if (sequence !== log.length) throw new Error("conflict")
      log.push(entry)
    }
  }, { count: async (message) => countMessage(count, message) })
  await memory.record(system)
  for (let n = 0; n < size; n++) await memory.record(pool[n % pool.length])
  await memory.context()
  let next = from(size)
  return {
    run: async () => {
      for (const end = next + batch; next < end; next++) {
        await memory.record(message(next))
        await memory.context()
      }
    },
    dispose: nothing
  }
}

const makeMemory = async (size: number): Promise<Turns> => {
  const MemoryLive = Memory.layer({ maxTokens }).pipe(
    Layer.provide([
      TiktokenCounter.layer({ encoding: "o200k_base" }),
      TrimStrategy.layerWindowDrop,
      MemoryStore.layerMemory
    ])
  )
  const runtime = ManagedRuntime.make(MemoryLive)
  const memory = await runtime.runPromise(Memory.Memory)
  await runtime.runPromise(memory.record(system))
  for (let n = 0; n < size; n += pool.length) {
    await runtime.runPromise(memory.recordAll(pool.slice(0, Math.min(pool.length, size - n))))
  }
  await runtime.runPromise(memory.context)
  let next = from(size)
  const turn = Effect.suspend(() => Effect.zipRight(memory.record(message(next++)), memory.context))
  return {
    run: () => runtime.runPromise(Effect.repeatN(turn, batch - 1)),
    dispose: () => runtime.dispose()
  }
}

/** One of those compared, and microseconds of processor time that its turns took. */
interface Side {
  readonly make: (size: number) => Promise<Turns>
  readonly times: Array<number>
  turns: Turns
  /** Turns until its log has grown by half. */
  room: number
}

const runOnce = async (side: Side, size: number): Promise<void> => {
  if (side.room < batch) {
    await side.turns.dispose()
    side.turns = await side.make(size)
    side.room = size / 2
  }
  side.room -= batch
  const start = now()
  await side.turns.run()
  side.times.push((now() - start) * 1_000 / batch)
}

/** In turn, so that all meet the same phases of the machine. */
const measure = async (size: number): Promise<ReadonlyArray<number>> => {
  const sides: Array<Side> = []
  for (const make of [makeBare, makePlain, makeMemory]) {
    sides.push({ make, times: [], turns: await make(size), room: size / 2 })
  }
  globalThis.gc?.()
  for (let i = 0; i < warmUps + runs; i++) for (const side of sides) await runOnce(side, size)
  for (const { turns } of sides) await turns.dispose()
  return sides.map(({ times }) => median(times.slice(warmUps)))
}

await measure(100_000)

console.log("| messages | bare class | plain class | memory | ÷ bare | ÷ plain |")
console.log("| ---: | ---: | ---: | ---: | ---: | ---: |")
for (const size of sizes) {
  const [bare, plain, memory] = await measure(size)
  console.log(
    `| ${size.toLocaleString("en")} | ${bare.toFixed(0)} µs | ${plain.toFixed(0)} µs | ${memory.toFixed(0)} µs | ${
      (memory / bare).toFixed(1)
    } | ${(memory / plain).toFixed(1)} |`
  )
}
