/**
 * How it is told what remote services were asked.
 */
import * as Schema from "effect/Schema"
import { Asked } from "../Remote.js"
import { plural } from "./numbers.js"
import type { Style } from "./style.js"
import { left } from "./table.js"

const line = ({ failures, fallbacks, name, requests, retries, use }: Asked, style: Style): string => {
  const facts = [plural(requests, "request"), plural(retries, "retry", "retries"), plural(failures, "failure")]
  const text = [...facts, ...(fallbacks === 0 ? [] : [style.warn(`${plural(fallbacks, "call")} without an answer`)])]
    .join(", ")
  return `  ${left(use, 10)}  ${style.bold(name)}  ${text}`
}

/** For people. @internal */
export const lines = (all: ReadonlyArray<Asked>, style: Style): ReadonlyArray<string> =>
  all.length === 0 ? [] : [style.bold("Services"), ...all.map((one) => line(one, style))]

/** For programs. @internal */
export const json: (asked: Asked) => string = Schema.encodeSync(Schema.parseJson(Asked))
