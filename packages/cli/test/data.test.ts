import * as fs from "node:fs"
import * as path from "node:path"
import { fileURLToPath } from "node:url"
import { FileSystem } from "@effect/platform"
import { NodeFileSystem } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { Conversation, Format } from "@effect-memory/formats"
import { Effect, Layer, Ref, Stream } from "effect"
import { Memory, MemoryStore, type Message, TokenCounter, TrimStrategy } from "effect-memory"
import * as Replay from "../src/Replay.js"
import * as laws from "./laws.js"

const data = fileURLToPath(new URL("../../../../shared/data", import.meta.url))

const sample = fileURLToPath(new URL("../examples/session.jsonl", import.meta.url))

const folders = ["openai-chat", "anthropic-messages", "claude-code-jsonl"]

const files = fs.existsSync(data)
  ? folders.flatMap((folder) => fs.readdirSync(path.join(data, folder)).map((name) => `${folder}/${name}`))
  : []

/** A memory that hands every context it gives out to a test as well. */
const watched = (maxTokens: number, contexts: Ref.Ref<ReadonlyArray<ReadonlyArray<Message.Message>>>) =>
  Layer.effect(
    Memory.Memory,
    Effect.map(Memory.Memory, (memory) => ({
      ...memory,
      context: Effect.tap(memory.context, (context) => Ref.update(contexts, (before) => [...before, context]))
    }))
  ).pipe(
    Layer.provide(Memory.layer({ maxTokens })),
    Layer.provideMerge(Layer.mergeAll(
      TokenCounter.layerCharacters,
      Layer.succeed(TrimStrategy.TrimStrategy, TrimStrategy.windowDrop()),
      MemoryStore.layerMemory
    ))
  )

const checkConversation = Effect.fnUntraced(function*(
  conversation: Conversation.Conversation,
  maxTokens: number
) {
  // Protected messages may be over the budget; that is tested elsewhere.
  const messages = conversation.messages.map((message) => ({ ...message, options: {} }))
  const contexts = yield* Ref.make<ReadonlyArray<ReadonlyArray<Message.Message>>>([])
  yield* Replay.turns(messages, { conversation: conversation.index + 1, strategy: "window", maxTokens }).pipe(
    Stream.provideLayer(watched(maxTokens, contexts)),
    Stream.runForEach((turn) =>
      Effect.map(Ref.get(contexts), (all) => {
        assert.lengthOf(all, turn.turn)
        laws.check(all[turn.turn - 1], messages.slice(0, turn.recorded.messages), maxTokens, turn.context.tokens)
      })
    )
  )
})

const budgets = [500, 4_000, 32_000]

const checkFile = Effect.fnUntraced(function*(file: string, maxTokens: number) {
  const fileSystem = yield* FileSystem.FileSystem
  const conversations = yield* Format.read(fileSystem.stream(file), { file }).pipe(
    Stream.filter(Conversation.isConversation),
    Stream.tap((conversation) => checkConversation(conversation, maxTokens)),
    Stream.runCount
  )
  assert.isAbove(conversations, 0)
}, Effect.provide(NodeFileSystem.layer))

const timeout = 60_000

describe.skipIf(files.length === 0)("recorded transcripts keep the laws", () => {
  for (const file of files) {
    for (const maxTokens of budgets) {
      it.effect(`${file} with ${maxTokens} tokens`, () => checkFile(path.join(data, file), maxTokens), timeout)
    }
  }
})

describe("the sample session keeps the laws", () => {
  for (const maxTokens of budgets) {
    it.effect(`with ${maxTokens} tokens`, () => checkFile(sample, maxTokens), timeout)
  }
})
