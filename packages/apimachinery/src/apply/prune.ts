import { getOwn, isPlainObject, type PlainObject } from '../json/plain.ts'
import {
  difference,
  emptyFieldSet,
  type FieldSet,
  intersection,
  isEmptySet,
  isMember,
  isSubset,
  nodeOf,
  union,
  withNamedFields,
} from './field-set.ts'
import type { Manager, Managers } from './managed-fields.ts'
import { elementOf, type PathElement } from './path-element.ts'
import { findGoneFast } from './prune-fast.ts'
import type { TypeNode } from './type-node.ts'
import { fieldSetOf, removeItems } from './typed-walk.ts'
import type { UpdaterContext } from './updater-context.ts'

/** The applier as it was and what it applies now; `managers` already has it with its new set. */
export interface Applier {
  readonly last: Manager | undefined
  readonly set: FieldSet
  readonly managers: Managers
}

/** `merged` without the fields that the applier owned, no longer applies and no other manager owns. */
export function prune(
  merged: PlainObject,
  { last, set, managers }: Applier,
  context: UpdaterContext,
): PlainObject {
  if (last === undefined || isEmptySet(last.set)) return merged
  const { apiVersion } = last
  if (apiVersion === context.apiVersion && isSubset(last.set, set)) return merged
  const type = context.typeOf(apiVersion)
  const object = type === undefined ? undefined : context.convert(merged, apiVersion)
  if (type === undefined || object === undefined) return merged
  let isOneVersion = true
  let owned = emptyFieldSet
  for (const manager of managers.values()) {
    if (manager.apiVersion === apiVersion) owned = union(owned, manager.set)
    else isOneVersion = false
  }
  const gone =
    (isOneVersion ? findGoneFast(object, { last: last.set, owned, type }) : undefined) ??
    findGoneExactly(object, last, owned, { managers, context, apiVersion, type, isOneVersion })
  const result = removeItems(object, gone, type) as PlainObject
  return context.convert(result, context.apiVersion)!
}

function findGoneExactly(
  object: PlainObject,
  lastManager: Manager,
  owned: FieldSet,
  versions: Versions & { readonly isOneVersion: boolean },
): FieldSet {
  const { type } = versions
  const last = withNamedFields(lastManager.set, type)
  const all = withNamedFields(fieldSetOf(object, type), type)
  return versions.isOneVersion
    ? findGone({
        all,
        last,
        owned: withNamedFields(owned, type),
        type,
        value: object,
        isRemoved: false,
        isDropped: false,
      }).gone
    : findGoneInVersions(object, all, last, versions)
}

/** A position in the three sets, the object and its type at once. */
interface Place {
  /** All paths of the object. */
  readonly all: FieldSet
  /** Those the applier owned before. */
  readonly last: FieldSet
  /** Those that have an owner now. */
  readonly owned: FieldSet
  readonly type: TypeNode | undefined
  readonly value: unknown
  /** This place, or one above, was owned before. */
  readonly isRemoved: boolean
  /** This place, or one above, was owned before and has no owner now. */
  readonly isDropped: boolean
}

/**
 * What to remove when all sets have one version: paths that were owned before and that now, themselves or through a
 * parent, have no owner. What is below a path that was owned before is removed with it, unless it has an
 * owner. `isLeft` says whether a path below this one stays, `isEmptied` that nothing has an owner, not even in part.
 */
function findGone(place: Place): { gone: FieldSet; isLeft: boolean; isEmptied: boolean } {
  let gone: Record<string, FieldSet> | undefined
  let isLeft = false
  let isEmptied = true
  const items = new Items(place)
  for (const element in place.all) {
    if (element === '.') continue
    const last = place.last[element]
    if (last === undefined && !place.isRemoved) {
      isLeft = true
      isEmptied = false
      continue
    }
    const all = place.all[element]!
    const owned = place.owned[element]
    const wasOwned = last !== undefined && isMember(last)
    const isThere = isMember(all)
    const isRemoved = place.isRemoved || wasOwned
    const isOwned = owned !== undefined && isMember(owned)
    const isDropped = place.isDropped || (isThere && isRemoved && !isOwned)
    const inner = innerOf(place, element, items)
    const below = findGone({
      all,
      last: last ?? emptyFieldSet,
      owned: owned ?? emptyFieldSet,
      type: inner.type,
      value: inner.value,
      isRemoved,
      isDropped,
    })
    const isStaying = isThere && !isDropped
    // A field that only contains others is removed with the last of them, when the rest of it could not be owned.
    const isHollow = isStaying && inner.isField && !below.isLeft && !isBare(all, inner.value, below.isEmptied)
    if (!isDropped) isEmptied = false
    if (below.isLeft || (isStaying && !isHollow)) isLeft = true
    const node = nodeOf(below.gone, isThere && wasOwned && (!isStaying || isHollow))
    if (node === undefined) continue
    gone ??= {}
    gone[element] = node
  }
  return { gone: gone ?? emptyFieldSet, isLeft, isEmptied }
}

