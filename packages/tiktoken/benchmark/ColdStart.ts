/**
 * Loading o200k_base and counting a first text, each library in processes of its own: processor time, and what memory it
 * takes (resident set after a collection). Medians of five.
 *
 * Node 20.20 on two virtual cores whose speed changes by half from minute to minute, so that ratios mean more than figures
 * (this package took 128 to 209 ms):
 *
 * | library | load o200k_base and count | memory |
 * | --- | ---: | ---: |
 * | this package | 138 ms | 15 MB |
 * | js-tiktoken | 1084 ms | 107 MB |
 * | tiktoken (WASM) | 484 ms | 57 MB |
 * | gpt-tokenizer | 305 ms | 22 MB |
 * | ai-tokenizer | 762 ms | 114 MB |
 */
import "effect"
import { spawnSync } from "node:child_process"
import { fileURLToPath } from "node:url"

const RUNS = 5

const measure = async (name: string): Promise<void> => {
  const { counters, now } = await import("./support/counters.js")
  globalThis.gc?.()
  const memory = process.memoryUsage().rss
  const start = now()
  const count = await counters[name]("o200k_base")
  count("Hello, world! 你好，世界。")
  const time = now() - start
  globalThis.gc?.()
  console.log(JSON.stringify({ time, memory: (process.memoryUsage().rss - memory) / 1e6 }))
}

const main = async (): Promise<void> => {
  const { counters, median } = await import("./support/counters.js")
  console.log("| library | load o200k_base and count | memory |")
  console.log("| --- | ---: | ---: |")
  for (const name of Object.keys(counters)) {
    const runs = Array.from({ length: RUNS }, () => {
      const child = spawnSync(process.execPath, [...process.execArgv, fileURLToPath(import.meta.url), name], {
        encoding: "utf8"
      })
      return JSON.parse(child.stdout) as { readonly time: number; readonly memory: number }
    })
    const time = median(runs.map((run) => run.time))
    const memory = median(runs.map((run) => run.memory))
    console.log(`| ${name} | ${time.toFixed(0)} ms | ${memory.toFixed(0)} MB |`)
  }
}

await (process.argv[2] === undefined ? main() : measure(process.argv[2]))
