import { encodeBase64 } from '@coxswain/kit'
import { formatDuration, formatTimestamp } from './time.ts'
import {
  CelDouble,
  CelUint,
  Duration,
  isMapValue,
  ListValue,
  OptionalValue,
  Timestamp,
  TypeValue,
  type Value,
} from './values.ts'

/** A value as plain JSON data: what message expressions, audit annotations and mutations need. Absent optionals become null. */
export function toJson(value: Value): unknown {
  if (value === null || typeof value !== 'object') return value
  if (value instanceof CelDouble) return value.value
  if (value instanceof CelUint)
    return value.value <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(value.value) : value.value
  if (value instanceof Uint8Array) return encodeBase64(value)
  if (value instanceof Timestamp) return formatTimestamp(value)
  if (value instanceof Duration) return formatDuration(value)
  if (value instanceof TypeValue) return value.type.name
  if (value instanceof OptionalValue) return value.value === undefined ? null : toJson(value.value)
  if (value instanceof ListValue) return value.toArray().map(toJson)
  if (!isMapValue(value)) return String(value)
  const result: Record<string, unknown> = {}
  for (const key of value.keys()) {
    // defineProperty, so that a key named __proto__ is only a key.
    const entry = {
      value: toJson(value.get(key) as Value),
      enumerable: true,
      configurable: true,
      writable: true,
    }
    Object.defineProperty(result, String(toJson(key)), entry)
  }
  return result
}
