/**
 * `effect-memory formats`, as far as its help goes.
 */
import * as Command from "@effect/cli/Command"
import * as Effect from "effect/Effect"
import { help } from "./help.js"
import { load } from "./load.js"
import * as options from "./options.js"

const config = {
  json: options.json("Write JSON lines: an object for each format.")
}

const run = load("formats", () => import("./formatsRun.js"))

/** @internal */
export const command = Command.make(
  "formats",
  config,
  (config) => Effect.flatMap(run, ({ formats }) => formats(config))
).pipe(
  Command.withDescription(help("formats", "Lists the formats that are read and written.", [
    ["", "Their names are what --format and --to take."],
    ["--json | jq -r .format", "The names only."]
  ]))
)
