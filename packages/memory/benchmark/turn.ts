/**
 * One turn (record a message, then ask for the context) at growing logs, against a class without Effect that does the
 * same with promises: store and counter may be remote, one writer at a time, what is no message is refused, each message
 * is counted once with all its parts, rounds and open calls are known by id, the system prompt stays, and the cut is
 * found by running sums.
 */
import { Effect, ManagedRuntime } from "effect"
import { Memory, Message } from "effect-memory"
import { Bench } from "tinybench"
import { countCharacters } from "../src/internal/characters.js"

const maxTokens = 4000
const sizes = [100, 1_000, 10_000, 100_000]

interface PlainStore {
  append(sequence: number, entry: { readonly message: Message.Message; readonly at: number }): Promise<void>
}

interface PlainCounter {
  count(message: Message.Message): Promise<number>
}

class PlainWindow {
  private readonly messages: Array<Message.Message> = []
  private readonly sums: Array<number> = [0]
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
    const system = this.system.reduce((sum, i) => sum + this.sums[i + 1] - this.sums[i], 0)
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

const plainStore = (): PlainStore => {
  const log: Array<unknown> = []
  return {
    append: async (sequence, entry) => {
      if (sequence !== log.length) throw new Error("conflict")
      log.push(entry)
    }
  }
}

const plainCounter: PlainCounter = {
  count: async (message) =>
    Message.parts(message).reduce((sum, part) => {
      switch (part.type) {
        case "text":
        case "reasoning":
          return sum + countCharacters(part.text)
        case "tool-call":
          return sum + countCharacters(part.name) + countCharacters(JSON.stringify(part.params))
        case "tool-result":
          return sum + countCharacters(typeof part.result === "string" ? part.result : JSON.stringify(part.result))
        case "file":
          return sum + 1000
      }
    }, 0)
}

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
        Message.toolResult({ id, name: "read_file", result: `12:00:${n % 60} worker ${n} finished\n`.repeat(60) })
      ])
    default:
      return Message.assistant(`The fixture of module ${n} is older than its schema. `.repeat(6))
  }
}

const log = Array.from({ length: Math.max(...sizes) }, (_, n) => message(n))

/** Turns in one measured run, so that starting a fiber does not count. */
const batch = 100

/** Runs on memories of their own, so that what is measured is compiled and the logs keep their size. */
const warmUps = 400

/** How often each is measured, one after the other. */
const passes = 9

const makePlain = async (size: number) => {
  const memory = new PlainWindow(plainStore(), plainCounter)
  await memory.record(Message.system("You fix tests."))
  for (const entry of log.slice(0, size)) await memory.record(entry)
  await memory.context()
  let n = size
  return async () => {
    for (const end = n + batch; n < end; n++) {
      await memory.record(message(n))
      await memory.context()
    }
  }
}

const makeOurs = async (size: number) => {
  const runtime = ManagedRuntime.make(Memory.layerWindow({ maxTokens }))
  const memory = await runtime.runPromise(Memory.Memory)
  await runtime.runPromise(memory.recordAll([Message.system("You fix tests."), ...log.slice(0, size)]))
  await runtime.runPromise(memory.context)
  let n = size
  return () =>
    runtime.runPromise(Effect.gen(function*() {
      for (const end = n + batch; n < end; n++) {
        yield* memory.record(message(n))
        yield* memory.context
      }
    }))
}

for (const run of [await makePlain(100), await makeOurs(100)]) {
  for (let i = 0; i < warmUps; i++) await run()
}

const runs = await Promise.all(
  sizes.map(async (size) => ({ size, plain: await makePlain(size), memory: await makeOurs(size) }))
)

/** Microseconds of a turn, in the median of some runs. */
const measure = async (run: () => Promise<void>): Promise<number> => {
  const bench = new Bench({ time: 0, iterations: 10, warmupTime: 0, warmupIterations: 2 }).add("turn", run)
  await bench.run()
  return bench.getTask("turn")!.result!.latency.p50! * 1000 / batch
}

const median = (values: ReadonlyArray<number>): number => values.toSorted((a, b) => a - b)[values.length >> 1]

// In turn, since the speed of a machine changes within a second.
const measured = runs.map(({ size }) => ({ size, plain: new Array<number>(), memory: new Array<number>() }))
for (let pass = 0; pass < passes; pass++) {
  for (const [i, { memory, plain }] of runs.entries()) {
    measured[i].plain.push(await measure(plain))
    measured[i].memory.push(await measure(memory))
  }
}

const shortest = median(measured[0].memory)
for (const { memory, plain, size } of measured) {
  const ratio = median(memory.map((time, pass) => time / plain[pass]))
  console.log(
    `${String(size).padStart(7)} messages: plain ${median(plain).toFixed(1)} µs, memory ${
      median(memory).toFixed(1)
    } µs, ` +
      `ratio ${ratio.toFixed(1)}, against the shortest log ${(median(memory) / shortest).toFixed(2)}`
  )
}
