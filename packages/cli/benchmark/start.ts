/**
 * How long the published command takes to answer, each run in a process of its own: elapsed time and processor time, the
 * least and the median of eleven. `--help` is to answer in under 400 ms on two idle cores.
 *
 * Node 20.20 on two virtual cores that other work kept busy, so that the least figures are nearest to an idle machine:
 *
 * | command | elapsed, least | median | processor, least | median |
 * | --- | ---: | ---: | ---: | ---: |
 * | node alone | 98 ms | 127 ms | 59 ms | 60 ms |
 * | --version | 203 ms | 324 ms | 154 ms | 166 ms |
 * | --help | 258 ms | 369 ms | 212 ms | 224 ms |
 * | replay --help | 247 ms | 348 ms | 200 ms | 215 ms |
 * | formats | 249 ms | 415 ms | 197 ms | 205 ms |
 * | count | 430 ms | 479 ms | 305 ms | 309 ms |
 * | count, tiktoken:gpt-4o | 508 ms | 798 ms | 461 ms | 490 ms |
 * | fit, cascade | 664 ms | 771 ms | 461 ms | 494 ms |
 */
import { execFileSync, spawnSync } from "node:child_process"
import { createRequire } from "node:module"
import { dirname } from "node:path"

const runs = 11

const root = dirname(createRequire(import.meta.url).resolve("@effect-memory/cli/package.json"))

const hook = "data:text/javascript,process.on('exit',()=>{const{user,system}=process.cpuUsage();" +
  "process.stderr.write(`${(user+system)/1000}`)})"

const commands: ReadonlyArray<readonly [name: string, args: ReadonlyArray<string>]> = [
  ["node alone", ["--eval", "0"]],
  ["--version", ["dist/bin.js", "--version"]],
  ["--help", ["dist/bin.js", "--help"]],
  ["replay --help", ["dist/bin.js", "replay", "--help"]],
  ["formats", ["dist/bin.js", "formats"]],
  ["count", ["dist/bin.js", "count", "examples/session.jsonl"]],
  ["count, tiktoken:gpt-4o", ["dist/bin.js", "count", "examples/session.jsonl", "--counter", "tiktoken:gpt-4o"]],
  ["fit, cascade", [
    "dist/bin.js",
    "fit",
    "examples/session.jsonl",
    "--max-tokens",
    "8000",
    "--strategy",
    "cascade",
    "-o",
    "/dev/null"
  ]]
]

const measure = (args: ReadonlyArray<string>) => {
  const start = performance.now()
  const child = spawnSync(process.execPath, ["--import", hook, ...args], { cwd: root, encoding: "utf8" })
  const elapsed = performance.now() - start
  if (child.status !== 0) throw new Error(child.stderr)
  return { elapsed, processor: Number(child.stderr) }
}

const figures = (numbers: ReadonlyArray<number>): string => {
  const sorted = numbers.toSorted((a, b) => a - b)
  return `${sorted[0].toFixed(0)} ms | ${sorted[Math.floor(sorted.length / 2)].toFixed(0)} ms`
}

execFileSync("npm", ["run", "--silent", "build"], { cwd: root })

console.log("| command | elapsed, least | median | processor, least | median |")
console.log("| --- | ---: | ---: | ---: | ---: |")
for (const [name, args] of commands) {
  const measured = Array.from({ length: runs }, () => measure(args))
  const elapsed = figures(measured.map(({ elapsed }) => elapsed))
  const processor = figures(measured.map(({ processor }) => processor))
  console.log(`| ${name} | ${elapsed} | ${processor} |`)
}
