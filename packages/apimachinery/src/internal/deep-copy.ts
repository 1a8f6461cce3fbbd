/** A copy of JSON data in which nothing is shared. `__proto__` is a key like any other. */
export function deepCopyJson<T>(value: T): T {
  return copy(value) as T
}

function copy(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map(copy)
  const result: Record<string, unknown> = {}
  for (const key of Object.keys(value)) setOwn(result, key, copy((value as Record<string, unknown>)[key]))
  return result
}

/** Sets a member of the object itself, whatever its name. */
export function setOwn(object: Record<string, unknown>, key: string, value: unknown): void {
  if (key === '__proto__') {
    Object.defineProperty(object, key, { value, writable: true, enumerable: true, configurable: true })
  } else {
    object[key] = value
  }
}
