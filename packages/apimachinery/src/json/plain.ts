/**
 * Reads own members only, so that `constructor`, `__proto__` and the like are ordinary keys. (Writing, copying and
 * comparing: json/value.ts.)
 */
export type PlainObject = Record<string, unknown>

export function isPlainObject(value: unknown): value is PlainObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

export function hasOwn(object: PlainObject, key: string): boolean {
  return Object.hasOwn(object, key)
}

/** The own value under `key`; `undefined` when there is none. */
export function getOwn(object: PlainObject, key: string): unknown {
  return Object.hasOwn(object, key) ? object[key] : undefined
}
