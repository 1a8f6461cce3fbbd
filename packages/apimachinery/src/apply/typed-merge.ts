import { isPlainObject, type PlainObject } from '../json/plain.ts'
import { deepEqual, setMember } from '../json/value.ts'
import type { PathElement } from './path-element.ts'
import { atomOf, type ListType, type MapType, type TypeNode } from './type-node.ts'
import { elementAt } from './typed-compare.ts'

/**
 * `live` with `config` merged into it. Nothing is removed. Lists that merge by element keep live's order
 * unless config has another. The result shares unchanged parts with both, and is `live` itself if nothing changed.
 */
export function mergeTyped(live: unknown, config: unknown, type: TypeNode): unknown {
  return mergeNode(live, config, type, [])
}

function mergeNode(live: unknown, config: unknown, type: TypeNode | undefined, path: PathElement[]): unknown {
  if (config === undefined || live === config) return live
  if (live === undefined) return config
  const kind = type === undefined ? undefined : atomOf(type, config)
  if (kind === 'map' && !type!.map!.isAtomic) return mergeMaps(live, config, type!.map!, path)
  if (kind === 'list' && type!.list!.kind !== 'atomic') return mergeLists(live, config, type!.list!, path)
  return deepEqual(live, config) ? live : config
}

function mergeMaps(live: unknown, config: unknown, map: MapType, path: PathElement[]): unknown {
  const left = isPlainObject(live) && Object.keys(live).length > 0 ? live : undefined
  const right = isPlainObject(config) && Object.keys(config).length > 0 ? config : undefined
  if (left === undefined) return right === undefined && deepEqual(live, config) ? live : config
  if (right === undefined) return live
  let out: PlainObject | undefined
  for (const key in right) {
    const before = Object.hasOwn(left, key) ? left[key] : undefined
    path.push(`f:${key}`)
    const merged = mergeNode(before, right[key], map.typeOf(key), path)
    path.pop()
    if (merged === before) continue
    out ??= { ...left }
    setMember(out, key, merged)
  }
  return out ?? live
}

function mergeLists(live: unknown, config: unknown, list: ListType, path: PathElement[]): unknown {
  const left: readonly unknown[] = Array.isArray(live) ? live : []
  const right: readonly unknown[] = Array.isArray(config) ? config : []
  if (left.length === 0) return right.length === 0 && deepEqual(live, config) ? live : config
  if (right.length === 0) return live
  const merged = mergeItems(left, right, list, path)
  const isSame = merged.length === left.length && merged.every((item, i) => item === left[i])
  return isSame ? live : merged
}

/**
 * Walks both lists at once. Items of both are taken where config has them; items that only live has stay before the
 * shared item that follows them in live.
 */
function mergeItems(
  left: readonly unknown[],
  right: readonly unknown[],
  list: ListType,
  path: PathElement[],
): unknown[] {
  const leftElements = left.map((_item, i) => elementAt(left, i, list, path))
  const rightElements = right.map((_item, i) => elementAt(right, i, list, path))
  if (left.length === right.length && leftElements.every((element, i) => element === rightElements[i])) {
    if (new Set(leftElements).size === left.length) return mergePairs(left, right, list, leftElements, path)
  }
  // A duplicate in live is not merged with anything: what config says replaces it.
  const live = new Map<PathElement, unknown>()
  leftElements.forEach((element, i) => {
    live.set(element, live.has(element) ? null : left[i])
  })
  const config = new Map<PathElement, unknown>()
  rightElements.forEach((element, i) => {
    config.set(element, right[i])
  })
  const shared = rightElements.filter(element => live.has(element))
  let nextShared = 0
  const done = new Set<PathElement>()
  const out: unknown[] = []
  const take = (element: PathElement): void => {
    done.add(element)
    path.push(element)
    out.push(mergeNode(live.get(element), config.get(element), list.items, path))
    path.pop()
  }
  for (let l = 0, r = 0; l < left.length || r < right.length; ) {
    const element = leftElements[l]
    if (element !== undefined && r < right.length) {
      if (element === rightElements[r]) {
        take(element)
        l++
        r++
        nextShared++
        continue
      }
      const next = shared[nextShared]
      if (config.has(element) && next !== undefined && next !== element) {
        l++
        continue
      }
    }
    if (element !== undefined) {
      if (!config.has(element)) {
        out.push(left[l++])
        continue
      }
      if (done.has(element)) l++
    }
    if (r < right.length) {
      const wanted = rightElements[r++]!
      take(wanted)
      if (shared[nextShared] === wanted) nextShared++
    }
  }
  return out
}

/** The usual case: both lists have the same elements in the same order. */
function mergePairs(
  left: readonly unknown[],
  right: readonly unknown[],
  list: ListType,
  elements: readonly PathElement[],
  path: PathElement[],
): unknown[] {
  return left.map((item, i) => {
    path.push(elements[i]!)
    const merged = mergeNode(item, right[i], list.items, path)
    path.pop()
    return merged
  })
}
