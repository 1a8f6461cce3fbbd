/** The largest of `numbers`, as `Math.max` has it; a list as arguments of that would have to fit on the stack. */
export function maxOf(numbers: Iterable<number>): number {
  let result = Number.NEGATIVE_INFINITY
  for (const number of numbers) result = Math.max(result, number)
  return result
}

/** The smallest of `numbers`, as `Math.min` has it. */
export function minOf(numbers: Iterable<number>): number {
  let result = Number.POSITIVE_INFINITY
  for (const number of numbers) result = Math.min(result, number)
  return result
}
