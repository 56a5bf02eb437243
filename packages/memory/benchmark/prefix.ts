/**
 * How many requests of an agent keep the whole context before as their prefix, which is what a provider caches, and how
 * much of what is sent stands in that prefix.
 *
 * strategy                      target  requests  whole prefix kept  messages reused
 * windowDrop                    none         446             81.4 %           79.4 %
 * windowDrop                    0.9          446             86.1 %           84.4 %
 * windowDrop                    0.7          446             94.4 %           92.9 %
 * windowDrop                    0.5          446             96.6 %           95.1 %
 * truncate                      none         446             45.1 %           41.5 %
 * truncate                      0.9          446             83.9 %           82.1 %
 * truncate                      0.7          446             94.6 %           93.2 %
 * truncate                      0.5          446             96.6 %           95.2 %
 * clearToolResults, windowDrop  none         446             39.0 %           71.4 %
 * clearToolResults, windowDrop  0.9          446             59.4 %           93.3 %
 * clearToolResults, windowDrop  0.7          446             60.3 %           96.6 %
 * clearToolResults, windowDrop  0.5          446             55.8 %           97.9 %
 * summarize                     none         446             87.4 %           85.7 %
 * summarize                     0.9          446             93.3 %           91.8 %
 * summarize                     0.7          446             96.2 %           94.7 %
 * summarize                     0.5          446             97.3 %           95.6 %
 */
import { Effect, Layer } from "effect"
import { Memory, MemoryStore, Message, Summarizer, TokenCounter, TrimStrategy } from "effect-memory"

const maxTokens = 8000
const turns = 100

/** A turn asks one to six times for something, as its number says; every call is one request to the model. */
const requestsOf = (turn: number): ReadonlyArray<ReadonlyArray<Message.Message>> => {
  const calls = 1 + (turn * 7) % 6
  const steps = Array.from({ length: calls }, (_, i) => {
    const id = `${turn}.${i}`
    return [
      Message.assistant([Message.toolCall({ id, name: "read_file", params: { path: `src/file${turn * i}.ts` } })]),
      Message.tool([
        Message.toolResult({ id, name: "read_file", result: `line of ${id}\n`.repeat(10 + (turn * 13 + i * 29) % 90) })
      ])
    ]
  })
  return [[Message.user(`Please look into issue ${turn} and tell me what you find.`)], ...steps]
}

const isPrefix = (before: ReadonlyArray<Message.Message>, after: ReadonlyArray<Message.Message>) =>
  before.every((message, i) => message === after[i])

const measure = Effect.gen(function*() {
  const memory = yield* Memory.Memory
  yield* memory.record(Message.system("You are a careful programmer. ".repeat(20)))
  let requests = 0
  let kept = 0
  let reused = 0
  let sent = 0
  let before: ReadonlyArray<Message.Message> = []
  for (let turn = 0; turn < turns; turn++) {
    for (const messages of requestsOf(turn)) {
      yield* memory.recordAll(messages)
      const context = yield* memory.context
      const changed = before.findIndex((message, i) => message !== context[i])
      requests++
      if (isPrefix(before, context)) kept++
      reused += changed < 0 ? before.length : changed
      sent += context.length
      before = context
    }
    yield* memory.record(Message.assistant(`Issue ${turn} is settled, the reason was in file ${turn}.`))
  }
  return { requests, kept: kept / requests, reused: reused / sent }
})

const summarizer = Layer.succeed(
  Summarizer.Summarizer,
  Summarizer.make(({ maxTokens }) => Effect.succeed({ text: "What was found so far. ".repeat(maxTokens / 12) }))
)

type Strategies = Record<string, (target: number | undefined) => Layer.Layer<TrimStrategy.TrimStrategy>>

const strategies: Strategies = {
  windowDrop: (target) => Layer.sync(TrimStrategy.TrimStrategy, () => TrimStrategy.windowDrop({ target })),
  truncate: (target) => Layer.sync(TrimStrategy.TrimStrategy, () => TrimStrategy.truncate({ target })),
  "clearToolResults, windowDrop": (target) =>
    TrimStrategy.layerCascade(TrimStrategy.clearToolResults({ target }), TrimStrategy.windowDrop({ target })),
  summarize: (target) => Layer.provide(TrimStrategy.layerSummarize({ target }), summarizer)
}

const percent = (share: number) => `${(share * 100).toFixed(1)} %`.padStart(8)

console.log(`${"strategy".padEnd(30)}${"target".padEnd(8)}requests  whole prefix kept  messages reused`)
for (const [name, strategy] of Object.entries(strategies)) {
  for (const target of [undefined, 0.9, 0.7, 0.5]) {
    const live = Memory.layer({ maxTokens }).pipe(
      Layer.provide([strategy(target), TokenCounter.layerCharacters, MemoryStore.layerMemory])
    )
    const { kept, requests, reused } = await Effect.runPromise(Effect.provide(measure, live))
    console.log(
      `${name.padEnd(30)}${String(target ?? "none").padEnd(8)}${String(requests).padStart(8)}` +
        `${percent(kept).padStart(19)}${percent(reused).padStart(17)}`
    )
  }
}
