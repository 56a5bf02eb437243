/**
 * What `effect-memory count` does.
 */
import type { Conversation } from "@effect-memory/formats/Conversation"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as Count from "../Count.js"
import * as Breath from "./breath.js"
import * as counters from "./counters.js"
import { count as number, percent, plural } from "./numbers.js"
import { printLines, stdoutStyle } from "./output.js"
import * as Progress from "./progress.js"
import type { Style } from "./style.js"
import { bar, join, left, right, title } from "./table.js"
import * as transcript from "./transcript.js"

/** @internal */
export interface Options extends transcript.Source {
  readonly counter: string
  readonly by: Option.Option<Count.By>
  readonly json: boolean
}

const encode = Schema.encodeSync(Schema.parseJson(Schema.Union(Count.Row, Count.Total)))

const heading = (by: Count.By, style: Style): string =>
  style.dim(join([
    left(by, 12),
    ...(by === "message" ? [left("role", 9)] : [right(by === "part" ? "parts" : "messages", 8)]),
    right("tokens", 9),
    right("share", 5)
  ]))

const row = ({ by, items, key, role, tokens }: Count.Row, total: number, style: Style): string =>
  join([
    left(key, 12),
    ...(by === "message" ? [left(role ?? "", 9)] : [right(number(items), 8)]),
    right(number(tokens), 9),
    right(percent(tokens, total), 5),
    bar(tokens, total, style)
  ])

const summary = ({ counter, messages, rounds, tokens }: Count.Total): string =>
  `${plural(tokens, "token")} in ${plural(messages, "message")}, ${plural(rounds, "round")}  (${counter})`

/** @internal */
export const count = Effect.fn("Cli.count")(function*(options: Options) {
  const file = transcript.nameOf(options.file)
  const by = Option.getOrUndefined(options.by)
  const counter = yield* counters.make(options.counter)
  const style = yield* stdoutStyle
  const progress = yield* Progress.make({
    label: `Counting ${file}`,
    show: (messages) => plural(messages, "message"),
    printing: false
  })
  const { breathe } = yield* Breath.make
  const advance = Effect.zipRight(progress.add(1), breathe)

  const lines = (conversation: Conversation, { rows, total }: Count.Counted): ReadonlyArray<string> => {
    if (options.json) return [...rows, total].map((one) => encode(one))
    return [
      title(file, conversation, style),
      ...(by === undefined ? [] : [heading(by, style), ...rows.map((one) => row(one, total.tokens, style))]),
      summary(total)
    ]
  }

  const countOne = (conversation: Conversation) =>
    Count.count(conversation.messages, { conversation: conversation.index + 1, by, counter, advance }).pipe(
      Effect.tap((counted) => Effect.zipRight(progress.clear, printLines(lines(conversation, counted))))
    )

  const [tokens, seen] = yield* transcript.fold(
    options,
    0,
    (tokens, conversation) => Effect.map(countOne(conversation), ({ total }) => tokens + total.tokens)
  )
  if (seen.wanted > 1 && !options.json) {
    yield* printLines([`${plural(tokens, "token")} in ${plural(seen.wanted, "conversation")}`])
  }
  yield* transcript.complain(transcript.faults(options, seen))
}, Effect.scoped)
