import { deepEqual, isObject, type JsonObject } from '@coxswain/apimachinery/json'
import { isQuantity, parseQuantity } from '@coxswain/apimachinery/quantity'

/** Members that Go leaves out when they are empty, and amounts that are written differently, do not count. */
export function sameSpec(one: unknown, other: unknown): boolean {
  return deepEqual(normal(one, ''), normal(other, ''))
}

function normal(value: unknown, key: string): unknown {
  if (Array.isArray(value)) return value.map(item => normal(item, ''))
  if (!isObject(value)) return value
  const isAmounts = key === 'limits' || key === 'requests' || key === 'overhead'
  const result: JsonObject = {}
  for (const [name, member] of Object.entries(value)) {
    if (isEmpty(member)) continue
    result[name] =
      isAmounts && typeof member === 'string' && isQuantity(member)
        ? parseQuantity(member).milliValue.toString()
        : normal(member, name)
  }
  return result
}

function isEmpty(value: unknown): boolean {
  if (value === undefined || value === null || value === '' || value === false) return true
  return Array.isArray(value) && value.length === 0
}
