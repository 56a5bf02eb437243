/**
 * MT-bench: a question of several turns, with a reference answer where there is one.
 *
 * Not carried when written: system messages, calls, results, files and reasoning, and more than one message a turn.
 *
 * @since 0.1.0
 */
import * as Either from "effect/Either"
import * as Schema from "effect/Schema"
import * as Message from "effect-memory/Message"
import type { DocumentCodec, Encoded } from "./Codec.js"
import type { Conversation } from "./Conversation.js"
import * as decode from "./internal/decode.js"
import * as envelope from "./internal/envelope.js"
import * as json from "./internal/json.js"
import * as options from "./internal/options.js"

const id = "mt-bench"

const Question = Schema.Struct({ turns: Schema.Array(Schema.String) })

const Answer = Schema.Struct({ choices: Schema.NonEmptyArray(Question) })

const checkQuestion = decode.checker(Question)

const checkJoined = decode.checker(
  Schema.Struct({ question: Question, reference_answer: Schema.optional(Schema.NullOr(Answer)) })
)

const textOf = (message: Message.Message, lost: options.Ledger): string => {
  const parts = Message.parts(message)
  lost.add("part that is no text", parts.filter((part) => part.type !== "text").length)
  return parts.flatMap((part) => part.type === "text" ? [part.text] : []).join("\n")
}

const interleave = (
  questions: ReadonlyArray<string>,
  answers: ReadonlyArray<string>
): ReadonlyArray<Message.Message> =>
  questions.flatMap((question, i) =>
    i < answers.length ? [Message.user(question), Message.assistant(answers[i])] : [Message.user(question)]
  )

const encode = (conversation: Conversation): Encoded => {
  const lost = options.ledger("lost")
  const questions: Array<string> = []
  const answers: Array<string> = []
  for (const message of conversation.messages) {
    if (message.role === "user") questions.push(textOf(message, lost))
    else if (message.role === "assistant" && answers.length < questions.length) answers.push(textOf(message, lost))
    else lost.add(`${message.role} message`)
  }
  const { at, fields } = envelope.own(conversation, id, "question", lost)
  if (at === "") return { values: [{ ...fields, turns: questions }], notes: lost.notes() }
  const reference = json.isRecord(fields.reference_answer) ? fields.reference_answer : {}
  const [choice, ...others] = (Array.isArray(reference.choices) ? reference.choices : [{}]) as ReadonlyArray<object>
  const answer = { ...reference, choices: [{ ...choice, turns: answers }, ...others] }
  const question = json.isRecord(fields.question) ? fields.question : {}
  const present = answers.length > 0 || json.isRecord(fields.reference_answer)
  return {
    values: [{
      ...fields,
      question: { ...question, turns: questions },
      reference_answer: present ? answer : null
    }],
    notes: lost.notes()
  }
}

/**
 * @since 0.1.0
 * @category codecs
 */
export const codec: DocumentCodec = {
  id,
  title: "MT-bench",
  layout: "document",
  match: (value) => {
    if (!json.isRecord(value)) return 0
    if (json.isRecord(value.question) && Array.isArray(value.question.turns)) return 3
    return "question_id" in value && Array.isArray(value.turns) ? 3 : 0
  },
  decode: (value) => {
    if (json.isRecord(value) && !("question" in value)) {
      return Either.map(checkQuestion(value), (question) => ({
        messages: interleave(question.turns, []),
        envelope: { at: "", fields: json.rest(question, ["turns"]) }
      }))
    }
    return Either.map(checkJoined(value), (joined) => {
      const { question, reference_answer: answer } = joined
      const answers = answer?.choices[0].turns ?? []
      return {
        messages: interleave(question.turns, answers),
        // Answers beyond the questions have no place among the messages.
        notes: answers.length > question.turns.length
          ? [{
            kind: "skipped" as const,
            what: "answer without a question",
            count: answers.length - question.turns.length
          }]
          : [],
        envelope: {
          at: "question",
          fields: {
            ...json.rest(joined, ["question", "reference_answer"]),
            question: json.rest(question, ["turns"]),
            reference_answer: answer === null || answer === undefined
              ? null
              : { ...answer, choices: [json.rest(answer.choices[0], ["turns"]), ...answer.choices.slice(1)] }
          }
        }
      }
    })
  },
  encode
}
