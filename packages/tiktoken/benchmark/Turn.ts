/**
 * One turn (record a message, then ask for the context of 4,000 tokens) with exact counts of o200k_base, at growing logs.
 * Beside it a class without Effect, written as one writes it by hand: the same encoder, counts cached by message, whole
 * rounds from the newest on until the budget is full. It runs synchronously and checks, stores, repairs and tells nothing.
 * Medians, in processor time, both in one run.
 *
 * Node 20.20 on two virtual cores, one run, in which the first size pays for what is compiled late:
 *
 * | messages | plain class | memory | ratio |
 * | ---: | ---: | ---: | ---: |
 * | 100 | 4 µs | 136 µs | 37.6 |
 * | 1,000 | 4 µs | 45 µs | 12.8 |
 * | 10,000 | 4 µs | 41 µs | 11.6 |
 * | 100,000 | 3 µs | 71 µs | 20.9 |
 * | 1,000,000 | 6 µs | 88 µs | 15.0 |
 */
import { Effect, Layer, ManagedRuntime } from "effect"
import { Memory, MemoryStore, Message, TrimStrategy } from "effect-memory"
import { TiktokenCounter } from "../src/index.js"
import { load } from "../src/internal/load.js"
import { median, now } from "./support/counters.js"

const maxTokens = 4_000
const sizes = [100, 1_000, 10_000, 100_000, 1_000_000]

/** Turns in one measured run. */
const batch = 50
const runs = 40

/** A question and an answer, some 250 tokens in all. */
const message = (n: number): Message.Message =>
  n % 2 === 0
    ? Message.user(`Where does line ${n} stop after ten at night? `.repeat(4))
    : Message.assistant(`Line ${n} stops at the harbour, then at the bridge and the mill. `.repeat(12))

/** What the log begins with: the same few rounds again and again, so that a million of them fit into memory. */
const pool = Array.from({ length: 4_000 }, (_, n) => message(n))

class PlainMemory {
  private readonly messages: Array<Message.Message> = []
  private readonly counts = new Map<Message.Message, number>()

  constructor(private readonly count: (text: string) => number) {}

  record(message: Message.Message): void {
    this.messages.push(message)
  }

  context(): Array<Message.Message> {
    let tokens = 3
    let kept = this.messages.length
    for (let i = this.messages.length - 1; i >= 0; i--) {
      tokens += this.countMessage(this.messages[i])
      if (tokens > maxTokens) break
      if (this.messages[i].role === "user") kept = i
    }
    return this.messages.slice(kept)
  }

  private countMessage(message: Message.Message): number {
    const known = this.counts.get(message)
    if (known !== undefined) return known
    const tokens = Message.parts(message).reduce(
      (sum, part) => part.type === "text" ? sum + this.count(part.text) : sum,
      3
    )
    this.counts.set(message, tokens)
    return tokens
  }
}

type Run = () => Promise<void>

let next = pool.length

const makePlain = async (size: number): Promise<Run> => {
  const memory = new PlainMemory((await Effect.runPromise(load("o200k_base"))).count)
  for (let n = 0; n < size; n++) memory.record(pool[n % pool.length])
  return async () => {
    for (let i = 0; i < batch; i++) {
      memory.record(message(next++))
      memory.context()
    }
  }
}

const makeOurs = async (size: number): Promise<Run> => {
  const MemoryLive = Memory.layer({ maxTokens }).pipe(
    Layer.provide([
      TiktokenCounter.layer({ encoding: "o200k_base" }),
      TrimStrategy.layerWindowDrop,
      MemoryStore.layerMemory
    ])
  )
  const runtime = ManagedRuntime.make(MemoryLive)
  const memory = await runtime.runPromise(Memory.Memory)
  for (let n = 0; n < size; n += pool.length) {
    await runtime.runPromise(memory.recordAll(pool.slice(0, Math.min(pool.length, size - n))))
  }
  await runtime.runPromise(memory.context)
  const turn = Effect.suspend(() => Effect.zipRight(memory.record(message(next++)), memory.context))
  return () => runtime.runPromise(Effect.asVoid(Effect.repeatN(turn, batch - 1)))
}

const measure = async (run: Run): Promise<number> => {
  const times: Array<number> = []
  for (let i = 0; i < runs; i++) {
    const start = now()
    await run()
    times.push((now() - start) / batch)
  }
  return median(times)
}

for (const run of [await makePlain(100), await makeOurs(100)]) for (let i = 0; i < 10 * runs; i++) await run()

console.log("| messages | plain class | memory | ratio |")
console.log("| ---: | ---: | ---: | ---: |")
for (const size of sizes) {
  const plain = await measure(await makePlain(size))
  const ours = await measure(await makeOurs(size))
  console.log(
    `| ${size.toLocaleString("en")} | ${(plain * 1000).toFixed(0)} µs | ${(ours * 1000).toFixed(0)} µs | ${
      (ours / plain).toFixed(1)
    } |`
  )
}
