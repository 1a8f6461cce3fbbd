import { emptyFieldSet, type FieldSet, orderedSet } from './field-set.ts'
import type { PathElement } from './path-element.ts'

/**
 * A set that many objects may share, and what finds it again. Objects of one kind mostly have the same fields: creating the
 * set of each would be most of the work of tracking its creation.
 */
export interface SharedSet {
  readonly set: FieldSet
  /** 0 for a set that is not kept; those that contain it are not kept either. */
  readonly hash: number
  /** How many paths it has, its own included. */
  readonly size: number
}

interface Entry extends SharedSet {
  readonly keys: readonly string[]
  readonly children: readonly SharedSet[]
}

/** The set of a value with nothing below it. */
export const leafSet: SharedSet = { set: emptyFieldSet, hash: 1, size: 1 }

const slots = 1024
const maxSize = 256
const maxKeyLength = 128

/**
 * The sets of recent values. A hash has one slot, so that a lookup is one comparison of keys and children, and no more than
 * `slots` sets of `maxSize` paths are kept whatever clients send.
 */
export class RecentSets {
  readonly #entries = new Array<Entry | undefined>(slots).fill(undefined)
  readonly #elementOf: (key: string) => PathElement

  constructor(elementOf: (key: string) => PathElement) {
    this.#elementOf = elementOf
  }

  /** The set of a value with these children, itself included. A repeated key has no paths below it. */
  find(keys: readonly string[], children: readonly SharedSet[]): SharedSet {
    if (keys.length === 0) return leafSet
    let hash = 0
    let size = 1
    let isKept = true
    for (let i = 0; i < keys.length; i++) {
      const key = keys[i]!
      const child = children[i]!
      hash = Math.imul(hash ^ (key.length * 257 + key.charCodeAt(key.length >> 1) + child.hash), 0x01000193)
      size += child.size
      if (child.hash === 0 || key.length > maxKeyLength) isKept = false
    }
    if (!isKept || size > maxSize) return { set: this.#create(keys, children), hash: 0, size }
    const slot = (hash ^ (hash >>> 11) ^ (hash >>> 22)) & (slots - 1)
    const known = this.#entries[slot]
    if (known !== undefined && isSame(known, keys, children)) return known
    const entry: Entry = { set: this.#create(keys, children), hash: hash || 1, size, keys, children }
    this.#entries[slot] = entry
    return entry
  }

  #create(keys: readonly string[], children: readonly SharedSet[]): FieldSet {
    const set: Record<PathElement, FieldSet> = { '.': emptyFieldSet }
    for (let i = 0; i < keys.length; i++) {
      const element = this.#elementOf(keys[i]!)
      set[element] = set[element] === undefined ? children[i]!.set : emptyFieldSet
    }
    return orderedSet(set)
  }
}

function isSame(entry: Entry, keys: readonly string[], children: readonly SharedSet[]): boolean {
  if (entry.keys.length !== keys.length) return false
  for (let i = 0; i < keys.length; i++) {
    if (entry.keys[i] !== keys[i] || entry.children[i] !== children[i]) return false
  }
  return true
}
