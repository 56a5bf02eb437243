/**
 * Conversations for servers of local models, which take chat messages as OpenAI does.
 */
import * as OpenAiChat from "@effect-memory/formats/OpenAiChat"
import type * as Message from "effect-memory/Message"
import * as sendable from "./sendable.js"

const form: sendable.Form = { codec: OpenAiChat.codec, rules: "openai", userLast: false }

/** The body of a request; none where there is nothing to send. @internal */
export const body = (
  messages: ReadonlyArray<Message.Message>,
  { model, tools }: { readonly model?: string | undefined; readonly tools?: ReadonlyArray<unknown> | undefined }
): { readonly [field: string]: unknown } | undefined => {
  const fields = sendable.write(messages, form)
  return fields === undefined ? undefined : {
    ...(model === undefined ? {} : { model }),
    messages: fields.messages,
    ...(tools === undefined ? {} : { tools })
  }
}
