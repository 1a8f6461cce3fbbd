/** The largest of `numbers`, as `Math.max`, which would need the list to fit on the stack as arguments. */
export function maxOf(numbers: Iterable<number>): number {
  let result = Number.NEGATIVE_INFINITY
  for (const number of numbers) result = Math.max(result, number)
  return result
}

/** The smallest of `numbers`, as `Math.min`. */
export function minOf(numbers: Iterable<number>): number {
  let result = Number.POSITIVE_INFINITY
  for (const number of numbers) result = Math.min(result, number)
  return result
}
