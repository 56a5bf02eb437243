/**
 * One turn (record, then context) at growing logs, against a plain class that does the same without Effect.
 */
import { Effect } from "effect"
import { Memory, Message } from "effect-memory"

import { countCharacters } from "../src/internal/characters.js"

const maxTokens = 4000
const sizes = [100, 1_000, 10_000, 100_000]
const turns = 2000

/** Counts are cached; the window is walked from its newest message, as one would write it by hand. */
class PlainWindow {
  private readonly messages: Array<Message.Message> = []
  private readonly counts: Array<number> = []
  record(message: Message.Message) {
    const [part] = message.content as ReadonlyArray<Message.TextPart>
    this.messages.push(message)
    this.counts.push(countCharacters(part.text))
  }
  context(): Array<Message.Message> {
    let sum = 0
    let start = this.messages.length
    for (let i = this.messages.length - 1; i >= 0; i--) {
      sum += this.counts[i]
      if (sum > maxTokens) break
      if (this.messages[i].role === "user") start = i
    }
    return this.messages.slice(start)
  }
}

const text = (n: number) => `message ${n} `.repeat(3 + n % 20)
const message = (n: number) => n % 2 === 0 ? Message.user(text(n)) : Message.assistant(text(n))
const log = Array.from({ length: Math.max(...sizes) }, (_, n) => message(n))
const next = Array.from({ length: turns }, (_, n) => message(n))

const median = (samples: ReadonlyArray<number>) => Array.from(samples).sort((a, b) => a - b)[samples.length >> 1]

const plain = (size: number) => {
  const memory = new PlainWindow()
  for (const entry of log.slice(0, size)) memory.record(entry)
  const samples: Array<number> = []
  for (const entry of next) {
    const start = performance.now()
    memory.record(entry)
    memory.context()
    samples.push(performance.now() - start)
  }
  return median(samples) * 1000
}

const ours = (size: number) =>
  Effect.gen(function*() {
    const memory = yield* Memory.Memory
    yield* memory.recordAll(log.slice(0, size))
    yield* memory.context
    const samples: Array<number> = []
    for (const entry of next) {
      const start = performance.now()
      yield* memory.record(entry)
      yield* memory.context
      samples.push(performance.now() - start)
    }
    return median(samples) * 1000
  }).pipe(Effect.provide(Memory.layerWindow({ maxTokens })), Effect.runPromise)

for (const size of sizes) {
  const a = plain(size)
  const b = await ours(size)
  console.log(
    `${String(size).padStart(7)} messages: plain ${a.toFixed(1)} µs, memory ${b.toFixed(1)} µs, ratio ${
      (b / a).toFixed(2)
    }`
  )
}
