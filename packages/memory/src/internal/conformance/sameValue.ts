/**
 * Equality of plain values by what they hold, bytes and URLs included; the order of keys does not matter.
 */

const isObject = (value: unknown): value is object => typeof value === "object" && value !== null

/** @internal */
export const sameValue = (a: unknown, b: unknown): boolean => {
  if (!isObject(a) || !isObject(b)) return a === b
  if (a instanceof URL || b instanceof URL) return a instanceof URL && b instanceof URL && a.href === b.href
  if (a instanceof Map && b instanceof Map) {
    return a.size === b.size && Array.from(a).every(([key, value]) => b.has(key) && sameValue(value, b.get(key)))
  }
  if (a instanceof Uint8Array && b instanceof Uint8Array) {
    return a.length === b.length && a.every((byte, i) => byte === b[i])
  }
  if (Array.isArray(a) !== Array.isArray(b)) return false
  const keys = Object.keys(a)
  return keys.length === Object.keys(b).length &&
    keys.every((key) => Object.hasOwn(b, key) && sameValue(Reflect.get(a, key), Reflect.get(b, key)))
}
