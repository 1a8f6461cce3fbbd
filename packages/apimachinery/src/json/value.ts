/**
 * Plain JSON values: what the readers return and the writers take. Objects are plain, whole numbers beyond 2^53 are
 * bigint, and every key is an own member, whatever its name.
 */

/** Past this depth recursion gives way to an explicit stack: a document may be nested 10,000 deep. */
const recursionLimit = 1_000

/** Sets an own member, also when the key is `__proto__`. */
export function setMember(object: Record<string, unknown>, key: string, value: unknown): void {
  if (key === '__proto__') {
    Object.defineProperty(object, key, { value, enumerable: true, configurable: true, writable: true })
  } else {
    object[key] = value
  }
}

/** A copy that shares no array or object with `value`. */
export function deepClone<T>(value: T): T {
  return typeof value === 'object' && value !== null ? (cloneContainer(value, 0) as T) : value
}

function cloneContainer(value: object, depth: number): object {
  if (depth >= recursionLimit) return cloneWithStack(value)
  if (Array.isArray(value)) {
    const copy = new Array<unknown>(value.length)
    for (let i = 0; i < copy.length; i++) {
      const item: unknown = value[i]
      copy[i] = typeof item === 'object' && item !== null ? cloneContainer(item, depth + 1) : item
    }
    return copy
  }
  const copy: Record<string, unknown> = {}
  for (const key in value) {
    const member = (value as Record<string, unknown>)[key]
    const cloned = typeof member === 'object' && member !== null ? cloneContainer(member, depth + 1) : member
    if (key === '__proto__') setMember(copy, key, cloned)
    else copy[key] = cloned
  }
  return copy
}

function cloneWithStack(root: object): object {
  const result: object = Array.isArray(root) ? [] : {}
  const work: { from: object; to: object }[] = [{ from: root, to: result }]
  for (let next = work.pop(); next !== undefined; next = work.pop()) {
    const { from, to } = next
    for (const [key, value] of Object.entries(from)) {
      let copy: unknown = value
      if (typeof value === 'object' && value !== null) {
        const empty: object = Array.isArray(value) ? [] : {}
        work.push({ from: value, to: empty })
        copy = empty
      }
      if (Array.isArray(to)) to.push(copy)
      else setMember(to as Record<string, unknown>, key, copy)
    }
  }
  return result
}

/** Equality of JSON values. The order of members does not count; 5 and 5n are equal; an undefined member is absent. */
export function deepEqual(a: unknown, b: unknown): boolean {
  return equal(a, b, 0)
}

function equal(a: unknown, b: unknown, depth: number): boolean {
  if (a === b) return true
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return sameNumber(a, b)
  if (depth >= recursionLimit) return equalWithStack(a, b)
  if (Array.isArray(a)) {
    if (!Array.isArray(b) || a.length !== b.length) return false
    for (let i = 0; i < a.length; i++) if (!equal(a[i], b[i], depth + 1)) return false
    return true
  }
  if (Array.isArray(b)) return false
  const left = a as Record<string, unknown>
  const right = b as Record<string, unknown>
  let count = 0
  for (const key in left) {
    const value = left[key]
    if (value === undefined) continue
    if (!Object.hasOwn(right, key) || !equal(value, right[key], depth + 1)) return false
    count++
  }
  for (const key in right) if (right[key] !== undefined) count--
  return count === 0
}

function equalWithStack(a: object, b: object): boolean {
  const work: [unknown, unknown][] = [[a, b]]
  for (let next = work.pop(); next !== undefined; next = work.pop()) {
    const [x, y] = next
    if (x === y) continue
    if (typeof x !== 'object' || typeof y !== 'object' || x === null || y === null) {
      if (!sameNumber(x, y)) return false
      continue
    }
    if (Array.isArray(x) !== Array.isArray(y)) return false
    const left = x as Record<string, unknown>
    const right = y as Record<string, unknown>
    const keys = definedKeys(left)
    if (keys.length !== definedKeys(right).length) return false
    for (const key of keys) {
      if (!Object.hasOwn(right, key)) return false
      work.push([left[key], right[key]])
    }
  }
  return true
}

function definedKeys(object: Record<string, unknown>): string[] {
  return Object.keys(object).filter(key => Array.isArray(object) || object[key] !== undefined)
}

function sameNumber(a: unknown, b: unknown): boolean {
  if (typeof a === 'bigint' && typeof b === 'number') return a === toBigInt(b)
  if (typeof a === 'number' && typeof b === 'bigint') return b === toBigInt(a)
  return false
}

function toBigInt(value: number): bigint | undefined {
  return Number.isInteger(value) ? BigInt(value) : undefined
}
