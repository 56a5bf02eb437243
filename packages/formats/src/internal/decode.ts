/**
 * Decoding wire values with schemas, with errors that name the field and never quote content.
 */
import * as Either from "effect/Either"
import type * as ParseResult from "effect/ParseResult"
import * as Schema from "effect/Schema"
import type * as AST from "effect/SchemaAST"
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

/** What a schema asks for, in words. */
const expectedOf = (ast: AST.AST): ReadonlyArray<string> => {
  switch (ast._tag) {
    case "StringKeyword":
      return ["text"]
    case "NumberKeyword":
      return ["a number"]
    case "BooleanKeyword":
      return ["true or false"]
    case "Literal":
      return [JSON.stringify(ast.literal)]
    case "TupleType":
      return ["a list"]
    case "TypeLiteral":
      return ["an object"]
    case "Union":
      return ast.types.flatMap(expectedOf)
    case "Refinement":
    case "Transformation":
      return expectedOf(ast.from)
    default:
      return []
  }
}

const isLiteral = (ast: AST.AST): boolean =>
  ast._tag === "Literal" || (ast._tag === "Union" && ast.types.every(isLiteral)) ||
  (ast._tag === "Refinement" && ast.from._tag === "StringKeyword")

interface Leaf {
  readonly path: ReadonlyArray<PropertyKey>
  readonly expected: ReadonlyArray<string>
  readonly actual: unknown
  /** Whether a literal was expected: such a field tells the members of a union apart. */
  readonly literal: boolean
}

/** The members of a union that were not ruled out by a literal in a field of theirs. */
const meant = (
  members: ReadonlyArray<ReadonlyArray<Leaf>>,
  depth: number
): ReadonlyArray<ReadonlyArray<Leaf>> => {
  const possible = members.filter((found) => !found.some((leaf) => leaf.literal && leaf.path.length === depth))
  return possible.length === 0 ? members : possible
}

const asList = <A>(one: A | ReadonlyArray<A>): ReadonlyArray<A> => Array.isArray(one) ? one : [one as A]

const leaves = (issue: ParseResult.ParseIssue, path: ReadonlyArray<PropertyKey>): ReadonlyArray<Leaf> => {
  switch (issue._tag) {
    case "Pointer":
      return leaves(issue.issue, [...path, ...asList<PropertyKey>(issue.path)])
    case "Composite": {
      const members = asList<ParseResult.ParseIssue>(issue.issues).map((inner) => leaves(inner, path))
      return (issue.ast._tag === "Union" ? meant(members, path.length + 1) : members).flat()
    }
    case "Refinement":
    case "Transformation":
      return leaves(issue.issue, path)
    case "Missing":
      return [{ path, expected: expectedOf(issue.ast.type), actual: undefined, literal: isLiteral(issue.ast.type) }]
    case "Unexpected":
      return [{ path, expected: [], actual: issue.actual, literal: false }]
    case "Type":
    case "Forbidden":
      return [{ path, expected: expectedOf(issue.ast), actual: issue.actual, literal: isLiteral(issue.ast) }]
  }
}

const pathText = (path: ReadonlyArray<PropertyKey>): string => path.map(String).join(".")

/** A union reports a leaf for each member; the deepest belongs to the member that was meant. */
const issueOf = (error: ParseResult.ParseError): Issue => {
  const found = leaves(error.issue, [])
  const deepest = found.reduce((best, leaf) => leaf.path.length > best.path.length ? leaf : best)
  const field = pathText(deepest.path)
  const expected = new Set(found.filter((leaf) => pathText(leaf.path) === field).flatMap((leaf) => leaf.expected))
  return {
    field,
    reason: `is ${describe(deepest.actual)}`,
    hint: `expected ${expected.size === 0 ? "another value" : Array.from(expected).join(" or ")}`
  }
}

/**
 * Checks a wire value by a schema that transforms nothing. The value itself comes back, with the fields that the schema
 * does not know, so that a field named `__proto__` stays a field.
 *
 * @internal
 */
export const checker = <A>(schema: Schema.Schema<A>): (value: unknown) => Either.Either<A, Issue> => {
  const decode = Schema.decodeUnknownEither(schema)
  return (value) => Either.mapBoth(decode(value), { onLeft: issueOf, onRight: () => value as A })
}

/**
 * Decodes by a schema.
 *
 * @internal
 */
export const decoder = <A, I>(schema: Schema.Schema<A, I>): (value: unknown) => Either.Either<A, Issue> => {
  const decode = Schema.decodeUnknownEither(schema)
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
