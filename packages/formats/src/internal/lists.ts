/**
 * Lists that may be long: nothing here needs more than linear time or a deep stack.
 */

/**
 * Appends items. A spread into `push` would put them all on the stack.
 *
 * @internal
 */
export const append = <A>(to: Array<A>, items: ReadonlyArray<A>): void => {
  for (const item of items) to.push(item)
}

/**
 * Items by key, each given out once, in order.
 *
 * @internal
 */
export interface Queues<A> {
  readonly add: (key: string, item: A) => void
  readonly take: (key: string) => A | undefined
  /** How many are left. */
  readonly size: () => number
}

/** @internal */
export const queues = <A>(keyOf: (item: A) => string, items: ReadonlyArray<A> = []): Queues<A> => {
  const known = new Map<string, { readonly items: Array<A>; next: number }>()
  let size = 0
  const add = (key: string, item: A): void => {
    const queue = known.get(key)
    if (queue === undefined) known.set(key, { items: [item], next: 0 })
    else queue.items.push(item)
    size++
  }
  for (const item of items) add(keyOf(item), item)
  return {
    add,
    take: (key) => {
      const queue = known.get(key)
      if (queue === undefined || queue.next === queue.items.length) return undefined
      size--
      return queue.items[queue.next++]
    },
    size: () => size
  }
}
