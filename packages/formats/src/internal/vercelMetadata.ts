/**
 * Provider metadata of the Vercel AI SDK, and what of it other formats know too.
 */
import type * as Message from "effect-memory/Message"
import * as json from "./json.js"
import * as options from "./options.js"

const field = (metadata: json.JsonRecord, provider: string, name: string): unknown => {
  const fields = metadata[provider]
  return json.isRecord(fields) ? fields[name] : undefined
}

/**
 * Options of a part: the metadata under the name of the format, and what providers want back under theirs.
 *
 * @internal
 */
export const read = (
  metadata: unknown,
  format: string,
  marks: json.JsonRecord,
  reasoning = false
): Message.ProviderOptions => {
  if (!json.isRecord(metadata)) return options.make({ [format]: marks })
  const id = field(metadata, "openai", "itemId")
  const encrypted = field(metadata, "openai", "reasoningEncryptedContent")
  return options.make({
    anthropic: {
      signature: field(metadata, "anthropic", "signature"),
      data: field(metadata, "anthropic", "redactedData")
    },
    google: { thoughtSignature: field(metadata, "google", "thoughtSignature") },
    openai: {
      item: reasoning && json.isString(id) && json.isString(encrypted)
        ? { id, summary: [], encrypted_content: encrypted }
        : undefined
    },
    [format]: { ...marks, metadata }
  })
}

/**
 * The metadata to write: what was read, or what is known of the provider.
 *
 * @internal
 */
export const write = (
  of: { readonly options: Message.ProviderOptions },
  format: string
): json.JsonRecord | undefined => {
  const { metadata } = options.get(of, format)
  if (json.isRecord(metadata)) return metadata
  const item = options.get(of, "openai").item
  const { data, signature } = options.get(of, "anthropic")
  const made = options.make({
    anthropic: { signature, redactedData: data },
    google: { thoughtSignature: options.get(of, "google").thoughtSignature },
    openai: json.isRecord(item) ? { itemId: item.id, reasoningEncryptedContent: item.encrypted_content } : {}
  })
  return Object.keys(made).length === 0 ? undefined : made
}
