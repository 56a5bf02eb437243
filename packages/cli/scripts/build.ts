/**
 * Bundles the command into `dist`, with the licences of everything that is in the bundle.
 */
import * as fs from "node:fs"
import * as path from "node:path"
import { fileURLToPath } from "node:url"
import * as esbuild from "esbuild"

const root = fileURLToPath(new URL("..", import.meta.url))

interface Package {
  readonly name: string
  readonly version: string
  readonly license: string
  readonly folder: string
}

/** The package that a file belongs to: the nearest folder above with a manifest that has a name and a version. */
const packageOf = (file: string): Package => {
  for (let folder = path.dirname(file); folder !== path.dirname(folder); folder = path.dirname(folder)) {
    const manifest = path.join(folder, "package.json")
    if (!fs.existsSync(manifest)) continue
    const { license = "", name, version } = JSON.parse(fs.readFileSync(manifest, "utf8"))
    if (name !== undefined && version !== undefined) return { name, version, license, folder }
  }
  throw new Error(`${file} belongs to no package`)
}

const isLicence = (name: string): boolean => /^(licen[cs]e|notice|copying)/i.test(name)

/** Packages under the MIT licence that do not ship its text, by whom their repositories name. */
const holders: ReadonlyMap<string, string> = new Map([
  ["js-tiktoken", "Copyright (c) 2022 OpenAI, Shantanu Jain"]
])

/** Our own licence is the same, but for the holder. */
const mit = (holder: string): string =>
  fs.readFileSync(path.join(root, "..", "..", "LICENSE"), "utf8").replace(/^Copyright .*$/m, holder).trim()

/** The licence as the package ships it. */
const licenceOf = ({ folder, license, name }: Package): string => {
  const texts = fs.readdirSync(folder).filter(isLicence).sort().map((file) =>
    fs.readFileSync(path.join(folder, file), "utf8").trim()
  )
  if (texts.length > 0) return texts.join("\n\n")
  const holder = holders.get(name)
  if (license === "MIT" && holder !== undefined) return mit(holder)
  throw new Error(`${name} ships no text of its licence (${license}): find it, or do without the package`)
}

const noticesOf = (files: ReadonlyArray<string>): string => {
  const packages = new Map<string, Package>()
  for (const file of files) {
    // Our own packages are published under the licence of this one.
    if (!file.includes("node_modules")) continue
    const found = packageOf(path.resolve(root, file))
    packages.set(`${found.name} ${found.version}`, found)
  }
  const sections = Array.from(packages.entries()).sort(([a], [b]) => a < b ? -1 : 1).map(([title, found]) =>
    `${title} (${found.license})\n\n${licenceOf(found)}\n`
  )
  const rule = "-".repeat(80)
  return [`effect-memory contains these packages, each under its own licence.\n`, ...sections].join(`\n${rule}\n\n`)
}

fs.rmSync(path.join(root, "dist"), { recursive: true, force: true })

const { metafile } = await esbuild.build({
  absWorkingDir: root,
  entryPoints: ["src/bin.ts"],
  outdir: "dist",
  bundle: true,
  platform: "node",
  format: "esm",
  target: "node20.19",
  minifySyntax: true,
  // What a command does not need is not loaded.
  splitting: true,
  chunkNames: "chunks/[name]-[hash]",
  metafile: true,
  logLevel: "warning"
})

const bundled = Object.values(metafile.outputs)
  .flatMap(({ inputs }) => Object.entries(inputs))
  .filter(([, { bytesInOutput }]) => bytesInOutput > 0)
  .map(([file]) => file)

fs.writeFileSync(path.join(root, "dist", "THIRD-PARTY-NOTICES.txt"), noticesOf(bundled))