function innerOf(
  { type, value }: Place,
  element: PathElement,
  items: Items,
): { type: TypeNode | undefined; value: unknown; isField: boolean } {
  if (element[0] === 'f') {
    const key = element.slice(2)
    const map = type?.map
    const inner = isPlainObject(value) ? getOwn(value, key) : undefined
    return { type: map?.typeOf(key), value: inner, isField: map?.isField(key) ?? false }
  }
  return { type: type?.list?.items, value: items.get(element), isField: false }
}

/** The items of a list by their elements, built on first use; the first of several. */
class Items {
  readonly #place: Place
  #byElement: Map<PathElement, unknown> | undefined

  constructor(place: Place) {
    this.#place = place
  }

  get(element: PathElement): unknown {
    if (this.#byElement === undefined) {
      this.#byElement = new Map()
      const { type, value } = this.#place
      const list = type?.list
      if (list !== undefined && Array.isArray(value)) {
        for (const item of value) {
          const own = elementOf(list, item)
          if (own !== undefined && !this.#byElement.has(own)) this.#byElement.set(own, item)
        }
      }
    }
    return this.#byElement.get(element)
  }
}

/** Whether a value has its own path when no path below it stays: it is atomic, or nothing is left of it. */
function isBare(all: FieldSet, value: unknown, isEmptied: boolean): boolean {
  if (isEmptySet(all) || !isPlainObject(value)) return true
  return isEmptied && Object.keys(value).every(key => all[`f:${key}`] !== undefined)
}

interface Versions {
  readonly managers: Managers
  readonly context: UpdaterContext
  /** The version of the object and of the set it is pruned by. */
  readonly apiVersion: string
  readonly type: TypeNode
}

/** The same when managers have several versions: the object is converted to each of them in turn. */
function findGoneInVersions(
  object: PlainObject,
  all: FieldSet,
  last: FieldSet,
  versions: Versions,
): FieldSet {
  const { managers, context, apiVersion, type } = versions
  const owned = new Map<string, FieldSet>()
  for (const manager of managers.values()) {
    owned.set(manager.apiVersion, union(owned.get(manager.apiVersion) ?? emptyFieldSet, manager.set))
  }
  let pruned = removeItems(object, last, type) as PlainObject
  const own = owned.get(apiVersion)
  // The object's own version first: conversion may need what would be missing.
  if (own !== undefined) pruned = keepSet({ merged: object, pruned }, type, own)
  owned.delete(apiVersion)
  for (const [version, set] of owned) {
    const node = context.typeOf(version)
    const whole = context.convert(object, version)
    const part = context.convert(pruned, version)
    if (node === undefined || whole === undefined || part === undefined) continue
    pruned = context.convert(keepSet({ merged: whole, pruned: part }, node, set), apiVersion)!
  }
  const left = withNamedFields(fieldSetOf(pruned, type), type)
  return intersection(difference(all, left), last)
}

/** `pruned` with the fields in `owned` restored from `merged`. */
function keepSet(
  { merged, pruned }: { readonly merged: PlainObject; readonly pruned: PlainObject },
  type: TypeNode,
  owned: FieldSet,
): PlainObject {
  const all = withNamedFields(fieldSetOf(merged, type), type)
  const left = withNamedFields(fieldSetOf(pruned, type), type)
  const kept = union(left, withNamedFields(owned, type))
  return removeItems(merged, difference(all, kept), type) as PlainObject
}
