/**
 * How it is told what remote services were asked.
 */
import * as Schema from "effect/Schema"
import { Asked } from "../Remote.js"
import { plural } from "./numbers.js"
import type { Style } from "./style.js"
import { left } from "./table.js"

/** What was done where a service did not answer. */
const instead: { readonly [U in Asked["use"]]: (n: number) => string } = {
  counter: (n) => `${plural(n, "conversation")} went by the local count`,
  summarizer: (n) => `${plural(n, "summary", "summaries")} could not be had`
}

const line = ({ failures, fallbacks, name, requests, retries, use }: Asked, style: Style): string => {
  const facts = [plural(requests, "request"), plural(retries, "retry", "retries"), plural(failures, "failure")]
  const text = [...facts, ...(fallbacks === 0 ? [] : [style.warn(instead[use](fallbacks))])].join(", ")
  return `  ${left(use, 10)}  ${style.bold(name)}  ${text}`
}

/** For people. @internal */
export const lines = (all: ReadonlyArray<Asked>, style: Style): ReadonlyArray<string> =>
  all.length === 0 ? [] : [style.bold("Services"), ...all.map((one) => line(one, style))]

/** For programs. @internal */
export const json: (asked: Asked) => string = Schema.encodeSync(Schema.parseJson(Asked))
