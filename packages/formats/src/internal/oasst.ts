/**
 * OpenAssistant trees into messages.
 */
import * as Either from "effect/Either"
import * as Schema from "effect/Schema"
import * as Message from "effect-memory/Message"
import type { Decoded, Issue, Likeness, Session } from "../Codec.js"
import * as decode from "./decode.js"
import * as json from "./json.js"
import { append } from "./lists.js"
import * as options from "./options.js"

/** @internal */
export const format = "oasst"

const optional = <A, I>(schema: Schema.Schema<A, I>) => Schema.optional(Schema.NullOr(schema))

const Node = Schema.Struct({
  text: Schema.String,
  role: Schema.Literal("prompter", "assistant"),
  rank: optional(Schema.Number),
  message_id: optional(Schema.String),
  parent_id: optional(Schema.String),
  // The names of the seed data.
  user_message_id: optional(Schema.String),
  parent_message_id: optional(Schema.String),
  replies: optional(Schema.Array(Schema.Unknown))
})

type Node = typeof Node.Type

const check = decode.checker(Node)

const Tree = Schema.Struct({ message_tree_id: optional(Schema.String), prompt: Node })

const checkTree = decode.checker(Tree)

const messageOf = (node: Node): Message.Message => {
  const marks = options.make({ [format]: { fields: json.unlessEmpty(json.rest(node, ["text", "role", "replies"])) } })
  return node.role === "prompter" ? Message.user(node.text, marks) : Message.assistant(node.text, marks)
}

/** The reply of the best rank: the lowest number, and the first one of equals. */
const best = (replies: ReadonlyArray<Node>): Node | undefined => {
  let found: Node | undefined
  for (const reply of replies) {
    if (found === undefined || (reply.rank ?? Infinity) < (found.rank ?? Infinity)) found = reply
  }
  return found
}

/** The path from a root, and how many nodes are not on it. */
const follow = (root: Node, repliesOf: (node: Node) => ReadonlyArray<Node>): Decoded => {
  const skipped = options.ledger("skipped")
  const messages: Array<Message.Message> = []
  const sizes: Array<Node> = []
  const seen = new Set<Node>()
  for (let node: Node | undefined = root; node !== undefined && !seen.has(node);) {
    seen.add(node)
    messages.push(messageOf(node))
    const replies: ReadonlyArray<Node> = repliesOf(node)
    const next = best(replies)
    append(sizes, replies.filter((reply) => reply !== next))
    node = next
  }
  // Everything below a reply that is not followed is left out with it.
  for (let node = sizes.pop(); node !== undefined; node = sizes.pop()) {
    if (seen.has(node)) continue
    seen.add(node)
    skipped.add("reply of another branch")
    append(sizes, repliesOf(node))
  }
  return { messages, notes: skipped.notes() }
}

/** What is wrong with a node or with one below it. */
const fault = (root: Node, path: string): Issue | undefined => {
  const open: Array<{ readonly node: Node; readonly path: string }> = [{ node: root, path }]
  for (let one = open.pop(); one !== undefined; one = open.pop()) {
    const { node, path: above } = one
    for (const [i, reply] of (node.replies ?? []).entries()) {
      const below = [above, "replies", i].filter((step) => step !== "").join(".")
      const found = check(reply)
      if (Either.isLeft(found)) return decode.at(below)(found.left)
      open.push({ node: found.right, path: below })
    }
  }
  return undefined
}

const repliesInside = (node: Node): ReadonlyArray<Node> =>
  (node.replies ?? []).flatMap((reply) => Either.match(check(reply), { onLeft: () => [], onRight: (one) => [one] }))

const idOf = (node: Node): string | undefined => node.message_id ?? node.user_message_id ?? undefined

const parentOf = (node: Node): string | undefined => node.parent_id ?? node.parent_message_id ?? undefined

/** Trees from nodes in any order: a node whose parent is not there is a root. */
const trees = (nodes: ReadonlyArray<Node>): ReadonlyArray<Decoded> => {
  const ids = new Set(nodes.flatMap((node) => idOf(node) ?? []))
  const children = new Map<string, Array<Node>>()
  const roots: Array<Node> = []
  for (const node of nodes) {
    const parent = parentOf(node)
    if (parent === undefined || !ids.has(parent)) {
      roots.push(node)
      continue
    }
    const siblings = children.get(parent)
    if (siblings === undefined) children.set(parent, [node])
    else siblings.push(node)
  }
  return roots.map((root) => follow(root, (node) => children.get(idOf(node) ?? "") ?? []))
}

/** @internal */
export const open = (): Session => {
  const nodes: Array<Node> = []
  let complete: Array<Decoded> = []
  return {
    push: (value) => {
      if (json.isRecord(value) && "prompt" in value) {
        const tree = checkTree(value)
        if (Either.isLeft(tree)) return tree.left
        const issue = fault(tree.right.prompt, "prompt")
        if (issue !== undefined) return issue
        const fields = json.rest(tree.right, ["prompt"])
        complete.push({ ...follow(tree.right.prompt, repliesInside), envelope: { at: "prompt", fields } })
        return undefined
      }
      const node = check(value)
      if (Either.isLeft(node)) return node.left
      const issue = fault(node.right, "")
      if (issue !== undefined) return issue
      if (Array.isArray(node.right.replies) && node.right.replies.length > 0) {
        complete.push(follow(node.right, repliesInside))
      } else {
        nodes.push(node.right)
      }
      return undefined
    },
    take: () => {
      const found = complete
      complete = []
      return found
    },
    end: () => trees(nodes)
  }
}

const isNode = (value: unknown): boolean =>
  json.isRecord(value) && json.isString(value.text) && (value.role === "prompter" || value.role === "assistant")

/** @internal */
export const match = (value: unknown): Likeness => {
  if (!json.isRecord(value)) return 0
  if (isNode(value.prompt)) return 3
  return isNode(value) && (value.role === "prompter" || "parent_id" in value || "parent_message_id" in value) ? 3 : 0
}
