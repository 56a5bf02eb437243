/**
 * One turn (record a message, then ask for the context of 4,000 tokens) with exact counts of o200k_base, at growing logs.
 * Beside it a class without Effect, written as one writes it by hand: the same encoder, counts cached by message, whole
 * rounds from the newest on until the budget is full. It runs synchronously and checks, stores, repairs and tells nothing.
 * Medians, in processor time, both in one run.
 *
 * Node 20.20 on two virtual cores that other work kept busy:
 *
 * | messages | plain class | memory | ratio |
 * | ---: | ---: | ---: | ---: |
 * | 100 | 5 µs | 116 µs | 23.0 |
 * | 1,000 | 5 µs | 118 µs | 24.3 |
 * | 10,000 | 5 µs | 84 µs | 17.7 |
 * | 100,000 | 5 µs | 109 µs | 21.6 |
 * | 1,000,000 | 5 µs | 138 µs | 28.3 |
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

/** A round of four messages as an agent has them, some 600 tokens in all. */
const message = (n: number): Message.Message => {
  const id = `call-${n >> 2}`
  switch (n % 4) {
    case 0:
      return Message.user(`Why is the test of module ${n} red? `.repeat(4))
    case 1:
      return Message.assistant([
        Message.text("I look at the log of the last run first."),
        Message.toolCall({ id, name: "read_file", params: { path: `logs/run-${n}.txt`, lines: 40 } })
      ])
    case 2:
      return Message.tool([
        Message.toolResult({ id, name: "read_file", result: `12:00:${n % 60} worker ${n} finished\n`.repeat(30) })
      ])
    default:
      return Message.assistant(`The fixture of module ${n} is older than its schema. `.repeat(6))
  }
}

/** What the log begins with: the same few rounds again and again, so that a million of them fit into memory. */
const pool = Array.from({ length: 4_000 }, (_, n) => message(n))

const textsOf = (message: Message.Message): ReadonlyArray<string> =>
  Message.parts(message).flatMap((part) => {
    switch (part.type) {
      case "text":
      case "reasoning":
        return [part.text]
      case "tool-call":
        return [part.name, JSON.stringify(part.params)]
      case "tool-result":
        return [typeof part.result === "string" ? part.result : JSON.stringify(part.result)]
      case "file":
        return []
    }
  })

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
    const tokens = textsOf(message).reduce((sum, text) => sum + this.count(text), 3)
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
