/**
 * Messages into `ModelMessage`s.
 */
import type * as Message from "effect-memory/Message"
import * as json from "./json.js"
import * as media from "./media.js"
import * as options from "./options.js"
import * as metadata from "./vercelMetadata.js"
import { format, outputType } from "./vercelModelDecode.js"

type Owner = { readonly options: Message.ProviderOptions }

const marksOf = (of: Owner): json.JsonRecord => options.get(of, format)

/** What stands beside the fields of a part. */
const extras = (of: Owner): json.JsonRecord => {
  const { fields } = marksOf(of)
  return json.compact({ providerOptions: metadata.write(of, format), ...(json.isRecord(fields) ? fields : {}) })
}

const file = (part: Message.FilePart): json.JsonRecord => {
  const marks = marksOf(part)
  if (json.isRecord(marks.block)) return marks.block
  const data = "data" in marks && part.data === ""
    ? marks.data
    : part.data instanceof URL || json.isString(marks.url)
    ? media.linkText(part.data instanceof URL || json.isString(part.data) ? part.data : "", marks.url)
    : marks.form === "dataUrl"
    ? media.toDataUrl(part.mediaType, media.base64(part.data))
    : media.base64(part.data)
  const mediaType = marks.media === "none" ? undefined : part.mediaType
  return json.compact({
    type: marks.image === true ? "image" : "file",
    [marks.image === true ? "image" : "data"]: data,
    mediaType,
    filename: part.fileName,
    ...extras(part)
  })
}

const result = (part: Message.ToolResultPart): json.JsonRecord => {
  const marks = marksOf(part)
  // A type that was read fits as long as the result is of its kind.
  const read = json.isString(marks.output) ? marks.output : undefined
  const fits = read !== undefined && (!/^(error-)?text$/.test(read) || json.isString(part.result)) &&
    (read !== "content" || Array.isArray(part.result)) &&
    (read.startsWith("error") || read === "execution-denied") === part.isFailure
  const output = {
    type: fits ? read : outputType(part.result, part.isFailure),
    value: marks.value === "absent" && part.result === null ? undefined : part.result,
    ...(json.isRecord(marks.outputFields) ? marks.outputFields : {})
  }
  return {
    type: "tool-result",
    toolCallId: part.id,
    toolName: part.name,
    output: json.compact(output),
    ...extras(part)
  }
}

const part = (one: Message.Part): json.JsonRecord => {
  switch (one.type) {
    case "text":
    case "reasoning":
      return { type: one.type, text: one.text, ...extras(one) }
    case "file":
      return file(one)
    case "tool-call": {
      const { input } = marksOf(one)
      const empty = json.same(one.params, {})
      return json.compact({
        type: "tool-call",
        toolCallId: one.id,
        toolName: one.name,
        input: input === "absent" && empty ? undefined : input === "null" && empty ? null : one.params,
        providerExecuted: one.providerExecuted ? true : undefined,
        ...extras(one)
      })
    }
    case "tool-result":
      return result(one)
  }
}

/** The parts of a tool message: those that are no results where they stood. */
const toolParts = (message: Message.ToolMessage): ReadonlyArray<unknown> => {
  const read = marksOf(message).parts
  if (!Array.isArray(read)) return message.content.map(result)
  const results = new Map(message.content.map((one) => [one.id, one]))
  return (read as ReadonlyArray<unknown>).flatMap((one) => {
    if (!json.isRecord(one) || one.type !== "tool-result") return [one]
    const found = results.get(String(one.toolCallId))
    return found === undefined ? [] : [result(found)]
  })
}

const message = (one: Message.Message): json.JsonRecord => {
  switch (one.role) {
    case "system":
      return { role: one.role, content: one.content, ...extras(one) }
    case "tool":
      return { role: one.role, content: toolParts(one), ...extras(one) }
    default: {
      const items = (one.content as ReadonlyArray<Message.Part>).map(part)
      const [only, ...more] = items
      const plain = only !== undefined && more.length === 0 && only.type === "text" && Object.keys(only).length === 2
      const content = marksOf(one).content === "string" && plain ? only.text : items
      return { role: one.role, content, ...extras(one) }
    }
  }
}

/** @internal */
export const messages = (all: ReadonlyArray<Message.Message>): ReadonlyArray<json.JsonRecord> => all.map(message)
