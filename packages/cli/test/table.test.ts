import { assert, describe, it } from "@effect/vitest"
import { Conversation } from "@effect-memory/formats"
import { Message } from "effect-memory"
import * as comparison from "../src/internal/comparison.js"
import { count, percent, plural } from "../src/internal/numbers.js"
import { coloured, plain, strip } from "../src/internal/style.js"
import * as table from "../src/internal/table.js"
import * as Replay from "../src/Replay.js"

const turn = Replay.Turn.make({
  conversation: 1,
  turn: 12,
  role: "tool",
  recorded: { messages: 30, rounds: 7, tokens: 12345 },
  context: { messages: 20, rounds: 4, tokens: 3000 },
  leftOut: { messages: 10, rounds: 3, tokens: 9345 },
  summarized: 12,
  cleared: 0,
  shortened: 1,
  strategy: "window",
  maxTokens: 4000,
  moved: true
})

const shown = (rewritten: ReadonlyArray<table.Rewritten>): table.Shown => ({ exact: false, rewritten })

describe("numbers", () => {
  it("are grouped", () => {
    assert.deepStrictEqual([count(0), count(1234567), plural(1, "round"), plural(2000, "round")], [
      "0",
      "1,234,567",
      "1 round",
      "2,000 rounds"
    ])
  })

  it("read 100 % only where it is exactly full", () => {
    assert.deepStrictEqual(
      [[0, 10], [1, 1000], [999, 1000], [10, 10], [1001, 1000], [50, 10], [500, 10], [0, 0], [1, 0]]
        .map(([part, whole]) => percent(part, whole)),
      ["0%", "0%", "99%", "100%", "101%", "500%", ">999%", "0%", ">999%"]
    )
  })
})

describe("table", () => {
  it("a row stands under its heading", () => {
    assert.deepStrictEqual([table.heading(4000, shown([]), plain), table.row(turn, shown([]), plain)], [
      "turn  role        recorded   context  of 4,000               rounds  left out",
      "  12  tool          12,345     3,000  ████████████░░░░  75%       4         3  ✂"
    ])
  })

  it("a row shows what a strategy may do", () => {
    const cascade = table.columns("cascade")
    assert.deepStrictEqual([table.heading(4000, shown(cascade), plain), table.row(turn, shown(cascade), plain)], [
      "turn  role        recorded   context  of 4,000               rounds  left out  summarized  cleared  shortened",
      "  12  tool          12,345     3,000  ████████████░░░░  75%       4         3          12        –          1  ✂"
    ])
  })

  it("a row shows what a service counts, and how full that makes the window", () => {
    const asked = { exact: true, rewritten: [] }
    assert.deepStrictEqual(
      [
        table.heading(4000, asked, plain),
        table.row({ ...turn, exact: 4040 }, asked, plain),
        table.row(turn, asked, plain)
      ],
      [
        "turn  role        recorded   context     exact  of 4,000               rounds  left out",
        "  12  tool          12,345     3,000     4,040  ████████████████ 101%       4         3  ✂",
        "  12  tool          12,345     3,000         –  ████████████░░░░  75%       4         3  ✂"
      ]
    )
  })

  it("a row with nothing left out is quiet", () => {
    const quiet = { ...turn, role: "end" as const, moved: false, leftOut: { messages: 0, rounds: 0, tokens: 0 } }
    assert.strictEqual(
      table.row(quiet, shown([]), plain),
      "  12  end           12,345     3,000  ████████████░░░░  75%       4         –"
    )
  })

  it("a bar never shows something as nothing, nor less than full as full", () => {
    const bars = [[0, 1000], [1, 1000], [500, 1000], [999, 1000], [1000, 1000], [2000, 1000], [0, 0], [5, 0]]
      .map(([part, whole]) => table.bar(part, whole, plain))
    assert.deepStrictEqual(bars, [
      "░░░░░░░░░░░░░░░░",
      "▏░░░░░░░░░░░░░░░",
      "████████░░░░░░░░",
      "███████████████▉",
      "████████████████",
      "████████████████",
      "░░░░░░░░░░░░░░░░",
      "████████████████"
    ])
  })

  it("a bar is red where it is over, yellow where it is nearly full, green elsewhere", () => {
    const opening = (part: number) => table.bar(part, 100, coloured).slice(0, 5)
    assert.deepStrictEqual([opening(90), opening(91), opening(100), opening(101)], [
      "\u001b[32m",
      "\u001b[33m",
      "\u001b[33m",
      "\u001b[31m"
    ])
  })

  it("colours change nothing but colours", () => {
    for (const tokens of [0, 3000, 3999, 4000, 50000]) {
      const one = { ...turn, context: { ...turn.context, tokens } }
      assert.notStrictEqual(
        table.row(one, shown(table.rewritten), coloured),
        table.row(one, shown(table.rewritten), plain)
      )
      assert.strictEqual(
        strip(table.row(one, shown(table.rewritten), coloured)),
        table.row(one, shown(table.rewritten), plain)
      )
    }
  })

  it("a title names the place only where there are several conversations", () => {
    const conversation = Conversation.make([Message.user("hi")])
    assert.deepStrictEqual(
      [conversation, { ...conversation, index: 2, line: 7 }].map((one) => table.title("a.jsonl", one, plain)),
      ["a.jsonl  native, 1 message", "a.jsonl, conversation 3 (line 7)  native, 1 message"]
    )
  })

  const totals = Replay.Totals.make({
    strategy: "window",
    maxTokens: 4000,
    conversations: 1,
    messages: 30,
    rounds: 7,
    tokens: 12345,
    contexts: 12,
    largest: 3999,
    sent: 30000,
    saved: 10000,
    moved: 2,
    leftOut: 3,
    summarized: 12,
    cleared: 0,
    shortened: 1,
    findings: { OrphanResult: 2, DuplicateId: 1 }
  })

  it("totals", () => {
    assert.deepStrictEqual(table.totals(totals, [], plain), [
      "Totals",
      "  conversations         1",
      "  messages             30  in 7 rounds",
      "  tokens recorded  12,345",
      "  contexts             12  30,000 tokens in all",
      "  largest context   3,999  99% of the window",
      "  tokens saved     10,000  25% of what whole histories would have cost",
      "  prefix moved          2  ✂ a provider's prompt cache starts anew",
      "  findings              3  orphan result 2, duplicate id 1"
    ])
    assert.includeMembers([...table.totals(totals, table.rewritten, plain)], [
      "  summarized           12  messages that the last summary stands for",
      "  cleared               0"
    ])
  })

  it("a comparison shows of each strategy what it may do", () => {
    const all = [totals, { ...totals, strategy: "summarize", largest: 4001, saved: 0, leftOut: 0 }]
    assert.deepStrictEqual(comparison.lines("a.jsonl", all, plain), [
      "a.jsonl  1 conversation, 30 messages in 7 rounds, 12,345 tokens, 12 contexts",
      "strategy      budget  largest context  sent in all  saved  moved  left out  summarized",
      "window         4,000      3,999   99%       30,000    25%      2         3",
      "summarize      4,000      4,001  101%       30,000     0%      2         –          12"
    ])
    assert.include(comparison.lines("a.jsonl", all, coloured)[3], "\u001b[31m  101%")
  })
})
