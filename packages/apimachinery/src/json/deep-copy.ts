type Members = Record<string, unknown>

/** A copy of JSON data in which nothing is shared. `__proto__` is a key like any other, and depth is no limit. */
export function deepCopyJson<T>(value: T): T {
  // Containers whose copies are still empty.
  const waiting: [source: object, copy: object][] = []
  const begin = (source: unknown): unknown => {
    if (typeof source !== 'object' || source === null) return source
    const copy: object = Array.isArray(source) ? new Array(source.length) : {}
    waiting.push([source, copy])
    return copy
  }
  const root = begin(value)
  for (let pair = waiting.pop(); pair; pair = waiting.pop()) {
    const [source, copy] = pair
    for (const key of Object.keys(source)) setOwn(copy as Members, key, begin((source as Members)[key]))
  }
  return root as T
}

/** Sets a member of the object itself, whatever its name. */
export function setOwn(object: Record<string, unknown>, key: string, value: unknown): void {
  if (key === '__proto__') {
    Object.defineProperty(object, key, { value, writable: true, enumerable: true, configurable: true })
  } else {
    object[key] = value
  }
}
