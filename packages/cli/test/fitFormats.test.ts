/**
 * Every transcript at hand, brought within budgets and written in every format: what is read back can be sent.
 */
import { assert, describe, it } from "@effect/vitest"
import { type Codec, Conversation, Format } from "@effect-memory/formats"
import { Array as Arr, Effect, Option, Ref, Stream } from "effect"
import { TokenCounter } from "effect-memory"
import * as Check from "../src/Check.js"
import * as Fit from "../src/Fit.js"
import * as Breath from "../src/internal/breath.js"
import * as memory from "../src/internal/memory.js"
import { rulesOf } from "../src/internal/rules.js"
import * as writer from "../src/internal/writer.js"
import { conversationsOf, some, transcripts } from "./data.js"
import { samplePath } from "./files.js"
import { layerTerminal } from "./run.js"

const budgets = [500, 4_000, 32_000]

/** Enough to meet what a file holds; all of them are written in the format of the file by the tests of the command. */
const mostConversations = 5

const rulesBy = (codec: Codec.Codec) => rulesOf(codec, Option.none())

/** What a memory hands out at the end. */
const fit = (conversation: Conversation.Conversation, maxTokens: number, provider: ReturnType<typeof rulesBy>) =>
  Effect.provide(
    Fit.fit(conversation.messages),
    memory.layer(
      { strategy: "cascade", maxTokens, maxRounds: Option.none(), target: Option.none(), provider },
      TokenCounter.characters
    )
  )

/** Writes a conversation as the command does, and gives what its own reader finds in the text. */
const writeAndRead = Effect.fnUntraced(function*(conversation: Conversation.Conversation, codec: Codec.Codec) {
  const text = yield* Ref.make("")
  const write = yield* writer.make("file", codec, (more) => Ref.update(text, (before) => before + more))
  yield* write(conversation, rulesBy(codec))
  const back = Format.read(Stream.fromEffect(Ref.get(text)), { format: codec, strict: true })
  return yield* Stream.runCollect(Stream.filter(back, Conversation.isConversation))
})

const checkConversation = Effect.fnUntraced(function*(conversation: Conversation.Conversation) {
  const codecsBy = Arr.groupBy(Format.all, rulesBy)
  for (const [rules, codecs] of Object.entries(codecsBy)) {
    for (const maxTokens of budgets) {
      const provider = rulesBy(codecs[0])
      const { messages } = yield* fit(conversation, maxTokens, provider)
      for (const codec of codecs) {
        const what = `conversation ${conversation.index + 1} with ${maxTokens} tokens as ${codec.id}`
        const back = Array.from(yield* writeAndRead({ ...conversation, messages }, codec))
        // Some formats carry no system messages.
        const isWritten = messages.some(({ role }) => role !== "system")
        assert.isTrue(back.length === 1 || (back.length === 0 && !isWritten), what)
        for (const { messages } of back) {
          const { findings } = Check.check(messages, {
            conversation: 1,
            rules: provider === "none" ? "pairing" : provider
          })
          assert.deepStrictEqual(findings.filter(({ open }) => !open), [], `${what} by ${rules}`)
        }
      }
    }
  }
})

const checkFile = (file: string) =>
  Effect.gen(function*() {
    const { breathe } = yield* Breath.make
    const conversations = yield* conversationsOf(file)
    assert.isNotEmpty(conversations)
    yield* Effect.forEach(
      some(conversations, mostConversations),
      (conversation) => Effect.zipRight(checkConversation(conversation), breathe),
      { discard: true }
    )
  }).pipe(Effect.provide(layerTerminal(false, () => Effect.void)))

describe("what fit writes in any format can be read and sent", { sequential: true }, () => {
  for (const file of [samplePath, ...transcripts]) it.live(file, () => checkFile(file), 120_000)
})
