/**
 * Reads 100,000 damaged texts with every reader and writes what comes out. A crash makes it fail and names its seed; a
 * number after the command runs as many.
 */
import { run } from "../test/fuzz.js"

const total = Number(process.argv[2] ?? 100_000)

const counts = new Map<string, number>()
let slowest = { milliseconds: 0, seed: -1 }
let crashes = 0

for (let seed = 0; seed < total; seed++) {
  const { defect, format, kind, milliseconds } = run(seed)
  counts.set(kind, (counts.get(kind) ?? 0) + 1)
  if (milliseconds > slowest.milliseconds) slowest = { milliseconds, seed }
  if (kind === "crash" && crashes++ < 10) console.log(`seed ${seed} (${format}): ${defect}`)
}

console.log(`${total} damaged texts: ${Array.from(counts, ([kind, count]) => `${count} ${kind}`).join(", ")}`)
console.log(`slowest: ${slowest.milliseconds.toFixed(0)} ms (seed ${slowest.seed})`)
if (crashes > 0) process.exitCode = 1
