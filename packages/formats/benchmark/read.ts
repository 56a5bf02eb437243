/**
 * Reads one gigabyte of request bodies, a body a line, and says how fast and with how much memory. It fails where the
 * heap grows with the file.
 */
import { Conversation, Format } from "@effect-memory/formats"
import { Effect, Stream } from "effect"

const body = {
  model: "gpt-4o",
  messages: Array.from({ length: 40 }, (_, i) => ({
    role: i % 2 === 0 ? "user" : "assistant",
    content: `${i} ${"The tram to the zoo leaves at noon. ".repeat(60)}`
  }))
}

const line = new TextEncoder().encode(`${JSON.stringify(body)}\n`)

const total = Number(process.argv[2] ?? 1024) * 2 ** 20

const count = Math.ceil(total / line.length)

let peak = 0

const start = performance.now()

const read = await Effect.runPromise(
  Stream.repeatEffect(Effect.succeed(line)).pipe(
    Stream.take(count),
    Format.read(),
    Stream.runFold(0, (sum, found) => {
      if (sum % 500 === 0) peak = Math.max(peak, process.memoryUsage().heapUsed)
      return sum + (Conversation.isConversation(found) ? 1 : 0)
    })
  )
)

const seconds = (performance.now() - start) / 1000
const megabytes = (count * line.length) / 2 ** 20

console.log(
  `${read} conversations, ${megabytes.toFixed(0)} MB in ${seconds.toFixed(1)} s: ` +
    `${(megabytes / seconds).toFixed(0)} MB/s, peak heap ${(peak / 2 ** 20).toFixed(0)} MB`
)
if (peak > 256 * 2 ** 20 || read !== count) process.exitCode = 1
