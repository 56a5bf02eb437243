/**
 * Gemini's `countTokens` with a whole request in it.
 */
import { type Asked, count, type Handler, isRecord, records, type Reply, unknownFields } from "./server.js"

type Json = { readonly [key: string]: unknown }

export const error = (
  code: number,
  status: string,
  message: string,
  details: ReadonlyArray<unknown> = [],
  headers: Reply["headers"] = {}
): Reply => ({ status: code, headers, body: { error: { code, message, status, details } } })

export const badKey: Reply = error(400, "INVALID_ARGUMENT", "API key not valid. Please pass a valid API key.", [
  { "@type": "type.googleapis.com/google.rpc.ErrorInfo", reason: "API_KEY_INVALID", domain: "googleapis.com" }
])

const refused = (message: string): Reply => error(400, "INVALID_ARGUMENT", message)

const contentFault = (content: Json, at: number): string | undefined => {
  const parts = records(content.parts)
  if (content.role !== "user" && content.role !== "model") return "Please use a valid role: user, model."
  if (parts.length === 0) {
    return `* GenerateContentRequest.contents[${at}].parts: contents.parts must not be empty.`
  }
  const known = [
    "text",
    "inlineData",
    "fileData",
    "functionCall",
    "functionResponse",
    "executableCode",
    "codeExecutionResult",
    "toolCall",
    "toolResponse"
  ]
  if (parts.some((part) => !known.some((name) => name in part))) {
    return `* GenerateContentRequest.contents[${at}].parts: required oneof field 'data' must have one initialized field`
  }
  if (
    parts.some(({ functionCall }) =>
      functionCall !== undefined && (!isRecord(functionCall) || !isRecord(functionCall.args))
    )
  ) {
    return `Invalid value at 'contents[${at}].parts.function_call.args'`
  }
  const responses = parts.filter((part) => "functionResponse" in part)
  if (responses.some(({ functionResponse }) => !isRecord(functionResponse) || !isRecord(functionResponse.response))) {
    return `Invalid value at 'contents[${at}].parts.function_response.response'`
  }
  if (responses.length > 0 && responses.length < parts.length) {
    return "Function response parts can not be mixed with other parts."
  }
}

const calls = (content: Json | undefined): number =>
  records(content?.parts).filter((part) => "functionCall" in part).length

const responses = (content: Json | undefined): number =>
  records(content?.parts).filter((part) => "functionResponse" in part).length

const fault = (request: Json): string | undefined => {
  const unknown = unknownFields(request, ["model", "contents", "systemInstruction", "tools"])
  if (unknown.length > 0) return `Invalid JSON payload received. Unknown name "${unknown[0]}"`
  const contents = records(request.contents)
  if (contents.length === 0) return "* GenerateContentRequest.contents: contents is not specified"
  for (const [at, content] of contents.entries()) {
    const previous = at === 0 ? undefined : contents[at - 1]
    const found = contentFault(content, at)
    if (found !== undefined) return found
    if (calls(content) > 0 && previous?.role !== "user") {
      return "Please ensure that function call turn comes immediately after a user turn or after a function response turn."
    }
    if (calls(previous) !== responses(content)) {
      return "Please ensure that the number of function response parts is equal to the number of function call parts of " +
        "the function call turn."
    }
  }
  if (contents[contents.length - 1].role === "model") return "Requests ending with a model turn are not supported"
}

/** Answers as the service does, to the key `AIza-valid` and models of the name gemini. */
export const gemini: Handler = ({ body, headers, path }: Asked) => {
  const [, model] = /^\/v1beta\/models\/([^/:]+):countTokens$/.exec(path) ?? []
  if (model === undefined) return { status: 404, body: "<!DOCTYPE html><title>Error 404 (Not Found)</title>" }
  if (headers["x-goog-api-key"] !== "AIza-valid") return badKey
  if (!model.startsWith("gemini-")) {
    return error(
      404,
      "NOT_FOUND",
      `models/${model} is not found for API version v1beta, or is not supported for countTokens. Call ` +
        "ModelService.ListModels to see the list of available models and their supported methods."
    )
  }
  const request = isRecord(body) ? body.generateContentRequest : undefined
  if (!isRecord(request)) return refused("Either contents or generateContentRequest must be set.")
  if (request.model !== `models/${model}`) return refused("The model of the request is not the model of the URL.")
  const found = fault(request)
  if (found !== undefined) return refused(found)
  const totalTokens = count(request)
  return { status: 200, body: { totalTokens, promptTokensDetails: [{ modality: "TEXT", tokenCount: totalTokens }] } }
}
