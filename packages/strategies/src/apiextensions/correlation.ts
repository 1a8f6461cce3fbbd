import { deepEqual, isObject, type JsonObject } from '@coxswain/apimachinery/json'
import type { Schema } from '@coxswain/apimachinery/schema'

/**
 * A value and its old value in an update, correlated through the schema: by name in objects and maps, by key in lists
 * of type map. Other values cannot be correlated.
 */
export class Correlation {
  readonly #value: unknown
  readonly #old: unknown
  readonly #schema: Schema
  readonly #children = new Map<string | number, Correlation | undefined>()
  #oldItems: ((item: unknown) => JsonObject | undefined) | undefined
  #equal: boolean | undefined

  constructor(value: unknown, old: unknown, schema: Schema) {
    this.#value = value
    this.#old = old
    this.#schema = schema
  }

  key(name: string): Correlation | undefined {
    if (this.#children.has(name)) return this.#children.get(name)
    const child = this.#findKey(name)
    this.#children.set(name, child)
    return child
  }

  #findKey(name: string): Correlation | undefined {
    const [value, old] = [this.#value, this.#old]
    if (!isObject(value) || !isObject(old)) return undefined
    if (!Object.hasOwn(value, name) || !Object.hasOwn(old, name)) return undefined
    const { properties, additionalProperties } = this.#schema
    const schema =
      properties && Object.hasOwn(properties, name)
        ? properties[name]
        : typeof additionalProperties === 'object'
          ? additionalProperties
          : undefined
    return schema && new Correlation(value[name], old[name], schema)
  }

  index(index: number): Correlation | undefined {
    if (this.#children.has(index)) return this.#children.get(index)
    const child = this.#findIndex(index)
    this.#children.set(index, child)
    return child
  }

  #findIndex(index: number): Correlation | undefined {
    const [value, old] = [this.#value, this.#old]
    const { items } = this.#schema
    if (!Array.isArray(value) || !Array.isArray(old) || !items || index >= value.length) return undefined
    if (this.#schema['x-kubernetes-list-type'] !== 'map') return undefined
    this.#oldItems ??= itemsByKey(this.#schema, old)
    const found = this.#oldItems(value[index])
    return found && new Correlation(value[index], found, items)
  }

  /** Whether the value is unchanged. Fields outside the schema count as changed, as upstream. */
  get isUnchanged(): boolean {
    this.#equal ??= this.#compare()
    return this.#equal
  }

  #compare(): boolean {
    const [value, old] = [this.#value, this.#old]
    if (Array.isArray(value) && Array.isArray(old)) {
      if (value.length !== old.length) return false
      if (this.#schema['x-kubernetes-list-type'] !== 'map') return deepEqual(value, old)
      return value.every((_, index) => this.index(index)?.isUnchanged === true)
    }
    if (isObject(value) && isObject(old)) {
      const names = Object.keys(value)
      if (names.length !== Object.keys(old).length) return false
      return names.every(name => this.key(name)?.isUnchanged === true)
    }
    return deepEqual(value, old)
  }
}

/** Finds the item of a list of type map with the same keys; the first of several. */
export function itemsByKey(
  schema: Schema,
  items: readonly unknown[],
): (item: unknown) => JsonObject | undefined {
  const keys = schema['x-kubernetes-list-map-keys'] ?? []
  if (schema['x-kubernetes-list-type'] !== 'map' || keys.length === 0) return () => undefined
  const found = new Map<string, JsonObject>()
  for (const item of items) {
    const key = keyOf(item, keys)
    if (key !== undefined && !found.has(key)) found.set(key, item as JsonObject)
  }
  return item => {
    const key = keyOf(item, keys)
    return key === undefined ? undefined : found.get(key)
  }
}

function keyOf(item: unknown, keys: readonly string[]): string | undefined {
  if (!isObject(item)) return undefined
  let text = ''
  for (const key of keys) {
    const value = Object.hasOwn(item, key) ? item[key] : undefined
    if (value === undefined || value === null || typeof value === 'object') return undefined
    text += `\0${typeof value}:${String(value)}`
  }
  return text
}
