import { type ApiObject, type DeepReadonly, formatKey, keyOf } from '@coxswain/apimachinery/meta'
import { InformerError } from './errors.ts'

/** The values under which an object is indexed. Must depend on the object alone and not throw. */
export type IndexFunction<T> = (object: DeepReadonly<T>) => readonly string[]

/** The read-only view of a store. Everything returned is shared: copy before changing. */
export interface ReadonlyStore<T> {
  readonly size: number
  /** `key` is `namespace/name`, or the name of a cluster-scoped object. */
  get(key: string): DeepReadonly<T> | undefined
  /** Every object, or those of one namespace. In no particular order. */
  list(namespace?: string): DeepReadonly<T>[]
  /** The objects that an index has under `value`. */
  byIndex(index: string, value: string): DeepReadonly<T>[]
  hasIndex(index: string): boolean
}

interface Index<T> {
  readonly valuesOf: IndexFunction<T>
  /** No set is empty. */
  readonly keys: Map<string, Set<string>>
}

const byNamespace = ' namespace'

/** Objects by key, and the indexes over them. One writer; readers see every write atomically. */
export class Store<T extends ApiObject> implements ReadonlyStore<T> {
  readonly #objects = new Map<string, DeepReadonly<T>>()
  /** Each holds exactly the objects of `#objects`. */
  readonly #indexes = new Map<string, Index<T>>()

  constructor() {
    this.addIndex(byNamespace, object => [object.metadata.namespace ?? ''])
  }

  get size(): number {
    return this.#objects.size
  }

  get(key: string): DeepReadonly<T> | undefined {
    return this.#objects.get(key)
  }

  list(namespace?: string): DeepReadonly<T>[] {
    return namespace === undefined ? [...this.#objects.values()] : this.byIndex(byNamespace, namespace)
  }

  keys(): IterableIterator<string> {
    return this.#objects.keys()
  }

  byIndex(name: string, value: string): DeepReadonly<T>[] {
    const index = this.#indexes.get(name)
    if (!index) throw new InformerError('UnknownIndex', `there is no index ${name}`)
    const found: DeepReadonly<T>[] = []
    for (const key of index.keys.get(value) ?? []) found.push(this.#objects.get(key)!)
    return found
  }

  hasIndex(name: string): boolean {
    return this.#indexes.has(name)
  }

  /** Adds an index and fills it. Adding the same function again does nothing. */
  addIndex(name: string, valuesOf: IndexFunction<T>): void {
    const existing = this.#indexes.get(name)
    if (existing?.valuesOf === valuesOf) return
    if (existing) throw new InformerError('DuplicateIndex', `there is an index ${name} already`)
    const index: Index<T> = { valuesOf, keys: new Map() }
    this.#indexes.set(name, index)
    for (const [key, object] of this.#objects) enter(index, key, object)
  }

  /** Returns the previous object. */
  set(key: string, object: DeepReadonly<T>): DeepReadonly<T> | undefined {
    const before = this.#objects.get(key)
    this.#objects.set(key, object)
    for (const index of this.#indexes.values()) move(index, key, before, object)
    return before
  }

  /** Returns the deleted object. */
  delete(key: string): DeepReadonly<T> | undefined {
    const before = this.#objects.get(key)
    if (!before) return undefined
    this.#objects.delete(key)
    for (const index of this.#indexes.values()) leave(index, key, before)
    return before
  }
}

/** Most changes do not affect most indexes: does nothing if an object keeps its values. */
function move<T>(
  index: Index<T>,
  key: string,
  before: DeepReadonly<T> | undefined,
  object: DeepReadonly<T>,
): void {
  if (before) {
    const from = index.valuesOf(before)
    const to = index.valuesOf(object)
    if (from.length === to.length && from.every((value, at) => value === to[at])) return
    leave(index, key, before)
  }
  enter(index, key, object)
}

function enter<T>(index: Index<T>, key: string, object: DeepReadonly<T>): void {
  for (const value of index.valuesOf(object)) {
    const keys = index.keys.get(value)
    if (keys) keys.add(key)
    else index.keys.set(value, new Set([key]))
  }
}

function leave<T>(index: Index<T>, key: string, object: DeepReadonly<T>): void {
  for (const value of index.valuesOf(object)) {
    const keys = index.keys.get(value)
    if (keys?.delete(key) && keys.size === 0) index.keys.delete(value)
  }
}

/** The key of `object` in a store. */
export function storeKey(object: DeepReadonly<ApiObject>): string {
  return formatKey(keyOf(object))
}
