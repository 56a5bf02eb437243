/**
 * Decoding wire values with schemas, with errors that name the field and never quote content.
 */
import * as Either from "effect/Either"
import type * as ParseResult from "effect/ParseResult"
import * as Schema from "effect/Schema"

import type { Issue } from "../Codec.js"

const describe = (value: unknown): string => {
  if (value === null) return "null"
  if (Array.isArray(value)) return `a list of ${value.length}`
  switch (typeof value) {
    case "string":
      return `a string of ${value.length} characters`
    case "number":
    case "boolean":
      return String(value)
    case "object":
      return "an object"
    default:
      return "missing"
  }
}

interface Leaf {
  readonly path: ReadonlyArray<PropertyKey>
  readonly expected: string
  readonly actual: unknown
}

const keysOf = (path: ParseResult.Pointer["path"]): ReadonlyArray<PropertyKey> =>
  (Array.isArray(path) ? path : [path]) as ReadonlyArray<PropertyKey>

const leaves = (issue: ParseResult.ParseIssue, path: ReadonlyArray<PropertyKey>): ReadonlyArray<Leaf> => {
  switch (issue._tag) {
    case "Pointer":
      return leaves(issue.issue, [...path, ...keysOf(issue.path)])
    case "Composite":
      return (Array.isArray(issue.issues) ? issue.issues as ReadonlyArray<ParseResult.ParseIssue> : [
        issue.issues as ParseResult.ParseIssue
      ]).flatMap((inner) => leaves(inner, path))
    case "Refinement":
    case "Transformation":
      return leaves(issue.issue, path)
    case "Missing":
    case "Unexpected":
      return [{ path, expected: "", actual: undefined }]
    case "Type":
    case "Forbidden":
      return [{ path, expected: String(issue.ast), actual: issue.actual }]
  }
}

const maxExpected = 120

/**
 * A union reports a leaf for each member; the deepest belongs to the member that was meant.
 *
 * @internal
 */
export const issueOf = (error: ParseResult.ParseError): Issue => {
  const found = leaves(error.issue, [])
  const path = found.reduce<ReadonlyArray<PropertyKey>>(
    (best, leaf) => leaf.path.length > best.length ? leaf.path : best,
    []
  )
  const here = found.filter((leaf) => leaf.path.length === path.length)
  const expected = [...new Set(here.map((leaf) => leaf.expected).filter(Boolean))].join(" or ")
  const given = describe(here[0]?.actual)
  return {
    field: path.map(String).join("."),
    reason: `is ${given}`,
    hint: expected === "" || expected.length > maxExpected ? "give it the shape of the format" : `expected ${expected}`
  }
}

/**
 * Decodes by a schema; fields that it does not know stay in the value.
 *
 * @internal
 */
export const decoder = <A, I>(schema: Schema.Schema<A, I>): (value: unknown) => Either.Either<A, Issue> => {
  const decode = Schema.decodeUnknownEither(schema, { onExcessProperty: "preserve" })
  return (value) => Either.mapLeft(decode(value), issueOf)
}

/** @internal */
export const at = (prefix: string) => (issue: Issue): Issue => ({
  ...issue,
  field: [prefix, issue.field].filter(Boolean).join(".")
})

/**
 * Decodes the items of a list one after the other.
 *
 * @internal
 */
export const each = <A, B>(
  items: ReadonlyArray<A>,
  path: string,
  decode: (item: A, index: number) => Either.Either<B, Issue>
): Either.Either<ReadonlyArray<B>, Issue> => {
  const out: Array<B> = []
  for (let i = 0; i < items.length; i++) {
    const one = decode(items[i], i)
    if (Either.isLeft(one)) return Either.left(at(path === "" ? String(i) : `${path}.${i}`)(one.left))
    out.push(one.right)
  }
  return Either.right(out)
}
