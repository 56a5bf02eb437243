/**
 * What `effect-memory check` does.
 */
import type { Conversation } from "@effect-memory/formats/Conversation"
import * as Effect from "effect/Effect"
import type * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as Transcript from "effect-memory/Transcript"
import * as Check from "../Check.js"
import { FindingsFound, InvalidOptions } from "../CliError.js"
import * as destination from "./destination.js"
import type { ProviderName } from "./names.js"
import { count, plural } from "./numbers.js"
import { rulesOf } from "./rules.js"
import type { Style } from "./style.js"
import { join, left, right, title, words } from "./table.js"
import * as transcript from "./transcript.js"
import * as writer from "./writer.js"

/** @internal */
export interface Options extends transcript.Source {
  /** Default: that of the format. */
  readonly provider: Option.Option<Exclude<ProviderName, "none">>
  /** Whether to write what can be sent. */
  readonly fix: boolean
  /** A path, or `-` for standard output. */
  readonly output: string
  readonly json: boolean
}

const encode = Schema.encodeSync(Schema.parseJson(Schema.Union(Check.Finding, Check.Checked)))

const heading = (style: Style): string =>
  style.dim(join([right("message", 7), left("role", 9), right("part", 4), left("finding", 22), "what to do"]))

const row = ({ finding, message, open, part, remedy, role }: Check.Finding, style: Style): string =>
  join([
    right(count(message), 7),
    left(role, 9),
    right(part === undefined ? "" : count(part), 4),
    open ? style.dim(left(words(finding), 22)) : style.warn(left(words(finding), 22)),
    remedy
  ])

const summary = ({ findings, open, rules }: Check.Checked, fix: boolean, style: Style): string => {
  const found = findings === 0
    ? style.good("nothing found")
    : fix
    ? style.good(`${plural(findings, "finding")} repaired`)
    : style.bad(plural(findings, "finding"))
  return `${found}${open === 0 ? "" : `, ${plural(open, "call")} still open at the end`}  ${style.dim(`(${rules})`)}`
}

/** @internal */
export const check = Effect.fn("Cli.check")(function*(options: Options) {
  const { fix, json, output } = options
  const file = transcript.nameOf(options.file)
  if (output !== "-" && !fix) {
    return yield* new InvalidOptions({ reason: "--output is for what --fix writes: give both, or none" })
  }
  const { style, tell } = yield* destination.teller(fix ? output : undefined)
  const progress = yield* transcript.reading("Checking", options.file, true)

  const lines = (conversation: Conversation, { checked, findings }: ReturnType<typeof Check.check>) =>
    json ? [...findings, checked].map((one) => encode(one)) : [
      title(file, conversation, style),
      ...(findings.length === 0 ? [] : [heading(style), ...findings.map((finding) => row(finding, style))]),
      summary(checked, fix, style)
    ]

  const checkOne = Effect.fnUntraced(function*(conversation: Conversation, write: writer.Writer | undefined) {
    const { index, messages } = conversation
    const named = rulesOf(yield* writer.codecOf(undefined, conversation), options.provider)
    const rules = named === "none" ? "pairing" : named
    const checked = Check.check(messages, { conversation: index + 1, rules })
    yield* progress.clear
    yield* tell(lines(conversation, checked))
    if (write !== undefined) {
      const { notes } = yield* write({ ...conversation, messages: Transcript.repair(messages, rules) }, rules)
      if (!json) yield* tell(writer.noteLines(notes, style))
    }
    return checked.checked.findings
  })

  const checkAll = (write: writer.Writer | undefined) =>
    transcript.foldInto(
      output,
      { ...options, onRead: progress.add },
      0,
      (findings, conversation) => Effect.map(checkOne(conversation, write), (more) => findings + more)
    )

  const [findings, seen] = fix
    ? yield* destination.writing(output, (write) => Effect.flatMap(writer.make(file, undefined, write), checkAll))
    : yield* checkAll(undefined)
  yield* transcript.complain([
    ...(findings > 0 && !fix ? [new FindingsFound({ file, findings })] : []),
    ...transcript.faults(options, seen)
  ])
}, Effect.scoped)
