import * as fs from "node:fs"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as files from "./files.js"
import { lines, run } from "./run.js"

const commands: ReadonlyArray<ReadonlyArray<string>> = [
  ["check", "--fix"],
  ["fit", "--max-tokens", "99"],
  ["convert", "--to", "openai-chat"]
]

/** Has a command replace the file that it reads, and what the file holds must be as it was. */
const refused = Effect.fnUntraced(function*(
  [command, ...options]: ReadonlyArray<string>,
  { args = [], output, text }: {
    readonly args?: ReadonlyArray<string>
    readonly output?: (file: string) => string
    readonly text: string
  }
) {
  const file = files.write(`${command}-replaced.jsonl`, text)
  const { code, stderr } = yield* run([command, file, ...options, ...args, "-o", output?.(file) ?? file])
  assert.strictEqual(code, 1)
  assert.strictEqual(files.read(file), text)
  return lines(stderr).map((line) => line.replace(file, "FILE"))
})

const nothing = (why: string) => [`FILE: nothing is written, because ${why}: name another FILE with --output`]

describe("a file that is read and written", { sequential: true }, () => {
  for (const command of commands) {
    const [name] = command

    it.effect(`${name} keeps conversations that were not taken`, () =>
      Effect.gen(function*() {
        const text = files.read(files.many)
        const take = (conversation: string) => refused(command, { args: ["--conversation", conversation], text })
        assert.deepStrictEqual(yield* take("1"), nothing("its other conversations (2) would be lost"))
        assert.deepStrictEqual(yield* take("3"), nothing("its other conversations (2) would be lost"))
        assert.deepStrictEqual(yield* take("4"), ["FILE: there is no conversation 4: give a number from 1 to 3"])
      }))

    it.effect(`${name} keeps records that cannot be read`, () =>
      Effect.gen(function*() {
        const sentence = nothing("its records that cannot be read (2) would be lost")
        const text = files.read(files.mixed)
        assert.deepStrictEqual(yield* refused(command, { text }), sentence)
        const link = (file: string) => {
          fs.symlinkSync(file, `${file}.link`)
          return `${file}.link`
        }
        assert.deepStrictEqual(yield* refused(command, { output: link, text }), sentence)
      }))

    it.effect(`${name} takes the one conversation there is`, () =>
      Effect.gen(function*() {
        const file = files.write(`${name}-one.jsonl`, lines(files.read(files.many))[0])
        const { code, stderr } = yield* run([...command, file, "--conversation", "1", "-o", file])
        assert.deepStrictEqual([code, stderr], [0, ""])
        assert.include(files.read(file), "one")
      }))
  }
})
