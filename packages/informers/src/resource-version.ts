const decimal = /^(0|[1-9]\d*)$/

/** Whether resourceVersion `a` is older than `b`. False if either is not an integer: then they cannot be compared. */
export function isOlder(a: string, b: string): boolean {
  if (a === b || !decimal.test(a) || !decimal.test(b)) return false
  return a.length < b.length || (a.length === b.length && a < b)
}
