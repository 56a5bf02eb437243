/**
 * Messages of all kinds, for stores to keep.
 */
import * as Message from "../../Message.js"

const scripts = [
  "Where does the bus stop?",
  "今天的天气怎么样？",
  "バスはどこに止まりますか。",
  "오늘은 비가 옵니다",
  "أين تقف الحافلة؟",
  "बस कहाँ रुकती है?",
  "👩‍👩‍👧‍👦 🏳️‍🌈 e\u0301",
  "'; drop table entries; -- \\ \" ` ${x} %s",
  "line\nfeed\r\n\ttab \u0000 nul \u2028 \ufeff",
  "<|endoftext|>",
  ""
]

const params = {
  text: "x",
  nothing: null,
  yes: true,
  numbers: [0, -1, 1.5, 1e21, Number.MAX_SAFE_INTEGER],
  nested: { list: [[], {}, [{ a: [1] }]] },
  "": "an empty key",
  ["__proto__"]: "a key that objects know"
}

/** @internal */
export const everyKind: ReadonlyArray<Message.Message> = [
  ...scripts.map((text) => Message.system(text)),
  ...scripts.map((text) => Message.user(text)),
  Message.user([]),
  Message.user([
    Message.text("Look.", { anthropic: { cacheControl: { type: "ephemeral" } } }),
    Message.file({ mediaType: "image/png", data: Uint8Array.of(0, 1, 254, 255), fileName: "a b.png" }),
    Message.file({ mediaType: "image/png", data: new Uint8Array() }),
    Message.file({ mediaType: "application/pdf", data: new URL("https://example.com/a%20b.pdf?x=1#y") }),
    Message.file({ mediaType: "audio/wav", data: "UklGRg==" })
  ], { openai: { name: "käthe" } }),
  Message.assistant([
    Message.reasoning("Hm.", { anthropic: { signature: "c2ln", redacted: null } }),
    Message.text("I shall look."),
    Message.toolCall({ id: "c1", name: "search", params }),
    Message.toolCall({ id: "__proto__", name: "", params: "text", providerExecuted: true }),
    Message.toolResult({ id: "__proto__", name: "", result: [1, "2", null], providerExecuted: true })
  ]),
  Message.tool([
    Message.toolResult({ id: "c1", name: "search", result: params }),
    Message.toolResult({ id: "c2", name: "搜索", result: "it failed", isFailure: true }),
    Message.toolResult({ id: "c3", name: "n", result: null }),
    Message.toolResult({ id: "c4", name: "n", result: 0 })
  ], { own: { deep: { list: [1, { two: "2" }] } } })
]
