/**
 * Help texts of commands: what it does, then examples.
 */
import * as HelpDoc from "@effect/cli/HelpDoc"
import * as Arr from "effect/Array"

/** @internal */
export const help = (
  command: string,
  what: string,
  examples: Arr.NonEmptyReadonlyArray<readonly [args: string, what: string]>
): HelpDoc.HelpDoc =>
  HelpDoc.blocks([
    HelpDoc.p(what),
    HelpDoc.p("Examples:"),
    HelpDoc.enumeration(
      Arr.map(examples, ([args, what]) => HelpDoc.p(`${`effect-memory ${command} ${args}`.trimEnd()}\n      ${what}`))
    )
  ])
