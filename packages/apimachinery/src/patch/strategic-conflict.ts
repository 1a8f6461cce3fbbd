import { goPrint, goTypeOf } from '../go/go-print.ts'
import { getOwn, hasOwn, isPlainObject, type PlainObject } from '../json/plain.ts'
import { deepEqual } from '../json/value.ts'
import type { Schema } from '../schema/schema.ts'
import { resolveSchema } from '../schema/schema-walk.ts'
import { deduplicate, elementTypeOf, sortPrinted } from './strategic-order.ts'
import {
  directiveKey,
  type FieldMeta,
  inapplicable,
  listFieldMeta,
  objectFieldMeta,
  retainKeysKey,
} from './strategic-schema.ts'

/** Whether two strategic merge patches set the same field to different values. */
export function hasStrategicConflict(left: PlainObject, right: PlainObject, schema: Schema): boolean {
  const meta: FieldMeta = { inner: resolveSchema(schema), strategy: '', retainKeys: false, mergeKey: '' }
  return fieldsConflict(left, right, meta)
}

function fieldsConflict(left: unknown, right: unknown, meta: FieldMeta | undefined): boolean {
  if (Array.isArray(left)) return !Array.isArray(right) || listsConflict(left, right, meta)
  if (!isPlainObject(left)) return !deepEqual(left, right) || goTypeOf(left) !== goTypeOf(right)
  if (!isPlainObject(right)) return true
  if (getOwn(left, directiveKey) !== getOwn(right, directiveKey)) return true
  return meta?.strategy !== 'replace' && mapsConflict(left, right, meta?.inner)
}

function mapsConflict(left: PlainObject, right: PlainObject, schema: Schema | undefined): boolean {
  for (const key of Object.keys(left)) {
    if (key === directiveKey || key === retainKeysKey || !hasOwn(right, key)) continue
    const value = left[key]
    let meta: FieldMeta | undefined
    if (Array.isArray(value)) meta = listFieldMeta(schema, key)
    else if (isPlainObject(value)) meta = objectFieldMeta(schema, key)
    if (fieldsConflict(value, right[key], meta)) return true
  }
  return false
}

function listsConflict(left: unknown[], right: unknown[], meta: FieldMeta | undefined): boolean {
  const type = elementTypeOf(left, right)
  const inner: FieldMeta = { inner: meta?.inner, strategy: '', retainKeys: false, mergeKey: '' }
  if (meta?.strategy === 'merge') {
    if (type !== 'map') return false
    const others = byMergeKey(right as PlainObject[], meta.mergeKey)
    for (const [key, item] of byMergeKey(left as PlainObject[], meta.mergeKey)) {
      const other = others.get(key)
      if (other !== undefined && fieldsConflict(item, other, inner)) return true
    }
    return false
  }
  if (left.length !== right.length) return true
  if (type === 'map') return left.some((item, i) => fieldsConflict(item, right[i], inner))
  const sorted = (list: unknown[]): unknown[] => sortPrinted(deduplicate(list), item => item)
  return !deepEqual(sorted(left), sorted(right))
}

/** The last one of each merge key. */
function byMergeKey(list: readonly PlainObject[], mergeKey: string): Map<unknown, PlainObject> {
  const items = new Map<unknown, PlainObject>()
  for (const item of list) {
    if (!hasOwn(item, mergeKey)) {
      throw inapplicable(`cannot find merge key \`${mergeKey}\` in merging list element:${goPrint(item)}`)
    }
    items.set(item[mergeKey], item)
  }
  return items
}
