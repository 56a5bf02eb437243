/**
 * Texts to count, from what is installed with this package: documents, sources, manifests and translated messages of
 * others, in an order from a seed. No paragraph comes twice. Base64 and half of the JSON are generated from the seed.
 */
import { readdirSync, readFileSync } from "node:fs"
import { createRequire } from "node:module"
import { basename, dirname, extname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { makeRandom } from "../../test/support/random.js"

const require = createRequire(import.meta.url)

const random = makeRandom(2026)

// ---------------------------------------------------------------------------
// Files
// ---------------------------------------------------------------------------

/** Files below a folder, without those of other packages. */
const walk = (folder: string): ReadonlyArray<string> =>
  readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    if (entry.isSymbolicLink() || entry.name === "node_modules") return []
    const path = join(folder, entry.name)
    return entry.isDirectory() ? walk(path) : [path]
  })

/** Files of all installed packages, of a package that is installed more than once those of the last version. */
const installedFiles = (): ReadonlyArray<string> => {
  const store = fileURLToPath(new URL("../../../../node_modules/.pnpm", import.meta.url))
  const folders = new Map<string, string>()
  for (const version of readdirSync(store).sort()) {
    const name = /^(@?[^@]+)@/.exec(version)?.[1].replace("+", "/")
    if (name !== undefined) folders.set(name, join(store, version, "node_modules", name))
  }
  return [...folders.values()].flatMap(walk)
}

const shuffled = <A>(items: ReadonlyArray<A>): ReadonlyArray<A> => {
  const all = [...items]
  for (let i = all.length - 1; i > 0; i--) {
    const j = random.below(i + 1)
    const item = all[i]
    all[i] = all[j]
    all[j] = item
  }
  return all
}

/** Texts up to a length in all, each paragraph once. */
const paragraphsOf = (texts: Iterable<string>, length: number): string => {
  const seen = new Set<string>()
  const found: Array<string> = []
  let size = 0
  for (const text of texts) {
    for (const paragraph of text.split(/\n\s*\n/)) {
      if (size >= length) return found.join("\n\n").slice(0, length)
      if (seen.has(paragraph.trim())) continue
      seen.add(paragraph.trim())
      found.push(paragraph)
      size += paragraph.length + 2
    }
  }
  return found.join("\n\n")
}

const files = shuffled(installedFiles())

const contents = function*(isWanted: (name: string, path: string) => boolean): Generator<string> {
  for (const path of files) {
    if (isWanted(basename(path).toLowerCase(), path)) yield readFileSync(path, "utf8")
  }
}

// ---------------------------------------------------------------------------
// Kinds of text
// ---------------------------------------------------------------------------

const documents = (): Iterable<string> =>
  contents((name) => name.endsWith(".md") && !/licen[sc]e|notice|third|copying/.test(name))

/** Paragraphs and items of documents that are sentences. */
const sentences = function*(): Generator<string> {
  for (const document of documents()) {
    for (const paragraph of document.replace(/^```[^]*?^```/gm, "").split(/\n\s*\n|^\s*[-*+] /m)) {
      const text = paragraph.trim()
      if (text.length > 60 && /^[A-Z`"*][^<>|{}]*[.!?:]$/.test(text)) yield text
    }
  }
}

/** Sources as people write them: what is minified, generated or data has long lines or is long. */
const sources = function*(): Generator<string> {
  const extensions = [".ts", ".js", ".mjs", ".cjs"]
  for (
    const source of contents((name, path) =>
      extensions.includes(extname(name)) && !/\.d\.[mc]?ts$|[.-]min\.|bundle|bpeRanks/.test(path)
    )
  ) {
    if (source.length < 30_000 && !/.{300}/.test(source)) yield source
  }
}

const englishWords =
  "harbour morning boat report server retry window budget message token review ticket customer invoice delay ship " +
  "order refund parcel answer question schedule meeting release branch deploy failure memory summary"

/** Records as a service answers with them. */
const records = (): string => {
  const words = englishWords.split(" ")
  const items = Array.from({ length: 5 }, () => ({
    id: `${random.below(2 ** 31).toString(16)}-${random.below(2 ** 31).toString(16)}`,
    created_at: `2026-${10 + random.below(3)}-${10 + random.below(18)}T0${random.below(10)}:15:22.${
      random.below(1000)
    }Z`,
    status: random.pick(["open", "closed", "pending"]),
    total: random.below(1_000_000) / 100,
    title: Array.from({ length: 6 }, () => random.pick(words)).join(" "),
    tags: [random.pick(words), random.pick(words)],
    customer: { name: random.pick(words), isActive: random.below(2) === 1, address: null }
  }))
  return JSON.stringify(items, null, 1)
}

const manifestsAndRecords = function*(): Generator<string> {
  for (const manifest of contents((name) => name === "package.json")) {
    yield manifest
    yield records()
  }
}

/** What the compiler of TypeScript says in a language. */
const messages = (language: string): ReadonlyArray<string> => {
  const folder = join(dirname(require.resolve("typescript/package.json")), "lib", language)
  const file = readFileSync(join(folder, "diagnosticMessages.generated.json"), "utf8")
  return shuffled(Object.values(JSON.parse(file) as Readonly<Record<string, string>>))
}

/** Messages in twelve languages, with sentences, lines of code and emoji between. */
const mixed = function*(prose: string, code: string): Generator<string> {
  const languages = ["cs", "de", "es", "fr", "it", "ja", "ko", "pl", "pt-br", "ru", "tr", "zh-cn"].map(messages)
  for (let i = 0; i < languages[0].length; i++) {
    for (const language of languages) {
      const at = random.below(prose.length - 200)
      yield `${language[i % language.length]} ${random.pick(["😀", "✅", "🚀", "—", "…"])} ${
        prose.slice(at, at + 60)
      }\n${code.slice(at, at + 60)}`
    }
  }
}

const base64 = (length: number): string => {
  const bytes = Uint8Array.from({ length: Math.ceil(length * 3 / 4) }, () => random.below(256))
  return Buffer.from(bytes).toString("base64")
}

/** At most so many units of UTF-16 of each kind. Of Chinese and Japanese there are some 100,000. */
export const corpora = (length: number): Readonly<Record<string, string>> => {
  const prose = paragraphsOf(sentences(), length)
  const code = paragraphsOf(sources(), length)
  return {
    prose,
    markdown: paragraphsOf(documents(), length),
    code,
    JSON: paragraphsOf(manifestsAndRecords(), length),
    Chinese: paragraphsOf([...messages("zh-cn"), ...messages("zh-tw")], length).replaceAll("\n\n", "\n"),
    Japanese: paragraphsOf(messages("ja"), length).replaceAll("\n\n", "\n"),
    mixed: paragraphsOf(mixed(prose, code), length),
    base64: base64(length)
  }
}

/** Cuts a text into flat strings of a length. */
export const cut = (text: string, length: number): ReadonlyArray<string> => {
  const texts: Array<string> = []
  for (let at = 0; at + length <= text.length; at += length) {
    texts.push(Buffer.from(text.slice(at, at + length).toWellFormed()).toString())
  }
  return texts
}
