/**
 * What keeps a recorded conversation from being sent.
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"
import type * as Message from "effect-memory/Message"
import * as Transcript from "effect-memory/Transcript"

/**
 * Something that cannot be sent.
 *
 * @since 0.1.0
 * @category models
 */
export const Finding = Schema.TaggedStruct("Finding", {
  /** Place of the conversation in the file, from 1. */
  conversation: Schema.Number,
  /** Place of the message in the conversation, from 1. */
  message: Schema.Number,
  role: Schema.String,
  /** Place of the part in the message, from 1. */
  part: Schema.optional(Schema.Number),
  /** Id of the call. */
  callId: Schema.optional(Schema.String),
  /** What it is, such as `OrphanResult`. */
  finding: Schema.String,
  /** Whose rule it breaks: `pairing` where all ask for it. */
  rule: Schema.String,
  /** What to do. */
  remedy: Schema.String,
  /** Whether nothing is wrong yet: a call at the end whose result may still come. */
  open: Schema.Boolean
})

/**
 * @since 0.1.0
 * @category models
 */
export type Finding = typeof Finding.Type

/**
 * A conversation that was checked.
 *
 * @since 0.1.0
 * @category models
 */
export const Checked = Schema.TaggedStruct("Checked", {
  /** Place of the conversation in the file, from 1. */
  conversation: Schema.Number,
  messages: Schema.Number,
  /** What it was checked by. */
  rules: Schema.String,
  /** How many findings, open calls left aside. */
  findings: Schema.Number,
  /** Calls at the end whose results may still come. */
  open: Schema.Number
})

/**
 * @since 0.1.0
 * @category models
 */
export type Checked = typeof Checked.Type

/**
 * Checks a conversation by the rules of a provider.
 *
 * @since 0.1.0
 * @category checking
 */
export const check = (
  messages: ReadonlyArray<Message.Message>,
  options: {
    /** Place of the conversation in the file, from 1. */
    readonly conversation: number
    readonly rules: Transcript.Rules
  }
): { readonly findings: ReadonlyArray<Finding>; readonly checked: Checked } => {
  const { conversation, rules } = options
  const findings = Transcript.diagnose(messages, rules).map((finding) =>
    Finding.make({
      conversation,
      message: finding.message + 1,
      role: messages[finding.message]?.role ?? "none",
      ...("part" in finding ? { part: finding.part + 1 } : {}),
      ...("callId" in finding ? { callId: finding.callId } : {}),
      finding: finding._tag,
      rule: finding.rule,
      remedy: finding.remedy,
      open: finding._tag === "OpenCall"
    })
  )
  const open = findings.filter(({ open }) => open).length
  return {
    findings,
    checked: Checked.make({
      conversation,
      messages: messages.length,
      rules,
      findings: findings.length - open,
      open
    })
  }
}
