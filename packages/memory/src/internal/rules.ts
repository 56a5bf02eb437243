/**
 * What providers refuse: each kind of fault with the rule sets that ask for its absence and what to do about it.
 */

/** One rule set, or all of them. */
export type Rules = "pairing" | "anthropic" | "openai" | "gemini" | "strict"

/** A rule set that a fault can break. */
type Rule = Exclude<Rules, "strict">

interface Kind {
  /** The rule sets that ask for it; `pairing` is part of all others. */
  readonly rules: ReadonlyArray<Rule>
  /** What to do. */
  readonly remedy: string
}

/** Faults of a whole message. */
const messageKinds = {
  /** Refused by all: no parts at all, or a blank system message. */
  EmptyMessage: { rules: ["pairing"], remedy: "Leave the message out." },
  /** Anthropic and Gemini take the system prompt beside the messages, not among them. */
  SystemNotFirst: {
    rules: ["anthropic", "gemini"],
    remedy: "Put it before all other messages, or say it in a user message."
  },
  /** Anthropic, older versions: the first message must have the role user. */
  FirstNotUser: { rules: ["anthropic"], remedy: "Start with a user message." },
  /** Anthropic wants at least one message beside the system prompt, Gemini contents. */
  NoUser: { rules: ["anthropic", "gemini"], remedy: "Add a user message." },
  /** Anthropic, older versions and proxies: roles must alternate; a call's results stand in one message. */
  RolesNotAlternating: { rules: ["anthropic", "gemini"], remedy: "Merge it with the message before it." },
  /** Gemini: a function call turn comes immediately after a user turn or a function response turn. */
  CallNotAfterUser: { rules: ["gemini"], remedy: "Put a user message before it." }
} satisfies Record<string, Kind>

/** Faults of one part. */
const partKinds = {
  /** Refused by all: blank text, blank reasoning without a signature. */
  EmptyPart: { rules: ["pairing"], remedy: "Leave the part out." },
  /** Refused by all: a lone surrogate, or what JSON cannot carry otherwise. */
  IllFormed: { rules: ["pairing"], remedy: "Decode the message with Message.fromUnknown before it is recorded." },
  /** Anthropic: text behind a call counts as a call without its results immediately after. */
  TextAfterCall: { rules: ["anthropic"], remedy: "Put the part before the calls of its message." },
  /** Anthropic refuses messages of reasoning alone, OpenAI reasoning without its required following item. */
  LooseReasoning: {
    rules: ["anthropic", "openai"],
    remedy: "Keep it with the text or call that it led to, or leave it out."
  },
  /** Anthropic: final assistant content cannot end with trailing white space. */
  TrailingWhiteSpace: { rules: ["anthropic"], remedy: "Cut the white space at the end of the text." },
  /** OpenAI takes images and files in user messages only. */
  FileInAssistant: { rules: ["openai"], remedy: "Put the file into a user message." }
} satisfies Record<string, Kind>

/** Faults of a call or a result. */
const callKinds = {
  /** Refused by all: a result without a call before it, or of a call that was given up. */
  OrphanResult: { rules: ["pairing"], remedy: "Leave the result out, or bring its call back." },
  /** Refused by all: a second result of one call. */
  RepeatedResult: { rules: ["pairing"], remedy: "Keep one result for each call." },
  /** Refused by all: a call that nobody answered before the user went on. */
  UnansweredCall: { rules: ["pairing"], remedy: "Close the call with a result that says that it failed." },
  /** A call at the end of the newest round whose result may still come. */
  OpenCall: { rules: ["pairing"], remedy: "Record its result before the next request." },
  /** Refused by all: a call with the id of an earlier one. */
  DuplicateId: { rules: ["pairing"], remedy: "Give every call an id of its own." },
  /** Refused by all: something else stands between a call and its result. */
  ResultOutOfPlace: { rules: ["pairing"], remedy: "Put the result right behind the message of its call." },
  /** Anthropic, OpenAI and Gemini take results in a message of their own. */
  ResultInAssistant: {
    rules: ["anthropic", "openai", "gemini"],
    remedy: "Put the result into a tool message behind the message of its call."
  },
  /** Anthropic and Gemini take arguments as an object; a cut stream leaves text. */
  PartialArguments: {
    rules: ["anthropic", "gemini"],
    remedy: "Give the arguments as an object, or leave the call out."
  }
} satisfies Record<string, Kind>

/** What all findings tell. */
interface At<Tag extends string> {
  readonly _tag: Tag
  /** The rule set that it breaks. */
  readonly rule: Rule
  /** Index of the message. */
  readonly message: number
  /** What to do. */
  readonly remedy: string
}

interface AtPart<Tag extends string> extends At<Tag> {
  /** Index of the part in its message. */
  readonly part: number
}

interface AtCall<Tag extends string> extends AtPart<Tag> {
  /** Id of the tool call. */
  readonly callId: string
}

type MessageKind = keyof typeof messageKinds
type PartKind = keyof typeof partKinds
type CallKind = keyof typeof callKinds

export type Finding =
  | { readonly [Tag in MessageKind]: At<Tag> }[MessageKind]
  | { readonly [Tag in PartKind]: AtPart<Tag> }[PartKind]
  | { readonly [Tag in CallKind]: AtCall<Tag> }[CallKind]

const kinds: { readonly [Tag in Finding["_tag"]]: Kind } = { ...messageKinds, ...partKinds, ...callKinds }

/** The rule set among these rules that asks for the absence of a fault; the first of several. */
const ruleOf = (tag: Finding["_tag"], rules: Rules): Rule | undefined => {
  const asked = kinds[tag].rules
  return rules === "strict" || asked[0] === "pairing" ? asked[0] : asked.find((rule) => rule === rules)
}

/** @internal */
export const asks = (rules: Rules, tag: Finding["_tag"]): boolean => ruleOf(tag, rules) !== undefined

/** Collects the faults that the rules ask about. @internal */
export class Findings {
  readonly list: Array<Finding> = []

  constructor(private readonly rules: Rules) {}

  message(_tag: MessageKind, message: number): void {
    const rule = ruleOf(_tag, this.rules)
    if (rule !== undefined) this.list.push({ _tag, rule, message, remedy: kinds[_tag].remedy })
  }

  part(_tag: PartKind, message: number, part: number): void {
    const rule = ruleOf(_tag, this.rules)
    if (rule !== undefined) this.list.push({ _tag, rule, message, part, remedy: kinds[_tag].remedy })
  }

  call(_tag: CallKind, message: number, part: number, callId: string): void {
    const rule = ruleOf(_tag, this.rules)
    if (rule !== undefined) this.list.push({ _tag, rule, message, part, callId, remedy: kinds[_tag].remedy })
  }
}
