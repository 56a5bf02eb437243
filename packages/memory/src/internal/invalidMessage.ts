/**
 * What is wrong with a message, in words that name the field and never quote its content.
 */
import * as ParseResult from "effect/ParseResult"

const expected: Readonly<Record<string, string>> = {
  role: `one of "system", "user", "assistant", "tool"`,
  type:
    `a part that its role may hold: "text" or "file", for an assistant "reasoning", "tool-call" or "tool-result" too, ` +
    `for a tool "tool-result" alone`,
  id: "text",
  name: "text",
  fileName: "text",
  content: "text, or a list of parts (text alone for a system message, results alone for a tool message)",
  text: "text",
  mediaType: "a media type such as \"image/png\"",
  data: "a base64 string, bytes or a URL",
  params: "a JSON value",
  result: "a JSON value",
  options: "an object of provider settings by provider name"
}

/** Fields whose values are names from a short list, never content. */
const quotable = new Set(["role", "type"])

const describe = (value: unknown, quote: boolean): string => {
  switch (typeof value) {
    case "string":
      return quote ? JSON.stringify(value.slice(0, 40)) : `a string of ${value.length} characters`
    case "number":
    case "boolean":
    case "undefined":
      return String(value)
    case "object":
      return value === null ? "null" : Array.isArray(value) ? `a list of ${value.length}` : "an object"
    default:
      return `a ${typeof value}`
  }
}

const valueAt = (input: unknown, path: ReadonlyArray<PropertyKey>): unknown =>
  path.reduce<unknown>(
    (value, key) => typeof value === "object" && value !== null ? Reflect.get(value, key) : undefined,
    input
  )

/** @internal */
export const describeIssue = (
  error: ParseResult.ParseError,
  input: unknown
): { readonly field: string; readonly given: string; readonly expected: string } => {
  const issues = ParseResult.ArrayFormatter.formatErrorSync(error)
  // A union reports one issue for each member; the deepest one belongs to the member that was meant.
  const path = issues.reduce<ReadonlyArray<PropertyKey>>(
    (deepest, issue) => issue.path.length > deepest.length ? issue.path : deepest,
    issues[0]?.path ?? []
  )
  const name = String(path.findLast((key) => typeof key === "string") ?? "")
  return {
    field: path.length === 0 ? "message" : path.map(String).join("."),
    given: describe(valueAt(input, path), quotable.has(name)),
    expected: typeof path.at(-1) === "number"
      ? expected["type"]
      : expected[name] ?? (path.length === 0 ? "an object with role and content" : "a value of another kind")
  }
}
