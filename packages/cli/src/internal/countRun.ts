/**
 * What `effect-memory count` does.
 */
import type { Conversation } from "@effect-memory/formats/Conversation"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { NotCounted } from "../CliError.js"
import * as Count from "../Count.js"
import * as asked from "./asked.js"
import * as Breath from "./breath.js"
import * as means from "./means.js"
import { count as number, percent, plural } from "./numbers.js"
import { printLines, stdoutStyle } from "./output.js"
import * as Progress from "./progress.js"
import type { Style } from "./style.js"
import { bar, join, left, right, title } from "./table.js"
import * as transcript from "./transcript.js"

/** @internal */
export interface Options extends transcript.Source, means.Options {
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

/** What several conversations come to. */
interface Sum {
  readonly tokens: number
  /** By the service. */
  readonly exact: number
  /** Why the service did not count the first one that it did not count. */
  readonly failure: NotCounted | undefined
}

const nothing: Sum = { tokens: 0, exact: 0, failure: undefined }

const addFailure = (failure: NotCounted | undefined, file: string, conversation: number, reason: string) =>
  failure === undefined
    ? new NotCounted({ file, conversation, reason, more: 0 })
    : new NotCounted({ ...failure, more: failure.more + 1 })

/** @internal */
export const count = Effect.fn("Cli.count")(function*(options: Options) {
  const file = transcript.nameOf(options.file)
  const by = Option.getOrUndefined(options.by)
  // What could not be counted is told at the end.
  const { asked: services, counter } = yield* means.make(options, () => Effect.void)
  const { countConversation } = counter
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
      summary(total),
      ...exactly(total.exact)
    ]
  }

  const exactly = (tokens: number | undefined): ReadonlyArray<string> =>
    tokens === undefined ? [] : [`${plural(tokens, "token")} as ${options.counter} counts the whole`]

  const countOne = Effect.fnUntraced(function*(sum: Sum, conversation: Conversation) {
    const { index, messages } = conversation
    const { rows, total } = yield* Count.count(messages, { conversation: index + 1, by, counter, advance })
    const exact = countConversation === undefined ? undefined : yield* Effect.either(countConversation(messages))
    const whole = exact !== undefined && Either.isRight(exact) ? { ...total, exact: exact.right } : total
    yield* progress.clear
    yield* printLines(lines(conversation, { rows, total: whole }))
    return {
      tokens: sum.tokens + whole.tokens,
      exact: sum.exact + (whole.exact ?? 0),
      failure: exact === undefined || Either.isRight(exact)
        ? sum.failure
        : addFailure(sum.failure, file, index + 1, exact.left.message)
    }
  })

  const [{ exact, failure, tokens }, seen] = yield* transcript.fold(options, nothing, countOne)
  if (seen.wanted > 1 && !options.json) {
    const known = countConversation === undefined || failure !== undefined ? undefined : exact
    yield* printLines([`${plural(tokens, "token")} in ${plural(seen.wanted, "conversation")}`, ...exactly(known)])
  }
  const all = yield* services
  yield* printLines(options.json ? all.map(asked.json) : asked.lines(all, style))
  yield* transcript.complain([...(failure === undefined ? [] : [failure]), ...transcript.faults(options, seen)])
}, Effect.scoped)
