/**
 * Damages texts: the same seed gives the same damage.
 */
export interface Random {
  /** A whole number from 0 to below `end`. */
  readonly below: (end: number) => number
  readonly pick: <A>(items: ReadonlyArray<A>) => A
}

/** mulberry32: small, and good enough to choose damage. */
export const random = (seed: number): Random => {
  let state = seed >>> 0
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  const below = (end: number) => Math.floor(next() * end)
  return { below, pick: (items) => items[below(items.length)] }
}

type Damage = (bytes: Uint8Array, random: Random) => Uint8Array

const encoder = new TextEncoder()

const decoder = new TextDecoder()

const onText = (change: (text: string, random: Random) => string): Damage => (bytes, random) =>
  encoder.encode(change(decoder.decode(bytes), random))

const splice = (bytes: Uint8Array, at: number, remove: number, insert: Uint8Array): Uint8Array => {
  const out = new Uint8Array(at + insert.length + Math.max(0, bytes.length - at - remove))
  out.set(bytes.subarray(0, at))
  out.set(insert, at)
  out.set(bytes.subarray(at + remove), at + insert.length)
  return out
}

const flip: Damage = (bytes, random) => {
  const out = bytes.slice()
  for (let i = 0; i <= random.below(4); i++) out[random.below(out.length)] ^= 1 << random.below(8)
  return out
}

const cut: Damage = (bytes, random) => bytes.slice(0, random.below(bytes.length))

const remove: Damage = (bytes, random) => splice(bytes, random.below(bytes.length), random.below(40), new Uint8Array())

const noise: Damage = (bytes, random) =>
  splice(
    bytes,
    random.below(bytes.length),
    random.below(3),
    Uint8Array.from({ length: random.below(20) }, () => random.below(256))
  )

const only: Damage = (_, random) => Uint8Array.from({ length: random.below(300) }, () => random.below(256))

const nest: Damage = (bytes, random) => {
  const depth = random.pick([10, 600, 20_000])
  const open = random.pick(["[", "{\"a\":"])
  const closed = random.below(2) === 0 ? `${"1"}${(open === "[" ? "]" : "}").repeat(depth)}` : ""
  return splice(bytes, random.below(bytes.length), 0, encoder.encode(open.repeat(depth) + closed))
}

const double = onText((text, random) => {
  const lines = text.split("\n")
  const at = random.below(lines.length)
  const glue = random.pick(["", "\n", "\n\n", " ", ","])
  return [...lines.slice(0, at), lines[at] + glue + random.pick(lines), ...lines.slice(at + 1)].join("\n")
})

const shuffle = onText((text, random) => {
  const lines = text.split("\n")
  return lines.map(() => random.pick(lines)).join(random.pick(["\n", "\r\n", ""]))
})

const deep = (depth: number): unknown => depth === 0 ? 1 : [deep(depth - 1)]

const values = (random: Random): unknown =>
  random.pick<unknown>([
    null,
    0,
    -1,
    1e308,
    "",
    "text",
    "\ud800",
    "{\"a\":1}",
    [],
    {},
    [null],
    [[]],
    true,
    { type: "text" },
    { type: "text", text: "x" },
    { type: "tool_use", id: "a", name: "b", input: 5 },
    JSON.parse("{\"__proto__\":{\"role\":\"user\",\"content\":[]}}"),
    { length: 3 },
    "x".repeat(2000),
    deep(random.pick([3, 450, 700]))
  ])

/** Puts something else in the place of one value, or gives a field another name. */
const replace = (value: unknown, random: Random, chance: number): unknown => {
  if (random.below(chance) === 0) return values(random)
  if (Array.isArray(value)) {
    const items = value.map((item) => replace(item, random, chance))
    return random.below(chance) === 0 ? [...items, ...items] : items
  }
  if (typeof value !== "object" || value === null) return value
  const names = ["type", "role", "content", "id", "text", "__proto__", "constructor", "messages"]
  return Object.fromEntries(
    Object.entries(value).flatMap(([key, item]) => {
      if (random.below(chance) === 0) return []
      return [[random.below(chance) === 0 ? random.pick(names) : key, replace(item, random, chance)]]
    })
  )
}

/** Damages the values and leaves the JSON whole. */
const structure = onText((text, random) => {
  const chance = random.pick([8, 20, 40])
  const change = (one: string): string => {
    try {
      return JSON.stringify(replace(JSON.parse(one), random, chance)) ?? "null"
    } catch {
      return one
    }
  }
  const whole = change(text)
  return whole === text ? text.split("\n").map(change).join("\n") : whole
})

const damages: ReadonlyArray<Damage> = [
  flip,
  cut,
  remove,
  noise,
  only,
  nest,
  double,
  shuffle,
  structure,
  structure,
  structure
]

/** The text, damaged once or several times. */
export const mutate = (text: string, random: Random): Uint8Array => {
  let bytes = encoder.encode(text)
  for (let i = 0; i <= random.below(2); i++) {
    if (bytes.length > 0) bytes = new Uint8Array(random.pick(damages)(bytes, random))
  }
  return bytes
}
