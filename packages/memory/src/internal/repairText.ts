/**
 * Messages as they stand in JSON: no lone surrogates, nothing that JSON cannot carry. The same references where nothing
 * is to be done.
 */
import type * as Message from "../Message.js"
import * as json from "./json.js"

/** @internal */
export const wellFormedPart = <P extends Message.Part>(part: P): P => {
  const fixed = fixedPart(part)
  return Object.entries(fixed).every(([key, value]) => Object.is(Reflect.get(part, key), value))
    ? part
    : { ...part, ...fixed }
}

const fixedPart = (part: Message.Part): Partial<Message.Part> => {
  switch (part.type) {
    case "text":
    case "reasoning":
      return { text: json.wellFormed(part.text) }
    case "file":
      return {
        mediaType: json.wellFormed(part.mediaType),
        ...(part.fileName === undefined ? {} : { fileName: json.wellFormed(part.fileName) }),
        ...(typeof part.data === "string" ? { data: json.wellFormed(part.data) } : {})
      }
    case "tool-call":
      return { ...identity(part), params: json.normalizeOrKeep(part.params) }
    case "tool-result":
      return { ...identity(part), result: json.normalizeOrKeep(part.result) }
  }
}

const identity = (part: Message.ToolCallPart | Message.ToolResultPart) => ({
  id: json.wellFormed(part.id),
  name: json.wellFormed(part.name)
})

/** @internal */
export const wellFormed = (message: Message.Message): Message.Message => {
  if (message.role === "system") {
    const content = json.wellFormed(message.content)
    return content === message.content ? message : { ...message, content }
  }
  const parts: ReadonlyArray<Message.Part> = message.content
  const content = parts.map(wellFormedPart)
  return content.every((part, i) => part === parts[i]) ? message : { ...message, content } as Message.Message
}
