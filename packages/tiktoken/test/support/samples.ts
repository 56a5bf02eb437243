/** Texts of every kind that conversations hold, written for these tests. */
export const samples: Readonly<Record<string, string>> = {
  empty: "",
  prose:
    "The harbour lay quiet that morning; nobody's boat had left yet, and the gulls, who'd grown used to scraps by " +
    "seven, wheeled over the pier complaining. \"We'll wait,\" said Marit. She didn't sound worried. It's 1,250 nautical " +
    "miles to Reykjavík, she'd done it 27 times, and—frankly—she'd rather be late than wet.\n\n",
  markdown: "# Release 2.4\n\n- **Fixed**: `parse()` no longer throws on `\\r\\n`\n- *Added*: tables\n\n| a | b |\n" +
    "| --- | ---: |\n| 1 | 20000 |\n\n```ts\nconst x = 1\n```\n\n> quoted, [linked](https://example.org/a?b=c#d)\n",
  code: "export const debounce = <A extends ReadonlyArray<unknown>>(f: (...args: A) => void, ms = 250) => {\n" +
    "  let timer: NodeJS.Timeout | undefined\n\treturn (...args: A): void => {\n    clearTimeout(timer)\n" +
    "    timer = setTimeout(() => { f(...args) }, ms) // TODO: HTTPServer, XMLHttpRequest2\n  }\n}\n",
  json: JSON.stringify(
    Array.from({ length: 12 }, (_, i) => ({
      id: `a3f9-${i * 7919}`,
      "price_eur": i * 12.5,
      tags: ["naïve", "A/B", null, true],
      nested: { "@type": "Étage", path: `C:\\temp\\${i}` }
    })),
    null,
    2
  ),
  chinese: "今天早上港口很安静,还没有船出海。海鸥在码头上空盘旋、抱怨。玛丽说:“我们等等吧。”她听起来并不担心!" +
    "从这里到雷克雅未克有1250海里,她已经走过27次了。",
  japanese: "今朝の港は静かで、まだ一隻の船も出ていない。カモメたちは桟橋の上を飛び回り、文句を言っている。" +
    "「待ちましょう」とマリットは言った。レイキャヴィークまで1250海里です。",
  korean: "오늘 아침 항구는 조용했다. 아직 아무 배도 떠나지 않았고, 갈매기들은 부두 위를 맴돌았다.",
  arabic: "كان الميناء هادئًا ذلك الصباح، ولم تُبحر أي سفينة بعد. قالت ماريت: «سننتظر». المسافة ١٢٥٠ ميلًا بحريًا.",
  hindi: "उस सुबह बंदरगाह शांत था; कोई नाव अभी तक नहीं निकली थी। मारित ने कहा, \"हम इंतज़ार करेंगे।\" १२५० मील।",
  russian:
    "В то утро в гавани было тихо: ни одна лодка ещё не вышла. «Подождём», — сказала Марит. До Рейкьявика 1250 миль.",
  thai: "เช้าวันนั้นท่าเรือเงียบสงบ ยังไม่มีเรือลำไหนออกเลย",
  german: "Donaudampfschifffahrtsgesellschaftskapitänsmütze, Straßenbahnhaltestelle; ÄÖÜ äöü ß – „nichts“",
  emoji: "Great job!!! 😀😀😀 👩‍👩‍👧‍👦 family, flags 🇳🇴🇯🇵, skin 👍🏽👍🏿, hearts ❤️❤️‍🔥, keycap 1️⃣",
  base64:
    "iVBORw0KGgoAAAANSUhEUgAAAAUAAAAFCAYAAACNbyblAAAAHElEQVQI12P4//8/w38GIAXDIBKE0DHxgljNBAAO9TXL0Y4OHwAAAABJRU5E" +
    "rkJggg==",
  hex: "deadbeefcafebabe0123456789abcdef0123456789ABCDEFfeedface",
  uuid: "7b1c6a5e-3c1f-4f0e-9d53-2f6f0c1a9e77, 018f3d2e-7c1a-7def-8b3a-5e9f1c2d3b4a",
  log: "2026-03-01T09:15:22.123Z ERROR [worker-7] GET /api/v2/orders?id=99 500 12ms {\"err\":\"ECONNRESET\"}\r\n",
  spaces: " a  b   c    d\t\te\n\n\nf \n g\r\n\r\n   h     ",
  newlines: "\n\n\n\r\n\r\n \n \n\t\n//\n///\n",
  contractions: "I'm you're he's we'll they'd I've CAN'T WON'T it'S 'tis 'Twas o'clock rock'n'roll it’s xſ 'ſ a'ſb",
  camel: "getHTTPResponseCodeFromXMLFile ABCdef ABC ÀÉÎõü iPhone McDonald'S",
  marks: "e\u0301 \u0301e A\u0301B \u0301ABC \u0301 a\u0301\u0301'll \u0903B \u0345\u0345X",
  byteOrderMark: "\ufeffHello \ufeff world\ufeff",
  nextLine: "a\u0085b \u0085 \u0085\u0085x",
  surrogates: "a\ud800b \udc00\ud83d \ud83d\ude00\ude00 \udfff",
  special: "<|endoftext|> then <|im_start|>system<|im_sep|> and <|fim_prefix|><|endofprompt|>",
  prototype: "__proto__ constructor hasOwnProperty toString valueOf prototype",
  control: "\u0000\u0001\u0007\u001b[31mred\u001b[0m\u007f"
}
