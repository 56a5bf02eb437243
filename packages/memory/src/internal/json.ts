/**
 * JSON values, made safe to count, store and send: no lone surrogates, nothing that JSON cannot say.
 */

/** Levels of nesting above which a value is refused rather than risk the stack of whoever reads it. */
const maxDepth = 500

/** @internal */
export const wellFormed = (text: string): string => text.isWellFormed() ? text : text.toWellFormed()

/** @internal */
export type Normalized = { readonly ok: true; readonly value: unknown } | { readonly ok: false; readonly why: string }

const ok = (value: unknown): Normalized => ({ ok: true, value })

const isPlain = (value: object): boolean => {
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null
}

/**
 * The value as JSON would carry it: the same reference when it already is such a value.
 *
 * @internal
 */
export const normalize = (value: unknown, depth = 0): Normalized => {
  switch (typeof value) {
    case "string":
      return ok(wellFormed(value))
    case "boolean":
      return ok(value)
    case "number":
      return ok(Number.isFinite(value) ? value : null)
    case "bigint":
      return ok(value.toString())
    case "object":
      return value === null ? ok(null) : normalizeObject(value, depth)
    default:
      return ok(null)
  }
}

const normalizeObject = (value: object, depth: number): Normalized => {
  if (depth >= maxDepth) return { ok: false, why: `is circular or nested deeper than ${maxDepth} levels` }
  if (Array.isArray(value)) return normalizeArray(value, depth)
  if (value instanceof Date) return ok(Number.isNaN(value.getTime()) ? null : value.toISOString())
  if (value instanceof URL) return ok(value.href)
  if (value instanceof Map || value instanceof Set) return normalizeArray(Array.from(value), depth)
  if (ArrayBuffer.isView(value) && !(value instanceof DataView)) {
    return normalizeArray(Array.from(value as Uint8Array), depth)
  }
  return normalizeRecord(value, depth)
}

const normalizeArray = (items: ReadonlyArray<unknown>, depth: number): Normalized => {
  let copy: Array<unknown> | undefined
  for (let i = 0; i < items.length; i++) {
    const item = normalize(items[i], depth + 1)
    if (!item.ok) return item
    if (copy === undefined && (item.value !== items[i] || !(i in items))) copy = items.slice(0, i)
    copy?.push(item.value)
  }
  return ok(copy ?? items)
}

const normalizeRecord = (record: object, depth: number): Normalized => {
  // Accessors are not run: they may throw, and JSON written later could differ from what was counted.
  const entries: Array<readonly [string, unknown]> = []
  let changed = !isPlain(record)
  for (const [key, descriptor] of Object.entries(Object.getOwnPropertyDescriptors(record))) {
    if (descriptor.enumerable !== true || !("value" in descriptor) || isAbsent(descriptor.value)) {
      changed = true
      continue
    }
    const item = normalize(descriptor.value, depth + 1)
    if (!item.ok) return item
    const name = wellFormed(key)
    changed = changed || name !== key || item.value !== descriptor.value
    entries.push([name, item.value])
  }
  return ok(changed ? Object.fromEntries(entries) : record)
}

const isAbsent = (value: unknown): boolean =>
  value === undefined || typeof value === "function" || typeof value === "symbol"

/**
 * Text of a value for counting and rendering: strings as they stand, anything else as compact JSON.
 *
 * @internal
 */
export const stringify = (value: unknown): string => {
  if (typeof value === "string") return value
  const normalized = normalize(value)
  return normalized.ok ? JSON.stringify(normalized.value) : ""
}

/**
 * For constructors, which cannot fail: a value that JSON cannot carry is kept, and refused when it is recorded.
 *
 * @internal
 */
export const normalizeOrKeep = (value: unknown): unknown => {
  const normalized = normalize(value)
  return normalized.ok ? normalized.value : value
}
