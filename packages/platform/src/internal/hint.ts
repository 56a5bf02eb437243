/**
 * How long a service asks to wait.
 */
import * as DateTime from "effect/DateTime"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"

/** @internal */
export type Headers = { readonly [name: string]: string | undefined }

const decimal = /^\d{1,15}(\.\d{1,15})?$/

const httpDate = /^[A-Z][a-z]{2}, (\d{2}) ([A-Z][a-z]{2}) (\d{4}) (\d{2}):(\d{2}):(\d{2}) GMT$/

const months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]

const number = (text: string | undefined): number | undefined => {
  const trimmed = text?.trim() ?? ""
  return decimal.test(trimmed) ? Number(trimmed) : undefined
}

const date = (text: string | undefined, now: number): number | undefined => {
  const [, day, name, year, hour, minute, second] = httpDate.exec(text?.trim() ?? "") ?? []
  const month = months.indexOf(name) + 1
  if (month === 0) return undefined
  const iso = `${year}-${String(month).padStart(2, "0")}-${day}T${hour}:${minute}:${second}Z`
  const wait = Option.map(DateTime.make(iso), (at) => DateTime.toEpochMillis(at) - now)
  return Option.getOrUndefined(Option.filter(wait, (millis) => millis >= 0))
}

const seconds = (value: number | undefined): number | undefined =>
  value === undefined ? undefined : Math.ceil(value * 1000)

/** Gemini says it in the body: `{"@type": "…RetryInfo", "retryDelay": "34.4s"}`. */
const retryInfo = (details: ReadonlyArray<unknown>): number | undefined => {
  for (const detail of details) {
    if (!Predicate.hasProperty(detail, "retryDelay") || !Predicate.isString(detail.retryDelay)) continue
    return detail.retryDelay.endsWith("s") ? seconds(number(detail.retryDelay.slice(0, -1))) : undefined
  }
}

/**
 * The wait in milliseconds, from `retry-after-ms`, `retry-after` (seconds or a date) or the details of an error; nothing
 * where it is no number, negative or past.
 *
 * @internal
 */
export const read = (headers: Headers, details: ReadonlyArray<unknown>, now: number): number | undefined => {
  const after = headers["retry-after"]
  return number(headers["retry-after-ms"]) ?? seconds(number(after)) ?? date(after, now) ?? retryInfo(details)
}
