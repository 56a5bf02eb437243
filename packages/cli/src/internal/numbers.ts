/**
 * Numbers as people read them.
 */

/** @internal */
export const count = (n: number): string => n.toLocaleString("en-US")

/** @internal */
export const plural = (n: number, one: string, many: string = `${one}s`): string =>
  `${count(n)} ${n === 1 ? one : many}`

/**
 * Whole percents. Only what is exactly full reads 100 %: what is over reads more, what is under reads less.
 *
 * @internal
 */
export const percent = (part: number, whole: number): string => {
  if (part === whole) return whole === 0 ? "0%" : "100%"
  const exact = whole === 0 ? Infinity : part / whole * 100
  if (exact > 999) return ">999%"
  return `${exact > 100 ? Math.max(101, Math.round(exact)) : Math.min(99, Math.round(exact))}%`
}
