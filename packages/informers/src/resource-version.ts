const decimal = /^(0|[1-9]\d*)$/

/**
 * Whether resourceVersion `a` is of an earlier state than `b`. False when either is no whole number: then nothing can
 * be said, and nothing is assumed.
 */
export function isOlder(a: string, b: string): boolean {
  if (a === b || !decimal.test(a) || !decimal.test(b)) return false
  return a.length < b.length || (a.length === b.length && a < b)
}
